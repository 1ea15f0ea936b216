"""What goes wrong in a decoder layer: the known mistakes of lab 9's longest exercise."""

from __future__ import annotations

from ..engine.exercise import Mistakes
from .encoder import FEED_FORWARD_FROM_OUTSIDE, WRONG_WAY_AROUND

# The layer in its three steps, for mistakes that put them together wrongly.
_OWN = "lambda y: multi_head_attention(y, y, y, *layer.self_attention, self_mask)[0]"
_ACROSS = "lambda y: multi_head_attention(y, memory, memory, *layer.cross_attention, memory_mask)[0]"
_COMPUTE = "lambda y: feed_forward(y, *layer.feed_forward)"
_AROUND = "around = residual_post_norm if norm == 'post' else residual_pre_norm\n"


def _in_turn(*steps):
    """A body that goes around the given sublayers, each with the norm of that number."""
    lines = [f"x = around(x, {step}, lambda y: layer_norm(y, *layer.norm_{number}))" for step, number in steps]
    return _AROUND + "\n".join(lines) + "\nreturn x"


def _without_way_around(number):
    """A body in which one of the sublayers has a norm, but nothing goes around it."""
    lines = []
    for i, step in enumerate((_OWN, _ACROSS, _COMPUTE), start=1):
        normed = f"lambda y: layer_norm(y, *layer.norm_{i})"
        lines.append(f"f, n = {step}, {normed}")
        lines.append("x = f(n(x)) if norm == 'pre' else n(f(x))" if i == number else "x = around(x, f, n)")
    return _AROUND + "\n".join(lines) + "\nreturn x"


wrong = _MASKS = Mistakes()
wrong("weights handed on", {"*layer.self_attention, self_mask)[0]": "*layer.self_attention, self_mask)"}).says("""
    You handed on both results of an attention, output and weights, as the sublayer's answer. A tuple can't be added
    to x: take the output, `[0]`.""")
wrong("the future left open", {", self_mask)[0]": ")[0]"}).says("""
    You did not hand self_mask to the attention within the target. Each word could read off the words that come after
    it, one of which it is to write.""")
wrong("source padding left open", {", memory_mask)[0]": ")[0]"}).says("""
    You did not hand memory_mask to the attention to the source, so words look at the source's padding.""")
wrong("both masks forgotten", {", self_mask)[0]": ")[0]", ", memory_mask)[0]": ")[0]"}).says("""
    Neither attention got its mask: self_mask belongs to the one within the target, memory_mask to the one to the
    source.""")
wrong(
    "masks swapped",
    {
        "layer.self_attention, self_mask": "layer.self_attention, memory_mask",
        "layer.cross_attention, memory_mask": "layer.cross_attention, self_mask",
    },
).says("""
    You swapped the masks. self_mask (B, T, T) says which words of the *target* may be seen, memory_mask (B, 1, Tk)
    which of the *source*.""")
wrong("self_mask for both", {"layer.cross_attention, memory_mask": "layer.cross_attention, self_mask"}).says("""
    You used self_mask for the source too. The whole source is known from the beginning: only its padding is closed,
    by memory_mask.""")
wrong(
    "masks the wrong way round",
    {
        ", self_mask)[0]": ", None if self_mask is None else ~self_mask)[0]",
        ", memory_mask)[0]": ", None if memory_mask is None else ~memory_mask)[0]",
    },
).says("""
    You turned the masks round. True means *may attend*, here and in `multi_head_attention`.""")

wrong = _SOURCE = Mistakes()
wrong("the source asks", {"(y, memory, memory,": "(memory, y, y,"}).says("""
    You let the source ask and the target answer. The query is the word that is being written; keys and values are the
    memory, what the encoder read.""")
wrong("values from the target", {"(y, memory, memory,": "(y, memory, y,"}).says("""
    You compared with the memory but fetched from the target. Key and value both come from the memory.""")
wrong("keys from the target", {"(y, memory, memory,": "(y, y, memory,"}).says("""
    You fetched from the memory but compared with the target. Key and value both come from the memory.""")
wrong(
    "the source never seen",
    {"(y, memory, memory,": "(y, y, y,", "cross_attention, memory_mask": "cross_attention, self_mask"},
).says("""
    Your second attention looks at the target again: the memory is not used. Its key and value are the memory.""")
