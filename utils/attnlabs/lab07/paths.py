"""Lab 7, third part: how many layers connect two words."""

import torch

from misread.exercise import About, Exercise

from .masks import causal_mask, window_mask


def path_length(mask):
    """Layers until output i can depend on input j, inf for never: bool (T, T) -> (T, T)."""
    looks = mask.to(torch.float32)  # (T, T)
    lengths = torch.full_like(looks, float("inf"))  # never, until a chain is found
    reached = mask
    for layers in range(1, len(mask) + 1):
        lengths = lengths.masked_fill(reached & lengths.isinf(), layers)
        reached = (reached.float() @ looks) > 0  # one layer more: through any k that was reached
    return lengths


def _ring(draw, length, *chords):
    """Each position attends to one other, and none to itself; chords open some more."""
    order = draw.order(length)
    mask = torch.zeros(length, length, dtype=torch.bool)
    mask[order, order.roll(-1)] = True
    for start, end in chords:
        mask[order[start], order[end]] = True
    return mask


def _who_attends(draw):
    yield (torch.eye(2, dtype=torch.bool).flip(0),)  # two words that attend to each other, and not to themselves
    yield (causal_mask(4) & window_mask(4, 1),)  # itself and the word before: a recurrent step
    yield (_ring(draw, 4),)
    yield (window_mask(draw.integer(6, 9), 1),)
    yield (window_mask(9, 2),)
    yield (draw.mask(4, 4),)  # the last word attends to nothing
    chain = causal_mask(6) & window_mask(6, 1)
    order = draw.order(6)
    yield (chain[order][:, order],)  # the same chain through positions in any order
    yield (_ring(draw, 6, (0, 3)),)
    yield (_ring(draw, 7, (2, 1), (5, 5)),)
    yield (torch.rand(8, 8, generator=draw.generator) < 0.2,)
    yield (torch.ones(1, 1, dtype=torch.bool),)
    yield (torch.zeros(1, 1, dtype=torch.bool),)
    if draw.number == 0:  # longer than a number of rounds fixed beforehand; in loops over tensors 40 words take 2 s
        yield (causal_mask(10) & window_mask(10, 1),)
        yield (causal_mask(13) & window_mask(13, 1),)
        yield (_ring(draw, draw.integer(34, 40)),)
        yield (torch.ones(40, 40, dtype=torch.bool).tril(1),)  # one chain to the end, and very many others
        layer = torch.arange(24) // 4
        yield (layer[:, None] + 1 == layer,)  # 256 chains from the first layer to the last


NEVER = 2.0**60  # stands in for inf in comparisons, so that a wrong inf is not taken for a slip of arithmetic
TOO_MANY = 2.0**59  # stands in for every number that no count of layers comes near: 99, 1e9, ...


def _comparable(result, mask):
    """Whatever the dtype, and without infinities."""
    numbers = result.double()
    far = (numbers > 2 * len(mask) + 2) & numbers.isfinite()
    return numbers.masked_fill(far, TOO_MANY).masked_fill(numbers == float("inf"), NEVER)


def _one_layer_more(lengths, mask):
    """The least number of layers over all words that i attends to: 1 for a direct one, else one more than theirs."""
    through = torch.where(mask[:, :, None], 1 + lengths[None], NEVER).amin(1)  # (T, T, T) -> (T, T)
    return torch.where(mask, torch.ones_like(lengths), through)


PATH_LENGTH = Exercise(
    path_length,
    cases=_who_attends,
    gradients=False,
    canonical=_comparable,
    about=About(
        points=4,
        minutes=28,
        difficulty=3,
        read_again=("07_self_attention_evidence", "Paths through four kinds of layers"),
    ),
)

must = PATH_LENGTH.properties
must("1 where the mask is open", lambda result, mask: torch.equal(result == 1, mask)).says("""
    Where mask[i, j] is True one layer is enough, and nowhere else. The result must be 1 exactly at these positions,
    which includes the diagonal only where the mask is open.""")
must("long chains too", lambda result, mask: not ((result == NEVER) & path_length(mask).isfinite()).any()).says("""
    Your result is inf for some i and j although a chain leads from i to j. However long a chain is, its end gets a
    number, so the number of rounds must follow from len(mask), or you go on until nothing new is reached.""")
must("never is infinity", lambda result, mask: torch.equal(result == NEVER, path_length(mask).isinf())).says("""
    Where no chain leads from i to j, the answer is inf, no matter how many layers there are. Where a chain does, the
    answer is a number.""")
must(
    "one layer less for a word you attend to", lambda result, mask: torch.equal(result, _one_layer_more(result, mask))
).says("""
    If the path from i to j takes n layers, and n is more than 1, then some word that i attends to has a path of n − 1
    layers to j, and none of them has a shorter one.""")

wrong = PATH_LENGTH.mistakes
_EXTEND = "(reached.float() @ looks) > 0"
wrong("only one layer", {_EXTEND: "reached"}).says("""
    Your result has a number only where the mask is open, and inf elsewhere. Longer chains need more layers: after each
    round, extend `reached` by all words to which the reached ones attend.""")
wrong("layers counted from 0", {"range(1, len(mask) + 1)": "range(len(mask) + 1)"}).says("""
    You counted the layers from 0, so that all your numbers are too small by 1. Where the mask is open the answer is 1,
    because one layer is needed.""")
