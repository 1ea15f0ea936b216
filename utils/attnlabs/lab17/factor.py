"""Lab 17: a factor that keeps the softmax as sharp on long inputs as it was in training."""

import math

import torch
from torch import Tensor

from misread.exercise import About, Exercise


def sharpening_factor(lengths, trained):
    """By how much scores are multiplied: 1 up to the trained length, then growing: lengths (B,) -> (B,)."""
    return (lengths.log() / math.log(trained)).clamp(min=1.0)  # (B,)


def _batches(draw):
    trained = draw.integer(5, 12)
    if draw.compact:
        yield torch.tensor([3, 9]), 3
        yield torch.tensor([4, 16, 64]), 4
    yield torch.tensor([trained, 2 * trained, 4 * trained, trained - 2]), trained
    yield draw.integers(2, 90, draw.sizes(1)[0] + 3), trained
    yield torch.tensor([trained**2]), trained  # one sequence: the factor is 2
    yield draw.integers(2, trained + 1, 3), trained  # nothing is longer than in training
    yield torch.tensor([1, 1000, trained + 1]), trained  # log 1 is 0
    yield torch.tensor([50, 20, 31, 172]), 2
    yield torch.tensor([200, 120, 110]), 100


def _single(result, *args):
    """Any precision is welcome: lengths are whole numbers and say nothing of it."""
    return result.float() if isinstance(result, Tensor) and result.is_floating_point() else result


SHARPENING_FACTOR = Exercise(
    sharpening_factor,
    cases=_batches,
    canonical=_single,
    gradients=False,
    tolerance=1e-5,
    about=About(
        points=2,
        minutes=10,
        difficulty=2,
        read_again=("17_beyond_lengths_evidence", "Sharpness, and what it cannot do"),
    ),
)

must = SHARPENING_FACTOR.properties
must(
    "1 inside the trained lengths",
    lambda result, lengths, trained: torch.allclose(
        result[lengths <= trained].float(), torch.ones(int((lengths <= trained).sum()))
    ),
).says("""
    Where a sequence is no longer than `trained`, the factor is 1: there the model stays as it was trained.""")
must("grows with the length", lambda result, lengths, trained: (result[lengths > trained] > 1).all()).says("""
    Beyond `trained`, a longer sequence has a larger factor, and all factors are above 1.""")

_LOGS, _CLAMP = "lengths.log() / math.log(trained)", ".clamp(min=1.0)"

wrong = SHARPENING_FACTOR.mistakes
wrong("at most 1", {"min=1.0": "max=1.0"}).says("""
    You took the smaller of 1 and the ratio, so your factor never sharpens. In `clamp`, *min* is the lower limit.""")
wrong("lengths instead of logarithms", {_LOGS: "lengths / trained"}).says("""
    You divided the lengths themselves. To keep the weight of the leader, the scores must grow like the *logarithm* of
    the length: ln T / ln trained.""")
wrong("the logarithm of the ratio", {_LOGS: "(lengths / trained).log()"}).says("""
    You took the logarithm of T / trained. Wanted is the ratio of the logarithms, ln T / ln trained, which is exactly 1
    at the trained length.""")
wrong("1 plus the logarithm of the ratio", {_LOGS: "1 + (lengths / trained).log()"}).says("""
    You computed 1 + ln(T / trained). It is 1 at the trained length, too, but grows faster. Wanted is the ratio of the
    logarithms, ln T / ln trained.""")
wrong("upside down", {_LOGS: "math.log(trained) / lengths.log()"}).says("""
    You divided the other way round, so long sequences get a *smaller* factor, which blurs. Wanted is ln T / ln trained.
    """)
wrong("two kinds of logarithm", {"lengths.log()": "lengths.log2()"}).says("""
    You took one logarithm to base 2 and the other to base e. In a ratio any base will do, but it must be the same one
    above and below.""")
wrong("base 10 above, base e below", {"lengths.log()": "lengths.log10()"}).says("""
    You divided a logarithm to base 10 by one to base e. In a ratio any base will do, but it must be the same one above
    and below.""")
wrong("not divided, 1 inside", "return torch.where(lengths > trained, lengths.log(), 1.0)").says("""
    Beyond the trained length you returned ln T, so that the factor jumps there. Divide by ln trained: then it is
    exactly 1 at the limit.""")
wrong("1 plus the ratio", f"return 1 + ({_LOGS})").says("""
    You added 1 to the ratio, so the factor is 2 at the trained length. Wanted is the larger of 1 and the ratio.""")
wrong("always 1", "return torch.ones(len(lengths))").says("""
    Your factor is 1 for every sequence, so nothing is sharpened. This also happens if you divide by the logarithm of
    the longest sequence in the batch: divide by ln trained, which has nothing to do with this batch.""")
wrong("logarithm to base 10", {_LOGS: "lengths.log10()"}).says("""
    You divided by ln 10, as a model in the evidence for chapter 17 does. Here the factor is 1 at `trained` positions:
    divide by ln trained.""")
wrong("not divided", {_LOGS: "lengths.log()"}).says("""
    You returned ln T. Divide by ln trained, so that the factor is 1 at the trained length.""")
wrong("one more under the logarithm", {"lengths.log()": "lengths.log1p()", "math.log(": "math.log1p("}).says("""
    You took ln(1 + n) in place of ln n (log1p). A length is at least 1, so its logarithm is harmless.""")
wrong("a square root", {_LOGS: "(lengths / trained).sqrt()"}).says("""
    You took the root of the ratio. It grows faster than a softmax needs: wanted is ln T / ln trained.""")
ONES = "return torch.tensor([max(1, math.log(n) / math.log(trained)) for n in lengths.tolist()])"
wrong("whole numbers where each factor is 1", ONES).says("""
    The numbers are right, but where each factor of a batch is 1 you return whole numbers: Python's `max(1, …)` and
    `torch.tensor([1, 1])` keep the whole number 1. Write 1.0, or say dtype=torch.float32.""")
wrong("one factor for the batch", {"lengths.log()": "torch.full_like(lengths, int(lengths.max())).log()"}).says("""
    You used the longest sequence's factor for all. Each sequence of the batch has a length of its own.""")
