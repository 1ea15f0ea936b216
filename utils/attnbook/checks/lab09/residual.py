"""Lab 9, second part: the way around a sublayer, and where its norm stands."""

from __future__ import annotations

from ..engine.exercise import Exercise, Property
from ..fakes.sublayer import FakeNorm, FakeSublayer


def _sublayers(draw):
    batch, length, dim = draw.sizes(3)
    for B, T, D in ((batch, length, dim), (3, 3, 3), (1, length, dim), (batch, 1, dim)):
        sublayer, norm = FakeSublayer(draw.normal(D, D)), FakeNorm(draw.uniform(D, low=0.5, high=1.5), draw.normal(D))
        yield draw.normal(B, T, D) + 0.5, sublayer, norm


def residual_post_norm(x, sublayer, norm):
    return norm(x + sublayer(x))  # (B, T, D)


RESIDUAL_POST_NORM = Exercise(
    residual_post_norm,
    cases=_sublayers,
    tolerance=1e-9,
    properties=[
        Property(
            "the norm comes last",
            "In post-norm the last thing that happens is the norm: for each word, take off the norm's bias and its "
            "gain, and the mean must be 0. Yours is not.",
            lambda result, x, sublayer, norm: ((result - norm.bias) / norm.gain).mean(-1).abs().max() < 1e-9,
        )
    ],
)

wrong = RESIDUAL_POST_NORM.mistakes
wrong("residual forgotten", {"x + sublayer(x)": "sublayer(x)"}).says("""
    You normalised the sublayer's output but did not add x. The way around the sublayer is what lets words and
    gradients through a deep stack.""")
wrong("this is pre-norm", {"norm(x + sublayer(x))": "x + sublayer(norm(x))"}).says("""
    You normalised what goes *into* the sublayer. That is pre-norm, the next exercise. Post-norm, the paper's, adds
    first and normalises the sum.""")
wrong("only the sublayer is normalised", {"norm(x + sublayer(x))": "x + norm(sublayer(x))"}).says("""
    You normalised the sublayer's output and then added x. In post-norm the *sum* is normalised, so that what goes on
    to the next layer is in bounds.""")
wrong("normalised before and after", {"sublayer(x)": "sublayer(norm(x))"}).says("""
    You normalised the sublayer's input as well as the sum. Post-norm has one norm, after the sum.""")
wrong("only x is normalised", {"norm(x + sublayer(x))": "norm(x) + sublayer(x)"}).says("""
    You normalised x and added the sublayer's output to that. Add first; then normalise the sum.""")
wrong("halved", {"x + sublayer(x)": "(x + sublayer(x)) / 2"}).says("""
    You took the mean of x and the sublayer's output. It is their sum that is normalised.""")
wrong("multiplied", {"x + sublayer(x)": "x * sublayer(x)"}).says("""
    You multiplied x and the sublayer's output. The way around *adds*.""")


def residual_pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))  # (B, T, D)


RESIDUAL_PRE_NORM = Exercise(
    residual_pre_norm,
    cases=_sublayers,
    tolerance=1e-9,
    properties=[
        Property(
            "x goes through untouched",
            "Take x away from your result, and the sublayer's answer to norm(x) must be left. It isn't.",
            lambda result, x, sublayer, norm: abs((result - x) - sublayer(norm(x))).max() < 1e-9,
        )
    ],
)

wrong = RESIDUAL_PRE_NORM.mistakes
wrong("x overwritten by its norm", "x = norm(x)\nreturn x + sublayer(x)").says("""
    What goes around the sublayer is norm(x) in your version. It must be x itself, untouched: the free way through the
    whole stack is what pre-norm is for. Normalise only what goes into the sublayer.""")
wrong("this is post-norm", {"x + sublayer(norm(x))": "norm(x + sublayer(x))"}).says("""
    You normalised the sum. That is post-norm, the exercise before. Pre-norm normalises only what goes into the
    sublayer, and leaves the sum alone.""")
wrong("norm after the sublayer", {"sublayer(norm(x))": "norm(sublayer(x))"}).says("""
    You normalised what comes *out* of the sublayer. Pre-norm normalises what goes in.""")
wrong("normalised before and after", {"x + sublayer(norm(x))": "norm(x + sublayer(norm(x)))"}).says("""
    You normalised the sum as well. Then x no longer goes around untouched. Pre-norm has one norm, before the
    sublayer.""")
wrong("norm on the wrong path", {"x + sublayer(norm(x))": "norm(x) + sublayer(x)"}).says("""
    You normalised the way around and gave the sublayer x as it is. It is the other way round: x goes around, norm(x)
    goes in.""")
wrong("multiplied", {"x + sublayer": "x * sublayer"}).says("""
    You multiplied x with the sublayer's answer. The way around adds.""")
