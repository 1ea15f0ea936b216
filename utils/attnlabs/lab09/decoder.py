"""Lab 9, fifth part: a layer of the decoder, with attention to itself and to the source."""

import torch

from attnlabs.material.layer_parameters import multi_head_attention
from misread.exercise import About, Exercise

from .encoder import OF_BOTH_LAYERS, ONE_MORE_NORM, ends_as_asked
from .parameters import draw_decoder
from .parts import feed_forward, layer_norm
from .residual import residual_post_norm, residual_pre_norm


def decoder_layer(x, memory, self_mask, memory_mask, layer, norm="post"):
    """Self-attention, cross-attention, feed-forward: x (B, T, D), memory (B, Tk, D) -> (B, T, D)."""
    residual = residual_post_norm if norm == "post" else residual_pre_norm

    def attend_to_target(y):
        return multi_head_attention(y, y, y, *layer.self_attention, self_mask)[0]

    def attend_to_source(y):
        return multi_head_attention(y, memory, memory, *layer.cross_attention, memory_mask)[0]

    def compute(y):
        return feed_forward(y, *layer.feed_forward)

    def norm_1(y):
        return layer_norm(y, *layer.norm_1)

    def norm_2(y):
        return layer_norm(y, *layer.norm_2)

    def norm_3(y):
        return layer_norm(y, *layer.norm_3)

    x = residual(x, attend_to_target, norm_1)  # (B, T, D)
    x = residual(x, attend_to_source, norm_2)  # (B, T, D)
    return residual(x, compute, norm_3)  # (B, T, D)


def _decoders(draw):
    if draw.compact:  # only to be shown
        for norm in ("post", "pre"):
            words, memory, layer = draw.normal(1, 3, 4), draw.normal(1, 2, 4), draw_decoder(draw, 4, 2, 3)
            yield words[:, :2], memory, None, None, layer, norm
            yield (
                words,
                memory,
                torch.ones(1, 3, 3).bool().tril(),
                draw.mask(2, 1, 2, empty_rows=False)[1:],
                layer,
                norm,
            )
        return
    batch, length, keys, hidden = draw.sizes(4)
    dim, heads = (4, 2) if draw.number == 0 else (10, 5)
    for norm in ("post", "pre"):
        empty = draw.number == 1
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        causal = causal & draw.mask(batch + 1, 1, length, empty_rows=empty)[1:]  # (B, T, T)
        source = draw.mask(batch + 1, 1, keys, empty_rows=empty)[1:]  # (B, 1, Tk); not the first: it is open
        words, memory = draw.normal(batch, length, dim), draw.normal(batch, keys, dim)
        yield words, memory, causal, source, draw_decoder(draw, dim, heads, hidden), norm
        layer = draw_decoder(draw, 6, 3, 6)  # square: T = Tk, D = F
        yield draw.normal(3, 3, 6), draw.normal(3, 3, 6), draw.mask(3, 3, 3), draw.mask(3, 3, 3), layer, norm
        first = causal[:1], source[:1]
        yield draw.normal(1, length, 4), draw.normal(1, keys, 4), *first, draw_decoder(draw, 4, 2, hidden + 6), norm
    layer = draw_decoder(draw, 4, 2, 5)
    yield draw.normal(batch, length, 4), draw.normal(batch, keys, 4), None, None, layer, "pre"
    if draw.number > 1:  # two of a kind will do
        return
    for norm in ("post", "pre"):
        words, memory, own = draw.normal(3, length, 6), draw.normal(3, keys, 6), draw.mask(4, length, length)[1:]
        source = draw.mask(4, 1, keys)[1:]  # (3, 1, Tk)
        for mask, other, heads in (
            (None, None, 2),
            (own, None, 2),
            (None, source, 2),
            (own[:1], source, 1),
            (own, source[:1], 1),
        ):
            yield words, memory, mask, other, draw_decoder(draw, 6, heads, 5), norm  # each alone; one for all sentences
        yield words[:, :1], memory, own[:, :1, :1], source, draw_decoder(draw, 6, 2, 5), norm  # one word
        yield 100 * words, 100 * memory, own, source, draw_decoder(draw, 6, 2, 5), norm  # scores of thousands


DECODER_LAYER = Exercise(
    decoder_layer,
    cases=_decoders,
    tolerance=1e-8,
    properties=ends_as_asked("norm_3", "third"),
    about=About(points=4, minutes=20, difficulty=4, read_again="Encoder layer and decoder layer"),
)

_SEEN = "seen = layer_norm(memory, *layer.norm_2) if norm == 'pre' else memory\n\n    def attend_to_source(y):"
_OWN, _ACROSS, _COMPUTE = "x, attend_to_target, norm_1", "x, attend_to_source, norm_2", "x, compute, norm_3"

