"""Lab 5, second part: the one layer that reads in both directions."""

import torch

from misread.exercise import About, Exercise

from ..fakes.layer import fake_layer


def bidirectional_first_layer(x, lengths, forward_layer, backward_layer):
    """Both directions side by side, zeros at padding: (B, T, E), (B,) -> (B, T, 2 · H)."""
    positions = torch.arange(x.shape[1], device=x.device)  # (T,)
    last = lengths[:, None] - 1  # (B, 1)
    turned = torch.where(positions <= last, last - positions, positions)[..., None]  # (B, T, 1)
    forward = forward_layer(x)  # (B, T, H)
    backward = backward_layer(x.gather(1, turned.expand_as(x)))  # (B, T, H), from the last word to the first
    backward = backward.gather(1, turned.expand_as(backward))
    return torch.cat([forward, backward], dim=-1).masked_fill((positions > last)[..., None], 0.0)  # (B, T, 2 · H)


WORDS = ". Both layers read the words of x, with all E features of each"


def _sentences(draw):
    batch, length, wide, half = draw.sizes(4)
    for b, t, e, h in ((batch, length, wide, half), (3, 4, 2, 2), (2, 3, 4, 2), (1, 3, 2, 3)):
        x, lengths = draw.normal(b, t, e), draw.lengths(b, t)
        yield x, lengths, fake_layer(draw, e, h, WORDS), fake_layer(draw, e, h, WORDS)
    yield draw.normal(3, 4, 3), torch.tensor([2, 4, 3]), fake_layer(draw, 3, 3, WORDS), fake_layer(draw, 3, 3, WORDS)


BIDIRECTIONAL_FIRST_LAYER = Exercise(
    bidirectional_first_layer,
    cases=_sentences,
    about=About(points=2, minutes=18, difficulty=2, read_again="Why only one layer reads in both directions"),
)

must = BIDIRECTIONAL_FIRST_LAYER.properties
must(
    "zeros at padding",
    lambda result, x, lengths, *layers: (result[torch.arange(x.shape[1]) >= lengths[:, None]] == 0).all(),
).says("""
    Positions from `lengths` on are padding, and their output must be 0.""")
