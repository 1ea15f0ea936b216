"""Lab 16: how often two digits agree, and how often they would agree by chance."""

import torch

from misread.exercise import About, Exercise


def agreement_and_chance(left, right):
    """How often the digits of a pair agree, and by chance: (N,), (N,) -> two numbers."""
    agreement = (left == right).double().mean()  # ()
    classes = torch.cat([left, right]).unique()  # (K,)
    p_left = (left[:, None] == classes).double().mean(dim=0)  # (N, K) -> (K,)
    p_right = (right[:, None] == classes).double().mean(dim=0)  # (N, K) -> (K,)
    return agreement.item(), (p_left * p_right).sum().item()


def _pairs(draw):
    (count,) = draw.sizes(1, low=8, never_one={0})  # a single pair: the last case

    def drawn(count, classes, share):
        left = draw.integers(0, classes, count)
        other = draw.integers(0, classes, count)
        same = torch.rand(count, generator=draw.generator) < share
        right = torch.where(same, left, other)
        left[0], right[0], left[1], right[1] = 0, classes - 1, 0, 0
        return left, right

    if draw.compact:
        yield drawn(3, 2, 0.5)
        yield drawn(4, 2, 0.3)
    yield drawn(count, 3, 0.6)
    yield drawn(count + 4, 10, 0.5)
    yield drawn(50, 2, 0.9)
    left, right = drawn(count, 4, 0.4)
    yield left, right + 2  # a class occurs on one side only
    yield left + 3, right
    yield torch.full((count,), 7), torch.full((count,), 7)  # collapse: always the same digit
    yield torch.full((4,), 1), torch.full((4,), 6)
    yield draw.integers(0, 10, 1), draw.integers(0, 10, 1)  # a single pair


AGREEMENT_AND_CHANCE = Exercise(
    agreement_and_chance,
    cases=_pairs,
    returns=("agreement", "chance"),
    gradients=False,
    tolerance=1e-6,
    about=About(points=2, minutes=15, difficulty=2, read_again="Both networks need a link"),
)

must = AGREEMENT_AND_CHANCE.properties
NEAR = 0.006  # who rounds to two digits is told this, and no more
must(
    "the share of equal pairs", lambda result, left, right: abs(result[0] - (left == right).double().mean()) < NEAR
).says("""
    The first result is the share of images whose two digits are equal, just as it is. What chance would give is
    returned beside it, and has no influence on it.""")
must("two shares", lambda result, *args: all(0 <= share <= 1 + 1e-9 for share in result)).says("""
    Both results are shares, so they lie between 0 and 1.""")
must(
    "chance from the shares of both sides",
    lambda result, left, right: abs(result[1] - agreement_and_chance(left, right.sort().values)[1]) < NEAR,
).says("""
    Chance is Σ p_left(c) · p_right(c), so it depends only on how often each digit occurs on the left, and how often on
    the right, and not on which digits stand beside each other. Every digit that both sides have adds to it.""")

_AGREEMENT, _CHANCE = "(left == right).double().mean()", "(p_left * p_right).sum()"
_LEFT, _RIGHT = "(left[:, None] == classes).double().mean(dim=0)", "(right[:, None] == classes).double().mean(dim=0)"

wrong = AGREEMENT_AND_CHANCE.mistakes
wrong("one over the number of classes", {_CHANCE: "torch.tensor(1 / len(classes))"}).says("""
    You took 1 / K for K digits that occur. This is right if all K are equally frequent on both sides, but a generator
    may prefer some of them, and then it agrees more often or less often by chance: Σ p_left(c) · p_right(c).""")
wrong("one over the number of left classes", {_CHANCE: "torch.tensor(1 / len(left.unique()))"}).says("""
    You took 1 / K for the K digits that occur on the left. This is right if all K are equally frequent on both sides,
    but a generator may prefer some of them, and then it agrees more often or less often by chance:
    Σ p_left(c) · p_right(c).""")
wrong("one tenth", {_CHANCE: "torch.tensor(0.1)"}).says("""
    You took one tenth, as if all ten digits were equally frequent on both sides. Chance depends on the digits that were
    really drawn: Σ p_left(c) · p_right(c).""")
