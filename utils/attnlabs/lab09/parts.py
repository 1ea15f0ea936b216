"""Lab 9, first part: feed-forward and layer norm."""

import torch

from misread.exercise import About, Exercise


def feed_forward(x, W_1, b_1, W_2, b_2):
    """Two linear layers with a relu between them, for each word: (B, T, D) -> (B, T, D)."""
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
    feed_forward, cases=_two_layers, about=About(points=1, minutes=8, difficulty=1, read_again="Feed-forward")
)

must = FEED_FORWARD.properties
must(
    "each word by itself",
    lambda result, x, *rest: not torch.equal(x[:, 0], x[:, -1]) or torch.allclose(result[:, 0], result[:, -1]),
).says("""
    Two words with the same features must get the same output, because each word goes through the two layers separately.
    Yours mixes words or sentences.""")

wrong = FEED_FORWARD.mistakes
wrong("relu forgotten", {".relu()": ""}).says("""
    Your function applies no relu between the two layers. Two linear layers without a nonlinear function between
    them are only one linear layer, with the matrix W_1 W_2.""")
wrong("relu at the end", {".relu()": "", "hidden @ W_2 + b_2": "(hidden @ W_2 + b_2).relu()"}).says("""
    You applied the relu to the final result. It belongs *between* the two layers, because a relu at the end would
    forbid negative numbers in the sublayer's output.""")
wrong("first bias after the relu", {"(x @ W_1 + b_1).relu()": "(x @ W_1).relu() + b_1"}).says("""
    You added b_1 after the relu. It belongs inside, as max(0, x W_1 + b_1), because the bias decides from which
    value on a feature is set to 0.""")
wrong("matrices on the left", "return W_2 @ (W_1 @ x + b_1).relu() + b_2").says("""
    You put the matrices on the left of x. The features of x are its last axis, so the matrices belong on the right:
    `x @ W_1`.""")
wrong("gelu instead of relu", "return F.gelu(x @ W_1 + b_1) @ W_2 + b_2").says("""
    You used GELU, as many later models do. The function that is wanted here is the one of the paper and of
    torch's layers, relu, which is max(0, ·).""")
wrong("gelu's approximation instead of relu", 'return F.gelu(x @ W_1 + b_1, approximate="tanh") @ W_2 + b_2').says("""
    You used GELU in its approximation by tanh, as GPT-2 does. The function that is wanted here is the one of the paper
    and of torch's layers, relu, which is max(0, ·).""")
wrong("SiLU instead of relu", "return F.silu(x @ W_1 + b_1) @ W_2 + b_2").says("""
    You used SiLU, x · sigmoid(x), which is also called Swish. The function that is wanted here is the one of the paper
    and of torch's layers, relu, which is max(0, ·).""")
wrong("leaky relu", "return F.leaky_relu(x @ W_1 + b_1) @ W_2 + b_2").says("""
    You used a leaky relu, which keeps a hundredth of each negative number. The relu that is wanted here replaces
    negative numbers by 0.""")
wrong("both biases forgotten", {"x @ W_1 + b_1": "x @ W_1", "hidden @ W_2 + b_2": "hidden @ W_2"}).says("""
    Your function adds neither of the two biases. Each layer adds its own: b_1 to x W_1, before the relu, and b_2 to the
    product with W_2.""")
wrong("matrices transposed", "return F.linear(F.linear(x, W_1, b_1).relu(), W_2, b_2)").says("""
    You multiplied by the transposes of the two matrices, as `F.linear` and `nn.Linear` do. Here W_1 is (D, F) and W_2
    is (F, D), so they stand on the right of x as they are: `x @ W_1`.""")


def layer_norm(x, gain, bias, eps=1e-5):
    """Each word's features with mean 0 and variance 1, then gain and bias: (B, T, D) -> (B, T, D)."""
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
    about=About(points=2, minutes=14, difficulty=2, read_again="Residual connection and layer norm"),
)

must = LAYER_NORM.properties
must(
    "mean is the bias's", lambda result, x, gain, bias, eps: ((result - bias) / gain).mean(-1).abs().max() < 1e-6
).says("""
    Take off the bias and divide by the gain: then the features of *each word* must have mean 0, and in your result they
    don't.""")
must(
    "not larger than one before the gain",
    lambda result, x, gain, bias, eps: ((result - bias) / gain).var(-1, correction=0).max() <= 1 + 1e-6,
).says("""
    Take off the bias and divide by the gain: then the features of *each word* must have variance 1, or a little less
    because of eps.""")

_MEAN, _VARIANCE = "x.mean(dim=-1, keepdim=True)", "centred.square().mean(dim=-1, keepdim=True)"
_DIVIDED, _BARE = "gain * centred / (variance + eps).sqrt() + bias", {"(variance + eps)": "variance"}

wrong = LAYER_NORM.mistakes
wrong("divided by n − 1, eps beside the root", {_VARIANCE: "x.std(-1, keepdim=True)", ").sqrt()": ")"}).says("""
    You divided by `x.std() + eps`, as some tutorials do, so that the variance is divided by n − 1 and eps stands
    outside of the root. In torch the variance is the plain mean of the squares, and eps stands under the root.""")
wrong("divided by n − 1", {_VARIANCE: "x.var(dim=-1, keepdim=True)"}).says("""
    Your variance divides by n − 1, which is the default of `var` and `std`. A layer norm doesn't estimate a
    variance from a sample, so it takes the plain mean of the squares: `correction=0`.""")
