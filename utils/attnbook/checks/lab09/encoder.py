"""Lab 9, fourth part: a layer of the encoder."""

from __future__ import annotations

from attnbook.lab_material.layer_parameters import multi_head_attention

from ..engine.exercise import Exercise, Mistakes, Property
from .parameters import draw_encoder
from .parts import feed_forward, layer_norm
from .residual import residual_post_norm, residual_pre_norm


def encoder_layer(x, mask, layer, norm="post"):
    around = residual_post_norm if norm == "post" else residual_pre_norm

    def attend(y):
        return multi_head_attention(y, y, y, *layer.attention, mask)[0]

    def compute(y):
        return feed_forward(y, *layer.feed_forward)

    def first_norm(y):
        return layer_norm(y, *layer.norm_1)

    def second_norm(y):
        return layer_norm(y, *layer.norm_2)

    x = around(x, attend, first_norm)  # (B, T, D)
    return around(x, compute, second_norm)  # (B, T, D)


def _encoders(draw):
    batch, length, hidden = draw.sizes(3)
    dim, heads = (4, 2) if draw.number == 0 else (10, 5)
    for norm in ("post", "pre"):
        for B, T, D, H, F in ((batch, length, dim, heads, hidden), (2, 3, 6, 3, 6), (1, length, 4, 2, hidden + 6)):
            layer = draw_encoder(draw, D, H, F)
            mask = draw.mask(B + 1, 1, T, empty_rows=B == 2 or draw.number == 1)[1:]  # not the first: it is open
            yield draw.normal(B, T, D), mask, layer, norm
        yield draw.normal(batch, 3, 4), draw.mask(batch, 3, 3), draw_encoder(draw, 4, 2, 5), norm
    yield draw.normal(2, length, 4), None, draw_encoder(draw, 4, 2, 5), "pre"
    yield draw.normal(2, length, 6), None, draw_encoder(draw, 6, 2, 5), "post"  # three features a head
    if draw.number > 1:  # two of a kind will do
        return
    for norm in ("post", "pre"):
        words = draw.normal(3, length, 6)
        yield words, draw.mask(2, 1, length, empty_rows=False)[1:], draw_encoder(draw, 6, 2, 5), norm  # for all alike
        yield words, draw.mask(2, length, length)[1:], draw_encoder(draw, 6, 1, 5), norm  # one head
        yield draw.normal(3, 1, 6), draw.order(3)[:, None, None] > 0, draw_encoder(draw, 6, 2, 5), norm  # one word
        yield 100 * words, draw.mask(3, length, length), draw_encoder(draw, 6, 2, 5), norm  # scores of thousands


def ends_as_asked(norm: str, which: str) -> list[Property]:
    """What a layer whose last norm is called `norm`, the `which` one, must end with: a norm, or a sum."""

    def mean(result, layer):
        return ((result - getattr(layer, norm).bias) / getattr(layer, norm).gain).mean(-1).abs().max()

    return [
        Property(
            "post-norm ends with a norm",
            f'With norm="post" the last thing that happens is the {which} norm: take off its bias and its gain, and '
            "each word's features must have mean 0.",
            lambda result, *args: args[-1] == "pre" or mean(result, args[-2]) < 1e-6,
        ),
        Property(
            "pre-norm ends with a sum",
            'With norm="pre" nothing is normalised at the end. Your result still has the mean of a norm.',
            lambda result, *args: args[-1] == "post" or mean(result, args[-2]) > 1e-6,
        ),
    ]


ENCODER_LAYER = Exercise(encoder_layer, cases=_encoders, tolerance=1e-8, properties=ends_as_asked("norm_2", "second"))

_STRAIGHT = "= lambda x, sublayer, n: n(sublayer(x)) if norm == 'post' else sublayer(n(x))"

wrong = OF_BOTH_LAYERS = Mistakes()
wrong("post and pre swapped", {'if norm == "post"': 'if norm == "pre"'}).says("""
    You took pre-norm for "post" and the other way round.""")
wrong("no way around at all", {'= residual_post_norm if norm == "post" else residual_pre_norm': _STRAIGHT}).says("""
    Your layer has no residual connections. Go around each sublayer with your own functions.""")
wrong("feed-forward's input ignored", {"return feed_forward(y,": "return feed_forward(x,"}).says("""
    With norm="pre" your feed-forward sublayer computes with the x from outside, not with what it is given: the norm
    before it has no effect. Inside the little function use its own argument.""")

_FIRST, _SECOND = "around(x, attend, first_norm)", "around(x, compute, second_norm)"

wrong = ENCODER_LAYER.mistakes
wrong += OF_BOTH_LAYERS
wrong("weights handed on", {"*layer.attention, mask)[0]": "*layer.attention, mask)"}).says("""
    You handed on both results of the attention, output and weights, as the sublayer's answer. A tuple can't be added
    to x: take the output, `[0]`.""")
wrong("sublayer's input ignored", {"(y, y, y,": "(x, x, x,"}).says("""
    With norm="pre" your attention looks at the x from outside, not at what the sublayer is given: the norm before it
    has no effect. Inside the little function use its own argument, three times.""")
wrong("keys and values not normalised", {"(y, y, y,": "(y, x, x,"}).says("""
    With norm="pre" only your query is normalised: key and value are still the x from outside. In self-attention all
    three come from the sublayer's own input, the y that it is given.""")
wrong("first norm twice", {"compute, second_norm": "compute, first_norm"}).says("""
    You used norm_1 for both sublayers. Each has a norm of its own.""")
wrong("feed-forward first", {"x, attend, ": "x, compute, ", "x, compute, s": "x, attend, s"}).says("""
    You computed first and attended afterwards. Words fetch from each other first; then each works on what it got.""")
wrong("feed-forward first, each with its own norm", {_SECOND: _FIRST, f"x = {_FIRST}": f"x = {_SECOND}"}).says("""
    You computed first and attended afterwards. Attention comes first: words fetch from each other, then each works on
    what it got.""")
wrong("feed-forward forgotten", {f"return {_SECOND}": "return x"}).says("""
    Your layer ends after the attention. The feed-forward sublayer follows, with norm_2.""")
