"""Lab 9, fourth part: a layer of the encoder."""

from __future__ import annotations

from attnbook.lab_material.layer_parameters import multi_head_attention

from ..engine.exercise import Exercise, Mistake, Mistakes, Property
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


# Of both layers: the x that the little function is not given.
FEED_FORWARD_FROM_OUTSIDE = Mistake(
    "feed-forward's input ignored",
    'With norm="pre" your feed-forward sublayer computes with the x from outside, not with what it is given: the '
    "norm before it has no effect. Inside the little function use its own argument.",
    {"return feed_forward(y,": "return feed_forward(x,"},
)

# Of both layers: the decoder's chooses its way around as the encoder's does.
wrong = WRONG_WAY_AROUND = Mistakes()
wrong(
    "always post-norm", {'residual_post_norm if norm == "post" else residual_pre_norm': "residual_post_norm"}
).says("""
    Your layer does the same for norm="pre" as for "post". Choose the way around by the argument.""")
wrong("always pre-norm", {'residual_post_norm if norm == "post" else residual_pre_norm': "residual_pre_norm"}).says("""
    Your layer does the same for norm="post" as for "pre". Choose the way around by the argument.""")
wrong("post and pre swapped", {'if norm == "post"': 'if norm == "pre"'}).says("""
    You took pre-norm for "post" and the other way round.""")

ENCODER_LAYER = Exercise(
    encoder_layer,
    cases=_encoders,
    tolerance=1e-8,
    properties=[
        Property(
            "post-norm ends with a norm",
            'With norm="post" the last thing that happens is the second norm: take off its bias and its gain, and '
            "each word's features must have mean 0.",
            lambda result, x, mask, layer, norm: (
                norm == "pre" or ((result - layer.norm_2.bias) / layer.norm_2.gain).mean(-1).abs().max() < 1e-6
            ),
        ),
        Property(
            "pre-norm ends with a sum",
            'With norm="pre" nothing is normalised at the end. Your result still has the mean of a norm.',
            lambda result, x, mask, layer, norm: (
                norm == "post" or ((result - layer.norm_2.bias) / layer.norm_2.gain).mean(-1).abs().max() > 1e-6
            ),
        ),
    ],
)

wrong = ENCODER_LAYER.mistakes
wrong("weights handed on", {"*layer.attention, mask)[0]": "*layer.attention, mask)"}).says("""
    You handed on both results of the attention, output and weights, as the sublayer's answer. A tuple can't be added
    to x: take the output, `[0]`.""")
wrong("mask forgotten", {", mask)[0]": ")[0]"}).says("""
    You did not hand the mask to the attention, so words look at padding.""")
wrong("mask the wrong way round", {", mask)[0]": ", None if mask is None else ~mask)[0]"}).says("""
    You turned the mask round. True means *may attend*, here and in `multi_head_attention`.""")
wrong += WRONG_WAY_AROUND
wrong.append(FEED_FORWARD_FROM_OUTSIDE)
wrong(
    "sublayer's input ignored",
    {"def attend(y):": "outside = x\n\n    def attend(y):", "(y, y, y,": "(outside, outside, outside,"},
).says("""
    With norm="pre" your attention looks at the x from outside, not at what the sublayer is given: the norm before it
    has no effect. Inside the little function use its own argument, three times.""")
wrong(
    "keys and values not normalised",
    {"def attend(y):": "outside = x\n\n    def attend(y):", "(y, y, y,": "(y, outside, outside,"},
).says("""
    With norm="pre" only your query is normalised: key and value are still the x from outside. In self-attention all
    three come from the sublayer's own input, the y that it is given.""")
wrong(
    "values not normalised", {"def attend(y):": "outside = x\n\n    def attend(y):", "(y, y, y,": "(y, y, outside,"}
).says("""
    With norm="pre" your query and key are normalised, the value isn't. All three come from the sublayer's own input.""")
wrong(
    "norms swapped", {"attend, first_norm": "attend, second_norm", "compute, second_norm": "compute, first_norm"}
).says("""
    You used norm_2 around the attention and norm_1 around the feed-forward sublayer. They go in order.""")
wrong("first norm twice", {"compute, second_norm": "compute, first_norm"}).says("""
    You used norm_1 for both sublayers. Each has a norm of its own.""")
wrong("second norm twice", {"attend, first_norm": "attend, second_norm"}).says("""
    You used norm_2 for both sublayers. Each has a norm of its own.""")