wrong("the left side squared", {_CHANCE: "(p_left * p_left).sum()"}).says("""
    You squared the shares of the left side. Two independent digits agree with the probability
    Σ p_left(c) · p_right(c), and the two sides may differ.""")
wrong("the right side squared", {_CHANCE: "(p_right * p_right).sum()"}).says("""
    You squared the shares of the right side. Two independent digits agree with the probability
    Σ p_left(c) · p_right(c), and the two sides may differ.""")
wrong("both sides in one pot", {_CHANCE: "((p_left + p_right) / 2).square().sum()"}).says("""
    You counted the digits of both sides together and squared their shares. The left and the right digits may be
    distributed differently, so multiply each side's own shares: Σ p_left(c) · p_right(c).""")
wrong("the most frequent digit", {_CHANCE: "torch.maximum(p_left.max(), p_right.max())"}).says("""
    You took the share of the most frequent digit. This is what the best constant guess would reach, but two digits that
    are drawn independently agree with the probability Σ p_left(c) · p_right(c).""")
wrong("the most frequent digit of a side", {_CHANCE: "p_left.max()"}).says("""
    You took the share of the most frequent left digit. Two digits that are drawn independently may agree in any class:
    add the products of both sides' shares, Σ p_left(c) · p_right(c).""")
wrong("the smaller share of each digit", {_CHANCE: "torch.minimum(p_left, p_right).sum()"}).says("""
    You added the smaller of the two shares of each digit. This is how much the two distributions overlap; two digits
    that are drawn independently agree with the probability Σ p_left(c) · p_right(c).""")
wrong("all pairs of digits", {_CHANCE: "(p_left.sum() * p_right.sum())"}).says("""
    Your chance is 1 whatever the digits are, as if you added the shares of a side before you multiplied, or the
    products of all pairs of digits. Only equal digits agree: multiply p_left(c) by p_right(c) for each digit, and add
    these products.""")
IMAGES = "sum((left == c).double().mean() * (right == c).double().mean() for c in left)"
wrong("summed over the images", {_CHANCE: IMAGES}).says("""
    You added a product for each image, so a digit that occurs three times on the left is counted three times. The sum
    has one product p_left(c) · p_right(c) for each digit c, which the shares already weigh.""")
wrong("averaged over the digits", {_CHANCE: "(p_left * p_right).mean()"}).says("""
    You averaged p_left(c) · p_right(c) over the digits. The cases in which both sides show the same digit exclude each
    other, so their probabilities are added.""")
wrong("agreement sorted", {_AGREEMENT: "(left.sort().values == right.sort().values).double().mean()"}).says("""
    You sorted both sides before you compared them, so the pairs were lost. The left and the right digit of the *same*
    image must agree.""")
wrong("every left with every right", {_AGREEMENT: "(left[:, None] == right).double().mean()"}).says("""
    You compared every left digit with every right one, which is chance itself. Agreement compares the two digits of the
    same image.""")
wrong(
    "share among the agreeing",
    {_CHANCE: "((left[:, None] == classes) & (right[:, None] == classes)).double().mean(0).sum()"},
).says("""
    You counted for each digit the images in which *both* sides show it, and added. This is agreement again; chance
    multiplies the two sides' shares, which are counted separately.""")
wrong("agreement above chance", {"agreement.item(),": "agreement.item() - (p_left * p_right).sum().item(),"}).says("""
    You subtracted chance from the agreement. Both numbers are wanted as they are, side by side.""")
ROUNDED = {"agreement.item(),": "round(agreement.item(), 2),", f"{_CHANCE}.item()": f"round({_CHANCE}.item(), 2)"}
wrong("rounded to two digits", ROUNDED).says("""
    Your numbers are right, but rounded to two digits. Return them as they are, and round only where they are
    printed.""")
wrong("only zeros and ones", {"classes = torch.cat([left, right]).unique()": "classes = torch.arange(2)"}).says("""
    You added only the products for the digits 0 and 1. Any digit from 0 to 9 may occur, because the judge names what it
    sees, so the sum runs over all of them.""")
wrong("the zero left out", {"classes = torch.cat([left, right]).unique()": "classes = torch.arange(1, 10)"}).says("""
    Your sum begins with the digit 1, so agreements of zeros are missing from chance. The digits run from 0 to 9.""")