must(
    "the first half reads forward",
    lambda result, x, lengths, forward, backward: torch.allclose(
        result[..., : result.shape[-1] // 2], forward(x) * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    ),
).says("""
    The first half of the features is what `forward_layer` returns for the sentence as it stands.""")
must(
    "the second half reads backward", lambda result, *args: torch.allclose(result, bidirectional_first_layer(*args))
).says("""
    In the second half, the output at each word depends on this word and on all words behind it. At the last word it
    depends on this word alone.""")

wrong = BIDIRECTIONAL_FIRST_LAYER.mistakes
TURN = "torch.where(positions <= last, last - positions, positions)"
CLEAN = ".masked_fill((positions > last)[..., None], 0.0)"
BACK = "    backward = backward.gather(1, turned.expand_as(backward))\n"
WHOLE = "positions.flip(0).expand(len(x), -1)"
OWN_CLEAN = CLEAN.replace("> last", ">= lengths[:, None]")
BOTH_TURNED = f"""both = torch.cat([forward, backward], dim=-1)
    return both.gather(1, turned.expand_as(both)){CLEAN}"""
ONE_BY_ONE = "torch.cat([backward_layer(word) for word in x.split(1, dim=1)], dim=1)"
CLEARED = "x = x * (positions <= last)[..., None]"
wrong("the backward direction reads padding", {TURN: WHOLE}).says("""
    You reversed the whole rows, so that the backward layer reads the padding first and comes to the words with a
    state that padding has made. Reverse each sentence within its own length.""")
wrong("padding set to 0, and read", {TURN: WHOLE, "    forward =": f"    {CLEARED}\n    forward ="}).says("""
    You set the padding to 0 and reversed the whole rows. A vector of zeros is read like any other, and a layer has a
    bias, so that the backward layer comes to the words with a state that padding has made. Reverse each sentence within
    its own length.""")
wrong("whole rows reversed, and not turned back", {TURN: WHOLE, BACK: ""}).says("""
    You reversed the whole rows, padding first, and left the backward layer's outputs in this order. Reverse each
    sentence within its own length, and reverse the outputs again.""")
wrong("the backward layer unused", {"backward_layer(x.gather(1, turned.expand_as(x)))": "forward"}).says("""
    You reversed the *outputs of the forward layer*, so that both halves have read the sentence in the same
    direction. Reverse the words, and give them to `backward_layer`.""")
wrong("not turned back", {BACK: ""}).says("""
    You forgot to reverse the backward layer's *outputs*. They come in the order in which it has read, last word
    first, so that position t would hold the state of another word.""")
wrong("not reversed", {"x.gather(1, turned.expand_as(x))": "x", BACK: ""}).says("""
    Your backward layer reads the sentence from left to right, as the forward layer does. It must be given the words
    in reverse order, and its outputs must be reversed again.""")
wrong("reversed afterwards only", {"x.gather(1, turned.expand_as(x))": "x"}).says("""
    You reversed the backward layer's outputs, but gave it the words in their usual order. Reverse both: the words
    before the layer, and its outputs after it.""")
wrong(
    "the words reversed as whole rows",
    {"backward_layer(x.gather(1, turned.expand_as(x)))": "backward_layer(x.flip(1))"},
).says("""
    You reversed the outputs within each sentence, but the *words* as whole rows, so that the backward layer reads the
    padding of short sentences first. Reverse both in the same way, within the length of the sentence.""")
wrong(
    "the outputs reversed as whole rows", {"backward.gather(1, turned.expand_as(backward))": "backward.flip(1)"}
).says("""
    You reversed the words within each sentence, but the backward layer's *outputs* as whole rows, so that those of a
    short sentence come to stand behind its end. Reverse both in the same way, within the length of the sentence.""")
wrong(
    "both halves reversed at the end", {BACK: "", f"return torch.cat([forward, backward], dim=-1){CLEAN}": BOTH_TURNED}
).says("""
    You reversed the outputs of both layers, after they had been joined. `forward_layer` has read the sentence as it
    stands, so only the outputs of `backward_layer` are reversed.""")
wrong(
    "the first sentence's length for all",
    {"last = lengths[:, None] - 1": "last = lengths[:1, None] - 1", CLEAN: OWN_CLEAN},
).says(
    """
    You reversed each sentence within the length of the first one of the batch. Each sentence has a length of its
    own."""
)
wrong("reversed about n, not n − 1", {TURN: "(lengths[:, None] - positions).clamp(0, x.shape[1] - 1)"}).says("""
    Your order begins one position too late, at n instead of n − 1. Positions are counted from 0, so the last word of a
    sentence of n words stands at n − 1, and the word for position t is that at n − 1 − t.""")
wrong("the last word set to 0", {CLEAN: CLEAN.replace("> last", ">= last")}).says("""
    You set the last word of each sentence to 0 as well. Positions are counted from 0, so a sentence of n words has
    them at 0 … n − 1, and padding begins at n.""")
wrong(
    "features reversed",
    {
        "x.gather(1, turned.expand_as(x))": "x.flip(-1)",
        "backward.gather(1, turned.expand_as(backward))": "backward.flip(-1)",
    },
).says("""
    You reversed the last axis, which holds the *features* of each word. The order of the words is axis 1.""")
wrong("each word read by itself", {"backward_layer(x.gather(1, turned.expand_as(x)))": ONE_BY_ONE, BACK: ""}).says("""
    You called `backward_layer` for each word alone, so it begins anew at every word and knows nothing of the words
    behind it. Call it once, with all words of a sentence in reverse order.""")
wrong(
    "the backward layer reads the forward outputs",
    {"x.gather(1, turned.expand_as(x))": "forward.gather(1, turned.expand_as(forward))"},
).says("""
    Your backward layer reads the *outputs* of the forward layer. The two are one layer that reads in both directions:
    each of them reads the words themselves.""")
wrong(
    "stacked at the last axis but one",
    {"torch.cat([forward, backward], dim=-1)": "torch.cat([forward, backward], dim=1)", CLEAN: ""},
).says("""
    You joined the two directions along the words, so that the sentence seems twice as long. Join them along the
    last axis, the features.""")
wrong("one layer for both directions", {"backward_layer(": "forward_layer("}).says("""
    You used `forward_layer` for both directions, but each direction has a layer with weights of its own.""")