wrong("eps beside the root", {"(variance + eps).sqrt()": "(variance.sqrt() + eps)"}).says("""
    You added eps to the standard deviation. It belongs under the root, beside the variance, because the gradient
    of the root is then finite even if the variance is 0.""")
wrong("normalised over the words", {_MEAN: "x.mean(1, keepdim=True)", _VARIANCE: _VARIANCE.replace("-1", "1")}).says("""
    You took mean and variance over the words of a sentence. A layer norm takes them over the *features* of each
    word, the last axis, so that padding and later words have no influence.""")
wrong("variance without its mean", {"centred.square()": "x.square()"}).says("""
    Your variance is the mean of x², from which the mean of x was not subtracted. A variance is the mean of (x −
    μ)², so square the centred features.""")
wrong("mean of the squares less the square", {_VARIANCE: f"(x**2).mean(-1, keepdim=True) - {_MEAN} ** 2"}).says("""
    You computed the variance as the mean of x² minus the square of the mean. If the mean is large, these are two huge
    numbers that are nearly alike, and rounding leaves few digits of their difference: square x − μ instead.""")
wrong("centred below, not above", {"gain * centred": "gain * x"}).says("""
    You divided x itself by the standard deviation. The mean must be subtracted from x before the division,
    because the result should have mean 0.""")
wrong("divided by the variance", {".sqrt()": ""}).says("""
    You divided by the variance. The result has variance 1 only if you divide by its root, the standard deviation.""")
wrong("bias before the gain", {"gain * centred /": "gain * (centred /", "+ bias  #": "+ bias)  #"}).says("""
    You multiplied the bias by the gain, too. Multiply the normalised features by the gain first, and then add the
    bias.""")
wrong("eps forgotten", _BARE).says("""
    You divided by the standard deviation without eps. If all features of a word are equal, this is 0 / 0. Add eps to
    the variance, under the root.""")
wrong("eps forgotten, divided by n − 1", {_VARIANCE: "x.var(dim=-1, keepdim=True)", **_BARE}).says("""
    You divided by `x.std()`, without eps and with n − 1. The variance of a layer norm is the plain mean of the squares
    (`correction=0`), and eps is added to it under the root.""")
wrong("root of the standard deviation", {_VARIANCE: "x.std(dim=-1, keepdim=True, correction=0)"}).says("""
    You took the root of the standard deviation, which is a root already. Under the root belongs the variance, with eps
    beside it.""")
wrong("root of the standard deviation, n − 1", {_VARIANCE: "x.std(dim=-1, keepdim=True)"}).says("""
    You took the root of `x.std()`, which is a root already and divides by n − 1. Under the root belongs the variance,
    the plain mean of the squares, with eps beside it.""")
wrong("RMS norm", {"gain * centred": "gain * x", "centred.square()": "x.square()"}).says("""
    You divided by the root of the mean of x² and subtracted no mean, which is the RMS norm of many later models. A
    layer norm subtracts the mean first, and divides by the standard deviation.""")
wrong("only the mean is divided", {_DIVIDED: f"gain * x - {_MEAN} / (variance + eps).sqrt() + bias"}).says("""
    You divided only the mean by the standard deviation. The difference x − μ needs parentheses, because `/` and `*`
    bind more tightly than `-`.""")
wrong("only the mean is divided, not x", {_DIVIDED: f"gain * (x - {_MEAN} / (variance + eps).sqrt()) + bias"}).says("""
    You divided the mean by the standard deviation and then subtracted it from x. The difference x − μ comes first, and
    the whole of it is divided.""")
wrong("gain and bias before the norm", "return F.layer_norm(gain * x + bias, x.shape[-1:], eps=eps)").says("""
    You applied gain and bias to x and normalised afterwards, which takes most of their effect away again. Normalise
    first, then multiply by the gain and add the bias.""")
wrong("gain and bias forgotten", "return F.layer_norm(x, x.shape[-1:], eps=eps)").says("""
    You normalised the features and left out gain and bias. Multiply the result by the gain and add the bias.""")
wrong("normalised over a whole sentence", "return gain * F.layer_norm(x, x.shape[1:], eps=eps) + bias").says("""
    You took one mean and one variance for each sentence, over its words and features. Each *word* has its own, over
    its D features alone: the last axis.""")
wrong("normalised over everything", "return gain * F.layer_norm(x, x.shape, eps=eps) + bias").says("""
    You took one mean and one variance of all numbers, because `mean` and `var` without an axis do so. Each *word* has
    its own: take them over the last axis, with `dim=-1, keepdim=True`.""")
_BATCH = _VARIANCE.replace("dim=-1", "dim=(0, 1)")
wrong("batch norm", {_MEAN: "x.mean(dim=(0, 1), keepdim=True)", _VARIANCE: _BATCH}).says("""
    You took mean and variance of each feature over all sentences and words, which is a batch norm. A layer norm takes
    them of each word over its features, the last axis.""")
wrong(
    "normalised over the sentences", {_MEAN: "x.mean(0, keepdim=True)", _VARIANCE: _VARIANCE.replace("-1", "0")}
).says("""
    You took mean and variance over the sentences of the batch. A layer norm takes them over the *features* of each
    word, the last axis, so that one sentence has no influence on another.""")