wrong("the nine left out", {"classes = torch.cat([left, right]).unique()": "classes = torch.arange(9)"}).says("""
    Your sum ends with the digit 8, as range(9) does, so agreements of nines are missing from chance. There are ten
    digits, from 0 to 9.""")
ZERO = " + ".join(f"(left {sign} 0).double().mean() * (right {sign} 0).double().mean()" for sign in ("==", "!="))
wrong("the zero against all others", {_CHANCE: f"({ZERO})"}).says("""
    You counted two classes only, the zeros and all other digits together, so a 1 beside a 2 counts as agreement. Any
    digit from 0 to 9 may occur: add the products of the two shares of each single digit.""")
ONES = "(left.double().mean() * right.double().mean() + (1 - left.double().mean()) * (1 - right.double().mean()))"
wrong("the one against all others", {_CHANCE: f"({ZERO.replace('0)', '1)')})"}).says("""
    You counted two classes only, the ones and all other digits together, so a 2 beside a 3 counts as agreement. Any
    digit from 0 to 9 may occur: add the products of the two shares of each single digit.""")
wrong("the mean digit as a share", {_CHANCE: ONES}).says("""
    You took the mean of the digits for the share of ones, which it is only if all digits are zeros and ones. Any digit
    from 0 to 9 may occur: count each of them on both sides, and add the products of the two shares.""")
KAPPA = f"((agreement - {_CHANCE}) / (1 - {_CHANCE}))"
wrong("Cohen's κ", {_CHANCE: KAPPA}).says("""
    Your second number is Cohen's κ, which is computed from the agreement and chance, and which is 0 / 0 where chance is
    1. Wanted is chance itself.""")
wrong("Cohen's κ for the agreement", {"return agreement.item(),": f"return {KAPPA}.item(),"}).says("""
    Your first number is Cohen's κ, which is computed from the agreement and chance, and which is 0 / 0 where chance is
    1. Wanted is the share of equal pairs itself, with chance beside it.""")
JOINT = "((left[:, None] == classes) & (right[:, None] == classes)).double().mean(0).square().sum()"
wrong("both sides of a pair counted together", {_CHANCE: JOINT}).says("""
    You counted for each digit the images in which *both* sides show it, and squared this share. Chance must not depend
    on the pairs: count each side by itself, and multiply p_left(c) by p_right(c).""")
COUNTS = "(torch.bincount(left) / len(left) * (torch.bincount(right) / len(right))).sum()"
wrong("counts of different lengths", {_CHANCE: COUNTS}).says("""
    Your counts of the two sides differ in length where the largest digit of one side does not occur on the other:
    `torch.bincount` stops at the largest number that it finds. Give both ten entries, minlength=10.""")
OTHER = "(((left[:, None] == right).sum() - (left == right).sum()) / max(len(left) * (len(left) - 1), 1))"
wrong("only pairs of different images", {_CHANCE: OTHER}).says("""
    You left out the pairs of an image with itself, so that you divide by N (N − 1). In the formula every left digit
    meets every right one, also that of its own image: Σ p_left(c) · p_right(c), which divides by N · N.""")
wrong("the most frequent digits of both sides", {_CHANCE: "p_left.max() * p_right.max()"}).says("""
    You multiplied the shares of the most frequent digits, which may be different digits on the two sides. Multiply the
    two shares of each digit, and add over all digits: Σ p_left(c) · p_right(c).""")
PAIRED = "sum(a * b for a, b in zip(*(side.unique(return_counts=True)[1] for side in (left, right)))) / len(left) ** 2"
wrong("counts paired by their place", {_CHANCE: f"({PAIRED})"}).says("""
    You paired the counts by their place, but `unique` leaves out digits that do not occur, so counts of different
    digits meet. Count each digit from 0 to 9 on both sides, for example with `torch.bincount(…, minlength=10)`.""")
COUNTED = "left.unique(return_counts=True)[1] * right.unique(return_counts=True)[1] / len(left) ** 2"
wrong("counts of the digits that occur, multiplied", {_CHANCE: f"({COUNTED}).sum()"}).says("""
    You multiplied the counts that `unique` gives, but it leaves out digits that do not occur, so counts of different
    digits meet, or there are more of them on one side than on the other. Count each digit from 0 to 9 on both sides,
    for example with `torch.bincount(…, minlength=10)`.""")