wrong(
    "feed-forward first",
    "around = residual_post_norm if norm == 'post' else residual_pre_norm\n"
    "x = around(x, lambda y: feed_forward(y, *layer.feed_forward), lambda y: layer_norm(y, *layer.norm_1))\n"
    "return around(x, lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0],\n"
    "              lambda y: layer_norm(y, *layer.norm_2))",
).says("""
    You computed first and attended afterwards. Words fetch from each other first; then each works on what it got.""")
wrong(
    "feed-forward first, each with its own norm",
    "around = residual_post_norm if norm == 'post' else residual_pre_norm\n"
    "x = around(x, lambda y: feed_forward(y, *layer.feed_forward), lambda y: layer_norm(y, *layer.norm_2))\n"
    "return around(x, lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0],\n"
    "              lambda y: layer_norm(y, *layer.norm_1))",
).says("""
    You computed first and attended afterwards. Attention comes first: words fetch from each other, then each works on
    what it got.""")
wrong("feed-forward forgotten", {"return around(x, compute, second_norm)": "return x"}).says("""
    Your layer ends after the attention. The feed-forward sublayer follows, with norm_2.""")
wrong("attention forgotten", {"x = around(x, attend, first_norm)": "x = x"}).says("""
    Nothing of the attention is in your result: either it was never called, or what it left was thrown away. The
    second sublayer works on what the first one left: `x = …`.""")
wrong(
    "side by side",
    "outs = []\n"
    "for f, parts in ((lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0], layer.norm_1),\n"
    "                 (lambda y: feed_forward(y, *layer.feed_forward), layer.norm_2)):\n"
    "    outs.append(f(layer_norm(x, *parts) if norm == 'pre' else x))\n"
    "total = x + outs[0] + outs[1]\n"
    "return total if norm == 'pre' else layer_norm(total, *layer.norm_2)",
).says("""
    You let both sublayers start from the same x and added up what they give. Some later models do; here the second
    works on what the first left.""")
wrong(
    "second residual from the start",
    "start, around = x, residual_post_norm if norm == 'post' else residual_pre_norm\n"
    "x = around(x, lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0],\n"
    "           lambda y: layer_norm(y, *layer.norm_1))\n"
    "if norm == 'pre':\n"
    "    return start + feed_forward(layer_norm(x, *layer.norm_2), *layer.feed_forward)\n"
    "return layer_norm(start + feed_forward(x, *layer.feed_forward), *layer.norm_2)",
).says("""
    Around the feed-forward sublayer you added the x from the very beginning. What goes around it is what the
    attention sublayer left.""")
wrong(
    "no way around the attention",
    "x = layer_norm(x, *layer.norm_1) if norm == 'pre' else x\n"
    "x = multi_head_attention(x, x, x, *layer.attention, mask)[0]\n"
    "x = layer_norm(x, *layer.norm_1) if norm == 'post' else x\n"
    "around = residual_post_norm if norm == 'post' else residual_pre_norm\n"
    "return around(x, lambda y: feed_forward(y, *layer.feed_forward), lambda y: layer_norm(y, *layer.norm_2))",
).says("""
    There is no residual connection around your attention.""")
wrong(
    "no way around the feed-forward",
    {
        "return around(x, compute, second_norm)": "if norm == 'pre':\n"
        "        return compute(second_norm(x))\n    return second_norm(compute(x))"
    },
).says("""
    There is no residual connection around your feed-forward sublayer.""")
wrong(
    "no way around at all",
    "for f, parts in ((lambda y: multi_head_attention(y, y, y, *layer.attention, mask)[0], layer.norm_1),\n"
    "                 (lambda y: feed_forward(y, *layer.feed_forward), layer.norm_2)):\n"
    "    x = f(layer_norm(x, *parts)) if norm == 'pre' else layer_norm(f(x), *parts)\n"
    "return x",
).says("""
    Your layer has no residual connections. Go around both sublayers with your own functions.""")
wrong(
    "normalised at the end as well",
    {
        "return around(x, compute, second_norm)": "x = around(x, compute, second_norm)\n"
        "    return second_norm(x) if norm == 'pre' else x"
    },
).says("""
    With norm="pre" you normalised the layer's result once more. In pre-norm only the whole stack has a norm at its
    end, and that is one of its own.""")
