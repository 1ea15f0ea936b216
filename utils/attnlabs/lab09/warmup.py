"""Lab 9, last part: the learning rate, which rises before it falls."""

from misread.exercise import About, Exercise


def warmup_rate(step, d_model, warmup):
    """The paper's learning rate at a step, which counts from 0."""
    count = step + 1
    return d_model**-0.5 * min(count**-0.5, count * warmup**-1.5)


def _steps(draw):
    d_model, warmup = draw.integer(20, 600), draw.integer(4, 30)
    for step in (0, 1, warmup // 2, warmup - 1, warmup, 3 * warmup + draw.integer(0, 9), 100 * warmup):
        yield step, d_model, warmup
    yield draw.integer(0, 3), 512, 4000
    yield 20_000, 512, 4000
    yield draw.integer(10**6, 10**7), 512, 4000  # a long training
    yield draw.integer(20_000, 40_000), 1024, 60_000  # a long warm-up
    yield 2, 64, 1


WARMUP_RATE = Exercise(
    warmup_rate,
    cases=_steps,
    gradients=False,
    device=False,
    about=About(points=2, minutes=8, difficulty=2, read_again="What it is trained to do"),
)

must = WARMUP_RATE.properties
must("positive", lambda result, step, d_model, warmup: result > 0).says("""
    The learning rate must be above 0 from the first step on, because with a rate of 0 nothing is learnt.""")
must(
    "never above the peak", lambda result, step, d_model, warmup: result <= (d_model * warmup) ** -0.5 * (1 + 1e-9)
).says("""
    The rate is highest at the end of the warm-up, where it is 1 / √(d_model · warmup), and your rate is higher than
    that. If only the last digits differ, it was rounded: return a plain number instead of a tensor.""")

wrong = WARMUP_RATE.mistakes
wrong("division by zero at the start", {"step + 1": "step"}).says("""
    You used the step as it is. Our steps are counted from 0 and the paper's n from 1, so use n = step + 1; with n = 0
    the term n^(−0.5) would be a division by zero.""")
wrong("step 0 taken for step 1", {"step + 1": "max(step, 1)"}).says("""
    You used the step as it is, and 1 in place of 0, so that two steps have the same rate and all later ones are one too
    low. Our steps are counted from 0 and the paper's n from 1: use n = step + 1 throughout.""")
_ZERO = "if step == 0:\n    return 0.0\nreturn d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)"
wrong("rate 0 at the first step", _ZERO).says("""
    You returned 0 at step 0 and used the step as it is afterwards. With a rate of 0 nothing is learnt. Our steps are
    counted from 0 and the paper's n from 1: use n = step + 1 throughout.""")
wrong("line counted from 0", {"count * warmup": "step * warmup"}).says("""
    The rising line of your rate uses the step as it is, so that it begins with 0. Both terms take n = step + 1.""")
wrong("curve counted from 0", {"min(count**-0.5": "min(max(step, 1) ** -0.5"}).says("""
    The falling curve of your rate uses the step as it is. Both terms take n = step + 1, so that they meet at the end of
    the warm-up.""")
_LOOSE = "return d_model**-0.5 * min(step + 1**-0.5, step + 1 * warmup**-1.5)"
wrong("step + 1 without parentheses", _LOOSE).says("""
    You wrote step + 1 without parentheses. `**` and `*` bind more tightly than `+`, so that only the 1 is raised and
    multiplied. Write n = step + 1 first, or (step + 1).""")
wrong("largest instead of smallest", {"min(": "max("}).says("""
    You took the *larger* of the two terms. The rising line is smaller before the end of the warm-up and the
    falling curve is smaller after it, so take `min`.""")
wrong("never falls", {"min(count**-0.5, count * warmup**-1.5)": "count * warmup**-1.5"}).says("""
    Your rate keeps rising. After the warm-up it must fall like one over the root of the step, so take the smaller
    one of two terms.""")
wrong("width on the curve only", "n = step + 1\nreturn min(d_model**-0.5 * n**-0.5, n * warmup**-1.5)").says("""
    You multiplied only one of the two terms by d_model^(−0.5), so that they no longer meet at the end of the
    warm-up. Take the smaller term first, and then multiply it.""")
wrong("width inside of min", "n = step + 1\nreturn min(d_model**-0.5, n**-0.5, n * warmup**-1.5)").says("""
    You made d_model^(−0.5) a third number of which the smallest is taken. It is a factor: take the smaller one of the
    two terms with the step, and multiply by it.""")
wrong("rounded to float32", {"step + 1": "torch.tensor(step + 1.0)", "**-1.5)": "**-1.5).float()"}).says("""
    Your rate is a float32 tensor, which keeps only seven digits. No tensor is needed here, because `**` and `min`
    take plain numbers and keep sixteen digits.""")
wrong("line not steep enough or too steep", {"warmup**-1.5": "warmup**-0.5"}).says("""
    The two terms don't meet at the end of the warm-up, because your line contains warmup^(−0.5). At n = warmup
    both must be warmup^(−0.5), so the line is n · warmup^(−1.5).""")
wrong("one over the warm-up", {"warmup**-1.5": "warmup**-1"}).says("""
    Your line is n / warmup, which reaches 1 at the end of the warm-up. It must meet the falling curve there, at
    warmup^(−0.5), so the line is n · warmup^(−1.5).""")
wrong("falls without the root", {"count**-0.5": "count**-1"}).says("""
    After the warm-up your rate falls like 1 / n. It must fall more slowly, like 1 / √n.""")
wrong("falls from the end of the warm-up on", {"count**-0.5": "max(count - warmup, warmup) ** -0.5"}).says("""
    After the warm-up you counted the steps from its end. In the falling curve n is counted from the start of the
    training, as in the rising line: the two then meet by themselves at n = warmup, and `min` is all that is needed.""")
_HALF = {"d_model**-0.5": "d_model**-1 / 2"}
wrong("width to the power of minus one, halved", _HALF).says("""
    You wrote d_model ** -1/2 without parentheses. `**` binds more tightly than `/`, so Python divides by 2 only after
    the power -1. Write d_model ** -0.5.""")
wrong(
    "exponents without parentheses", {**_HALF, "count**-0.5": "count**-1 / 2", "warmup**-1.5": "warmup**-3 / 2"}
).says("""
    You wrote your exponents as fractions without parentheses, … ** -1/2 and … ** -3/2. `**` binds more tightly than
    `/`, so Python divides by 2 only after the power. Write -0.5 and -1.5.""")
_CURVE, _LINE = {"count**-0.5": "count**-1 / 2"}, {"warmup**-1.5": "warmup**-3 / 2"}
for which, edit in (("both terms", _CURVE | _LINE), ("the curve", _CURVE), ("the line", _LINE)):
    wrong(f"exponent of {which} without parentheses", edit).says(f"""
        You wrote the exponent of {which} as a fraction without parentheses, such as … ** -1/2 or … ** -3/2. `**` binds
        more tightly than `/`, so Python divides by 2 only after the power. Write -0.5 and -1.5.""")
wrong("step inside the power", {"count * warmup**-1.5": "(count * warmup) ** -1.5"}).says("""
    In your line the step is raised to the power −1.5 as well. Only the warm-up is, and n is a factor in front of it:
    n · warmup^(−1.5).""")
wrong("no warm-up", {"min(count**-0.5, count * warmup**-1.5)": "count**-0.5"}).says("""
    Your rate falls from the first step on, so that there is no warm-up. The line n · warmup^(−1.5) must be the smaller
    one of the two terms until n = warmup: is it there, and is its exponent negative?""")
wrong("constant after the warm-up", {"min(count**-0.5": "min(warmup**-0.5"}).says("""
    After the warm-up your rate stays at its peak. It must fall like one over the root of the step, n^(−0.5).""")
wrong("terms added", {"min(count**-0.5, count * warmup**-1.5)": "(count**-0.5 + count * warmup**-1.5)"}).says("""
    You added the two terms. The rate is the *smaller* one of them, because the line counts before the end of the
    warm-up and the curve after it: take `min`.""")