wrong("product of True and False", {_EXTEND: "reached @ mask"}).says("""
    torch has no matrix product for True and False. Turn both into numbers and compare the result with 0:
    `(reached.float() @ mask.float()) > 0`.""")
wrong("0 on the diagonal", {"return lengths": "return lengths.fill_diagonal_(0)"}).says("""
    You put 0 on the diagonal. Without any layer there is no output that could depend on anything, so the answer
    is 1 where a word attends to itself, and otherwise the length of the shortest chain back to it.""")
wrong(
    "every word attends to itself",
    {"looks = mask.to": "mask = mask | torch.eye(len(mask)).bool()\n    looks = mask.to"},
).says("""
    You put 1 on the whole diagonal. It is 1 only where a word attends to itself. Otherwise, its query aside, a word
    reaches its own input only through other words: the answer is the length of the shortest chain back to it, or inf.
    """)
_ITSELF = "torch.eye(len(mask)).bool()"
wrong("inf on the diagonal", {"return lengths": f"return lengths.masked_fill({_ITSELF}, float('inf'))"}).says("""
    You put inf on the whole diagonal, as a search does that takes its start for visited. Where a word attends to itself
    the answer is 1, and otherwise the length of the shortest chain back to it; only without such a chain it is inf.""")
wrong(
    "no chain back to itself", {"return lengths": f"return lengths.masked_fill({_ITSELF} & ~mask, float('inf'))"}
).says("""
    You put inf on the diagonal wherever a word does not attend to itself. A chain may lead from the word through others
    back to it, and then the answer is the length of the shortest one.""")
wrong("one round too few", {"range(1, len(mask) + 1)": "range(1, len(mask))"}).says("""
    You stopped one round too early, after T − 1 layers, as range(1, T) does. A chain that leads from a word through
    all the others and back to it has T steps, so T rounds are needed.""")
wrong("begins with each word itself", {"reached = mask\n": "reached = torch.eye(len(mask)).bool()\n"}).says("""
    Your `reached` began with each word itself, which is what *no* layer reaches, and you wrote the number 1 there.
    Begin with the mask, which is what one layer reaches.""")
wrong("both directions", {"looks = mask.to": "mask = mask | mask.mT\n    looks = mask.to"}).says("""
    You let each connection work in both directions. That i attends to j does not mean that j attends to i, as a
    causal mask shows.""")
wrong("never is 0", {"return lengths": "return lengths.masked_fill(lengths.isinf(), 0)"}).says("""
    You left 0 where no chain leads from i to j. This would mean that no layer is needed, while the answer is inf.""")
wrong("never is −1", {"return lengths": "return lengths.masked_fill(lengths.isinf(), -1)"}).says("""
    You put −1 where no chain leads from i to j. In a maximum or a comparison this would count as a very short
    path, so the answer is inf.""")
wrong("never is the length of the sentence", {"return lengths": "return lengths.clamp(max=len(mask))"}).says("""
    You put the length of the sentence where no chain leads from i to j. More layers don't help there, so the
    answer is inf.""")
wrong("never is a large number", {"return lengths": "return lengths.masked_fill(lengths.isinf(), 1e9)"}).says("""
    You put a large number where no chain leads from i to j. It would mean that so many layers are enough, while the
    answer is inf: float("inf").""")
wrong("the last time, not the first", {"reached & lengths.isinf()": "reached"}).says("""
    You overwrote the number each time a word was reached again. The answer is the *first* number of layers at
    which i depends on j, so fill only what is still inf.""")
wrong("jumps twice as far each time", {"reached.float() @ looks": "reached.float() @ reached.float()"}).says("""
    You multiplied `reached` by itself, so that its chains become twice as long in each round. One layer adds
    *one* step to a chain, so multiply by the mask.""")
wrong("extended before written down", {"reached = mask\n": "reached = (mask.float() @ looks) > 0\n"}).says("""
    You extended `reached` by one step before you wrote the number down, so that in round 1 it contains chains of
    two steps. Write first, and extend afterwards.""")
_EXTENDED = "reached = reached | ((reached.float() @ looks) > 0)\n        lengths = lengths.masked_fill"
wrong("one and two steps in round 1", {_EXTEND: "reached", "lengths = lengths.masked_fill": _EXTENDED}).says("""
    You extended `reached` before you wrote the number down, so that chains of one and of two steps both got the
    number 1. Write first, and extend afterwards.""")
wrong("two layers and no more", {"len(mask) + 1": "3"}).says("""
    You used only one and two layers. Chains can be longer, so go on until nothing new is reached.""")
wrong("nothing written", {"lengths = lengths.masked_fill": "lengths.masked_fill"}).says("""
    Your result is inf everywhere. masked_fill doesn't change a tensor, but *returns* a new one: lengths =
    lengths.masked_fill(…).""")
wrong(
    "the word in between tried last",
    """lengths = torch.where(mask, 1.0, float("inf"))
for i in range(len(mask)):
    for j in range(len(mask)):
        lengths[i, j] = torch.minimum(lengths[i, j], (lengths[i] + lengths[:, j]).min())
return lengths""",
).says("""
    You tried the words in between, k, in the innermost loop, so that some chains need numbers that are not known
    yet. In this method (of Floyd and Warshall) k is the outermost loop.""")
wrong("True and False", {"return lengths": "return lengths.isfinite()"}).says("""
    You returned whether there is a chain from i to j at all. Return the number of layers that are needed, and inf
    where there is none.""")