wrong("the source never seen, but its mask", {"(y, memory, memory,": "(y, y, y,"}).says("""
    Your second attention looks at the target again, with the source's mask. Key and value come from the memory: (y,
    memory, memory, …). Then memory_mask fits.""")
wrong(
    "memory normalised in both",
    {
        "def look_at_source(y):": "seen = layer_norm(memory, *layer.norm_2)\n\n    def look_at_source(y):",
        "(y, memory, memory,": "(y, seen, seen,",
    },
).says("""
    You sent the memory through norm_2. It comes finished from the encoder, and no norm of this layer touches it: key
    and value are the memory as it is.""")
wrong(
    "memory normalised",
    {
        "def look_at_source(y):": "seen = layer_norm(memory, *layer.norm_2) if norm == 'pre' else memory\n\n"
        "    def look_at_source(y):",
        "(y, memory, memory,": "(y, seen, seen,",
    },
).says("""
    With norm="pre" you normalised the memory as well, with norm_2. The memory comes normalised from the encoder's
    end; only what the sublayer is given, y, goes through its norm.""")

wrong = _INPUTS = Mistakes()
wrong.append(FEED_FORWARD_FROM_OUTSIDE)
wrong("the source asked without the norm", {"(y, memory, memory,": "(x, memory, memory,"}).says("""
    With norm="pre" the query of your cross-attention is the x from outside: norm_2 has no effect. The query is what
    the sublayer is given, y.""")
wrong(
    "sublayer's input ignored",
    {"def look_at_target(y):": "outside = x\n\n    def look_at_target(y):", "(y, y, y,": "(outside, outside, outside,"},
).says("""
    With norm="pre" your self-attention looks at the x from outside, not at what the sublayer is given: the norm
    before it has no effect. Inside the little function use its own argument, three times.""")
wrong(
    "keys and values not normalised",
    {"def look_at_target(y):": "old = x\n\n    def look_at_target(y):", "(y, y, y,": "(y, old, old,"},
).says("""
    With norm="pre" only the query of your self-attention is normalised: key and value are still the x from outside.
    All three come from the sublayer's own input, the y that it is given.""")
wrong(
    "normalised at the end as well",
    {
        "return around(x, compute, norm_3)": "x = around(x, compute, norm_3)\n"
        "    return norm_3(x) if norm == 'pre' else x"
    },
).says("""
    With norm="pre" you normalised the layer's result once more. In pre-norm only the whole stack has a norm at its
    end, and that is one of its own.""")

wrong = _ORDER = Mistakes()
wrong(
    "source asked with the old x",
    "start = x\n" + _in_turn((_OWN, 1), (_ACROSS.replace("(y, memory", "(start, memory"), 2), (_COMPUTE, 3)),
).says("""
    You asked the source with the x from outside, not with what the first sublayer left. The words must know of each
    other before they ask.""")
wrong(
    "way around the source from the start",
    _AROUND + f"h = around(x, {_OWN}, lambda y: layer_norm(y, *layer.norm_1))\n"
    f"h = around(x, {_ACROSS.replace('(y, memory', '(h, memory')}, lambda y: layer_norm(y, *layer.norm_2))\n"
    f"return around(h, {_COMPUTE}, lambda y: layer_norm(y, *layer.norm_3))",
).says("""
    You kept what the first sublayer left under another name, and went around the second with the x from the very
    beginning. Each sublayer goes on with what the one before it left: `x = around(x, …)`, three times.""")
wrong(
    "source first",
    {
        "around(x, look_at_target, norm_1)": "around(x, look_at_source, norm_1)",
        "around(x, look_at_source, norm_2)": "around(x, look_at_target, norm_2)",
    },
).says("""
    You looked at the source before the target. First the words written so far, then the source, then the feed-forward
    sublayer.""")
wrong("source first, each with its own norm", _in_turn((_ACROSS, 2), (_OWN, 1), (_COMPUTE, 3))).says("""
    You looked at the source first. The words written so far come first: what to ask the source depends on them.""")
wrong("feed-forward in the middle", _in_turn((_OWN, 1), (_COMPUTE, 3), (_ACROSS, 2))).says("""
    You put the feed-forward sublayer between the two attentions. It comes last.""")
wrong("feed-forward forgotten", {"return around(x, compute, norm_3)": "return x"}).says("""
    Your layer ends after the attentions. The feed-forward sublayer follows, with norm_3.""")