wrong = DECODER_LAYER.mistakes
wrong += OF_BOTH_LAYERS
wrong("cross-attention starts again from x", {f"    x = residual({_OWN})": f"    own = residual({_OWN})"}).says("""
    Your cross-attention works on the layer's input, so that self-attention has no effect on the result. It must work on
    the result of the first sublayer: `x = residual(x, …)`, each time.""")
_BARE = "norm_2(attend_to_source(x)) if norm == 'post' else attend_to_source(norm_2(x))"
wrong("no residual connection around the cross-attention", {f"residual({_ACROSS})": _BARE}).says("""
    Around your cross-attention there is no residual connection, so that the target's own words are lost there and only
    the source goes on. All three sublayers add their output to x.""")
wrong("masks swapped", {", self_mask)": ", memory_mask )", ", memory_mask)": ", self_mask)"}).says("""
    You exchanged the two masks. The self_mask (B, T, T) says to which words of the *target* a position may
    attend, and the memory_mask (B, 1, Tk) says to which words of the *source*.""")
wrong("self_mask for both", {", memory_mask)": ", self_mask)"}).says("""
    You used self_mask for the cross-attention, too. The whole source is known from the beginning, so that only
    its padding is closed there, by memory_mask.""")
_EARLIER = "torch.ones(1, x.shape[1], memory.shape[1]).bool().tril()"
_CAUSAL = f", {_EARLIER} & (memory_mask is None or memory_mask))"
wrong("cross-attention is causal", {", memory_mask)": _CAUSAL}).says("""
    Your cross-attention is causal, so that word t of the target sees the source only up to position t. The whole source
    is known from the beginning, and every word may attend to all of it: only memory_mask closes something there.""")
wrong("queries from the source", {"(y, memory, memory,": "(memory, y, y,"}).says("""
    In your cross-attention the queries come from the memory, and keys and values from the target. It is the other
    way round: each target position makes a query, and keys and values come from the memory.""")
wrong("values from the target", {"(y, memory, memory,": "(y, memory, y,"}).says("""
    In your cross-attention the keys come from the memory, but the values from the target. Both must come from the
    memory, because a weight belongs to one source word and multiplies that word's value.""")
wrong("keys and values from the target", {"(y, memory, memory,": "(y, y, y,"}).says("""
    Your second attention is another self-attention, because its keys and values come from the target, not from
    the source. In cross-attention both are the memory: (y, memory, memory, …).""")
wrong("memory normalised", {"def attend_to_source(y):": _SEEN, "(y, memory, memory,": "(y, seen, seen,"}).says("""
    With norm="pre" you applied norm_2 to the memory, too. The memory is the finished output of the encoder, so
    that only the sublayer's own argument is normalised.""")
wrong("query of the cross-attention not normalised", {"(y, memory, memory,": "(x, memory, memory,"}).says("""
    The query of your cross-attention is the x of the surrounding function. With norm="pre" it must be the
    normalised x, which is the argument that the sublayer is given.""")
wrong("sublayer's input ignored", {"(y, y, y,": "(x, x, x,"}).says("""
    Your self-attention uses the x of the surrounding function, not the argument that the sublayer is given. With
    norm="pre" this argument is the normalised x, so that here the norm has no effect. Inside the small function
    use its own argument, three times.""")
wrong("source first", {_OWN: "x, attend_to_source, norm_1", _ACROSS: "x, attend_to_target, norm_2"}).says("""
    You applied cross-attention before self-attention. The order is self-attention to the target, cross-attention
    to the source, and then feed-forward.""")
wrong("feed-forward in the middle", {_ACROSS: "x, compute, norm_2", _COMPUTE: "x, attend_to_source, norm_3"}).says("""
    You applied feed-forward between the two attentions. It comes last, after cross-attention, so that it can use
    what both attentions have brought.""")
wrong("feed-forward forgotten", {f"return residual({_COMPUTE})": "return x"}).says("""
    Your layer ends after the two attentions. The feed-forward sublayer must follow, with its residual connection
    and norm_3.""")
wrong("the same attention twice", {"*layer.cross_attention": "*layer.self_attention"}).says("""
    You used the parameters of the self-attention for the cross-attention, too. The layer has two attentions, each
    with four matrices of its own.""")
wrong("first norm twice", {_ACROSS: "x, attend_to_source, norm_1"}).says("""
    You used norm_1 around the cross-attention, too. The norms follow the order of the sublayers: norm_1 for
    self-attention, norm_2 for cross-attention, and norm_3 for feed-forward.""")
wrong("one norm for all", {_ACROSS: "x, attend_to_source, norm_1", _COMPUTE: "x, compute, norm_1"}).says("""
    You used norm_1 for all three sublayers. Each of them has a norm of its own: norm_1, norm_2 and norm_3.""")
