"""Lab 9, first part: the sublayer that computes, and the norm that keeps numbers in bounds."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = (x @ W_1 + b_1).relu()  # (B, T, D) -> (B, T, F)
    return hidden @ W_2 + b_2  # (B, T, D)


def _two_layers(draw):
    batch, length, dim, hidden = draw.sizes(4)
    for B, T, D, F in ((batch, length, dim, hidden), (3, 3, 3, 3), (1, length, dim, hidden), (batch, 1, hidden, dim)):
        yield draw.normal(B, T, D), draw.normal(D, F), draw.normal(F), draw.normal(F, D), draw.normal(D)
    x = draw.normal(batch, length, dim)
    x[:, -1] = x[:, 0]  # the same word twice
    yield x, draw.normal(dim, hidden), draw.normal(hidden), draw.normal(hidden, dim), draw.normal(dim)


FEED_FORWARD = Exercise(
    feed_forward,
    cases=_two_layers,
    tolerance=1e-9,
    properties=[
        Property(
            "each place by itself",
            "Two words with the same features must get the same: each place goes through the two layers by itself. "
            "Yours mixes places or sentences.",
            lambda result, x, *rest: not torch.equal(x[:, 0], x[:, -1]) or torch.allclose(result[:, 0], result[:, -1]),
        )
    ],
)

wrong = FEED_FORWARD.mistakes
wrong("relu forgotten", {".relu()": ""}).says("""
    There is no relu between the two layers. Two linear layers without a bend between them are one linear layer: W_1
    W_2 could be multiplied out beforehand.""")
wrong("relu at the end", {".relu()": "", "hidden @ W_2 + b_2": "(hidden @ W_2 + b_2).relu()"}).says("""
    You took the relu of the result. It belongs *between* the layers; at the end it would let a sublayer only ever
    add, never take away.""")
wrong("first bias after the relu", {"(x @ W_1 + b_1).relu()": "(x @ W_1).relu() + b_1"}).says("""
    You added b_1 after the relu. It decides *where* the bend is, so it goes inside.""")
wrong("Python's max", {"(x @ W_1 + b_1).relu()": "max(0, x @ W_1 + b_1)"}).says("""
    You used Python's `max`, which can only take one of two things whole: it does not go through a tensor's numbers.
    `.relu()` does, or `.clamp(min=0)`.""")
wrong("another bend", "return F.gelu(x @ W_1 + b_1) @ W_2 + b_2").says("""
    You used GELU. Many later models do, but the layer wanted here is the paper's and torch's: relu, max(0, ·).""")
wrong("a squashing bend", {".relu()": ".tanh()"}).says("""
    You squashed the hidden features (tanh). Wanted is relu, max(0, ·), which lets large numbers through unchanged.""")
wrong("matrices transposed", {"x @ W_1": "x @ W_1.mT", "hidden @ W_2": "hidden @ W_2.mT"}).says("""
    You transposed the matrices, as nn.Linear stores them. Here W_1 is (D, F) and W_2 is (F, D), used as `x @ W`.""")


def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)  # (B, T, D)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (B, T, 1)
    return gain * centred / (variance + eps).sqrt() + bias  # (B, T, D)


def _features(draw):
    batch, length, dim = draw.sizes(3)
    small = 0.01 * draw.normal(batch, length, dim)  # here eps counts
    for x in (draw.normal(batch, length, dim) + 2, draw.normal(3, 3, 3) - 1, draw.normal(1, length, dim), small):
        gain, bias = draw.uniform(x.shape[-1], low=0.5, high=2.0), draw.normal(x.shape[-1])
        yield x, gain, bias, 1e-5
    level = draw.normal(batch, length, 1).expand(-1, -1, dim)  # all features alike: the variance is 0
    yield level.contiguous(), draw.uniform(dim, low=0.5, high=2.0), draw.normal(dim), 0.1
    yield draw.normal(batch, length, dim), draw.uniform(dim, low=0.5, high=2.0), draw.normal(dim), 0.5
    yield draw.normal(1, 1, 3), torch.ones(3).double(), torch.zeros(3).double(), 0.25  # easy to read, and eps shows
    far = draw.normal(batch, length, dim) + 1e6  # E[x²] − E[x]² loses its digits here
    yield far, draw.uniform(dim, low=0.5, high=2.0), draw.normal(dim), 1e-5
    single = 10 * torch.eye(32, dtype=torch.float64)[draw.integers(0, 32, 1, 2)]  # one feature far above the others
    yield single, draw.uniform(32, low=0.5, high=2.0), draw.normal(32), 1e-5


LAYER_NORM = Exercise(
    layer_norm,
    cases=_features,
    tolerance=1e-8,
    properties=[
        Property(
            "mean is the bias's",
            "Before gain and bias, the features of each place must have mean 0.",
            lambda result, x, gain, bias, eps: ((result - bias) / gain).mean(-1).abs().max() < 1e-6,
        ),
        Property(
            "not larger than one before the gain",
            "Before gain and bias, the features of each place must have variance 1 (a little less, because of eps).",
            lambda result, x, gain, bias, eps: ((result - bias) / gain).var(-1, correction=0).max() <= 1 + 1e-6,
        ),
    ],
)

_MEAN, _VARIANCE = "x.mean(dim=-1, keepdim=True)", "centred.square().mean(dim=-1, keepdim=True)"

wrong = LAYER_NORM.mistakes
wrong("divided by n − 1, eps beside the root", {_VARIANCE: "x.std(-1, keepdim=True)", ").sqrt()": ")"}).says("""
    You divided by `x.std() + eps`, as some tutorials do: a variance with n − 1, and eps outside of the root. torch
    and the paper take the mean of the squares, and eps stands under the root.""")
wrong("divided by n − 1", {_VARIANCE: "x.var(dim=-1, keepdim=True)"}).says("""
    Your variance divides by n − 1, as `var` and `std` do unasked. A layer norm estimates nothing: it takes the plain
    mean of the squares, `correction=0`.""")
wrong("eps beside the root", {"(variance + eps).sqrt()": "(variance.sqrt() + eps)"}).says("""
    You added eps to the standard deviation. It stands under the root, beside the variance: that keeps the gradient of
    the root finite too.""")
wrong("normalised over the words", {_MEAN: "x.mean(1, keepdim=True)", _VARIANCE: _VARIANCE.replace("-1", "1")}).says("""
    You took mean and variance over the words of a sentence. A layer norm looks at one word at a time: over its
    *features*, the last axis. Padding and what comes later must not matter.""")
wrong("variance without its mean", {"centred.square()": "x.square()"}).says("""
    Your variance is the mean of x², with the mean of x left in. A variance is the mean of (x − μ)²: square the
    centred features.""")
wrong("axis not kept", {_MEAN: "x.mean(-1)", _VARIANCE: "centred.square().mean(-1)"}).says("""
    Mean and variance lost their last axis: (B, T). To stand beside the features, (B, T, D), they must be (B, T, 1):
    keepdim=True.""")
wrong("axis of the variance not kept", {_VARIANCE: "centred.square().mean(dim=-1)"}).says("""
    Your variance lost its last axis: (B, T). It must be (B, T, 1) as the mean: keepdim=True.""")
wrong("centred below, not above", {"gain * centred": "gain * x"}).says("""
    You divided x itself by the standard deviation. Take the mean away from x, too.""")
wrong("divided by the variance", {".sqrt()": ""}).says("""
    You divided by the variance. Its root, the standard deviation, has the unit of x.""")
wrong("bias before the gain", {"gain * centred /": "gain * (centred /", "+ bias  #": "+ bias)  #"}).says("""
    You multiplied the bias by the gain as well. First the gain, then add the bias.""")