wrong("an encoder layer", {"x = around(x, look_at_source, norm_2)": "x = x"}).says("""
    Nothing of the attention to the source is in your result: left out, or thrown away. Without it this is an encoder
    layer: the decoder writes without having read anything.""")
wrong("self-attention forgotten", {"x = around(x, look_at_target, norm_1)": "x = x"}).says("""
    Nothing of the attention within the target is in your result: either it was never called, or what it left was
    thrown away. Each sublayer works on what the one before it left: `x = …`.""")

wrong = _PARAMETERS = Mistakes()
wrong("the same attention twice", {"*layer.cross_attention": "*layer.self_attention"}).says("""
    You used the parameters of the self-attention for the source too. There are two attentions, each with its own four
    matrices.""")
wrong(
    "parameters of the attentions swapped",
    {
        "*layer.self_attention, self_mask": "*layer.cross_attention, self_mask",
        "*layer.cross_attention, memory_mask": "*layer.self_attention, memory_mask",
    },
).says("""
    You used cross_attention within the target and self_attention to the source. It is the other way round.""")
wrong(
    "norms out of order", {"look_at_source, norm_2": "look_at_source, norm_3", "compute, norm_3": "compute, norm_2"}
).says("""
    You swapped norm_2 and norm_3. The sublayers' norms go in order: target 1, source 2, feed-forward 3.""")
wrong("first norm twice", {"look_at_source, norm_2": "look_at_source, norm_1"}).says("""
    You used norm_1 around the cross-attention as well. The sublayers' norms go in order: target 1, source 2,
    feed-forward 3.""")
wrong("second norm twice", {"compute, norm_3": "compute, norm_2"}).says("""
    You used norm_2 around the feed-forward sublayer as well. It has a norm of its own, norm_3.""")
wrong("first norm at the end", {"compute, norm_3": "compute, norm_1"}).says("""
    You used norm_1 around the feed-forward sublayer. It is the third, and has norm_3.""")
wrong("second norm at the start", {"look_at_target, norm_1": "look_at_target, norm_2"}).says("""
    You used norm_2 around the self-attention. It is the first sublayer, and has norm_1.""")
wrong(
    "one norm for all", {"look_at_source, norm_2": "look_at_source, norm_1", "compute, norm_3": "compute, norm_1"}
).says("""
    You used norm_1 for all three sublayers. Each has a norm of its own.""")
wrong += WRONG_WAY_AROUND

wrong = _AROUND_THEM = Mistakes()
wrong("no way around the first attention", _without_way_around(1)).says("""
    There is no residual connection around your attention within the target.""")
wrong("no way around the second attention", _without_way_around(2)).says("""
    There is no residual connection around your attention to the source: the words forget what they were.""")
wrong(
    "no way around the second attention, norm behind it",
    _in_turn((_OWN, 1)).replace("return x", f"f, n = {_ACROSS}, lambda y: layer_norm(y, *layer.norm_2)\nx = n(f(x))\n")
    + _in_turn((_COMPUTE, 3)),
).says("""
    Nothing goes around your attention to the source, and its norm stands behind it whatever `norm` says. Use `around`
    there as for the other two: the words forget what they were.""")
wrong(
    "the second attention alone",
    _in_turn((_OWN, 1)).replace("return x", f"f = {_ACROSS}\nx = f(x)\n") + _in_turn((_COMPUTE, 3)),
).says("""
    Neither a way nor a norm goes around your attention to the source. Use `around` there as for the other two, with
    norm_2.""")
wrong("no way around the feed-forward", _without_way_around(3)).says("""
    There is no residual connection around your feed-forward sublayer.""")
wrong(
    "last residual from the start",
    _AROUND
    + "start, f = x, "
    + _COMPUTE
    + "\n"
    + _in_turn((_OWN, 1), (_ACROSS, 2)).replace("return x", "if norm == 'pre':")
    + "\n    return start + f(layer_norm(x, *layer.norm_3))\nreturn layer_norm(start + f(x), *layer.norm_3)",
).says("""
    Around the feed-forward sublayer you added the x from the very beginning. What goes around it is what the
    attention to the source left.""")

DECODER_MISTAKES = Mistakes([*_MASKS, *_SOURCE, *_INPUTS, *_ORDER, *_PARAMETERS, *_AROUND_THEM])