wrong("last norm for all", {_OWN: "x, attend_to_target, norm_3", _ACROSS: "x, attend_to_source, norm_3"}).says("""
    You used norm_3 for all three sublayers. If you made the functions in a loop: a function looks up the loop's
    variable when it is *called*, and by then this is the last one. Write out the three: norm_1, norm_2 and norm_3.""")
_SECOND_TWICE = {_COMPUTE: "x, compute, norm_2"}
wrong("second norm twice", _SECOND_TWICE).says("""
    You used norm_2 around feed-forward, too. The norms follow the order of the sublayers: norm_1 for self-attention,
    norm_2 for cross-attention, and norm_3 for feed-forward.""")
wrong("third norm twice", {_ACROSS: "x, attend_to_source, norm_3"}).says("""
    You used norm_3 around the cross-attention, too. The norms follow the order of the sublayers: norm_1 for
    self-attention, norm_2 for cross-attention, and norm_3 for feed-forward.""")
wrong("second and third norm exchanged", {_ACROSS: "x, attend_to_source, norm_3", **_SECOND_TWICE}).says("""
    You exchanged norm_2 and norm_3. The norms follow the order of the sublayers: cross-attention comes with norm_2, and
    feed-forward with norm_3.""")
wrong(
    "first and second norm exchanged", {_OWN: "x, attend_to_target, norm_2", _ACROSS: "x, attend_to_source, norm_1"}
).says("""
    You exchanged norm_1 and norm_2. The norms follow the order of the sublayers: self-attention comes with norm_1, and
    cross-attention with norm_2.""")
wrong("source first, each with its own norm", {_OWN: "x, attend_to_source,  norm_2", _ACROSS: _OWN}).says("""
    You applied cross-attention before self-attention. The order is self-attention to the target, cross-attention
    to the source, and then feed-forward, with norm_1, norm_2 and norm_3.""")
wrong("feed-forward in the middle, with its own norm", {_ACROSS: "x, compute,  norm_3", _COMPUTE: _ACROSS}).says("""
    You applied feed-forward between the two attentions. It comes last, with norm_3, so that it can use what both
    attentions have brought.""")
wrong("the cross-attention's parameters for both", {"*layer.self_attention": "*layer.cross_attention"}).says("""
    You used the parameters of the cross-attention for the self-attention, too. The layer has two attentions, each with
    four matrices of its own.""")
_SWAPPED = {"*layer.self_attention": "*layer.cross_attention ", "*layer.cross_attention,": "*layer.self_attention,"}
wrong("parameters of the two attentions exchanged", _SWAPPED).says("""
    You exchanged the parameters of the two attentions. The attention within the target uses layer.self_attention, and
    the attention to the memory uses layer.cross_attention.""")
_FIRST_X = {"    residual = ": "    first = x\n    residual = ", "(y, memory, memory,": "(first, memory, memory,"}
wrong("cross-attention's query is the layer's input", _FIRST_X).says("""
    The query of your cross-attention is the x that the *layer* was given, so that it knows nothing of what
    self-attention has brought. What it must take comes as the small function's own argument: use that.""")
_ALWAYS = {"def attend_to_source(y):": _SEEN.replace(" if norm == 'pre' else memory", "")}
wrong("memory normalised with either norm", {**_ALWAYS, "(y, memory, memory,": "(y, seen, seen,"}).says("""
    You applied norm_2 to the memory. The memory is the finished output of the encoder, so that keys and values come
    from it as it is.""")
_BARE = "norm_1(attend_to_target(x)) if norm == 'post' else attend_to_target(norm_1(x))"
wrong("no residual connection around the self-attention", {f"residual({_OWN})": _BARE}).says("""
    Around your self-attention there is no residual connection: what it is given isn't added to its output. All three
    sublayers are called through one of your two residual functions.""")
_BARE = "norm_3(compute(x)) if norm == 'post' else compute(norm_3(x))"
wrong("no residual connection around feed-forward", {f"residual({_COMPUTE})": _BARE}).says("""
    Around your feed-forward sublayer there is no residual connection: what it is given isn't added to its output. All
    three sublayers are called through one of your two residual functions.""")
_EARLIER = "torch.ones(1, x.shape[1], x.shape[1]).bool().tril()"
wrong(
    "causal without being asked", {", self_mask)": f", {_EARLIER} if self_mask is None else self_mask & {_EARLIER})"}
).says("""
    Your layer makes its self-attention causal by itself. The mask that it is given says this already: pass `self_mask`
    to the attention as it is, also if it is None.""")
_ENDED = f"x = residual({_COMPUTE})\n    return x if norm == 'post' else F.layer_norm(x, x.shape[-1:])"
wrong("one more norm at the end", {f"return residual({_COMPUTE})": _ENDED}).says(ONE_MORE_NORM)
