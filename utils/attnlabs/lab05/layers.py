"""Lab 5, first part: a stack of layers with residual connections, and the one layer that reads both ways."""

import torch

from misread.exercise import About, Exercise

from ..fakes.layer import fake_layer


def residual_stack(x, context, layers, first_residual):
    """All layers, with residual connections from number first_residual on: (B, T, E) -> (B, T, D)."""
    for number, layer in enumerate(layers, start=1):
        inputs = x if context is None else torch.cat([x, context], dim=-1)  # (B, T, D + C)
        out = layer(inputs)  # (B, T, D)
        x = x + out if number >= first_residual else out
    return x


JOINED = ". With a context, every layer reads [x; context], joined along the features"


def _stacks(draw):
    batch, length, wide, dim, extra = draw.sizes(5)
    shapes = [(wide, dim, 0, 4, 3), (wide, dim, extra, 4, 3), (dim, dim, extra, 3, 2)]
    shapes += [(dim, dim, 0, 3, 1), (dim, dim, dim, 3, 3), (dim, dim, dim, 2, 3), (dim, dim, 0, 1, 1)]
    for e, d, c, depth, first in shapes:
        layers = [fake_layer(draw, (d if i else e) + c, d, JOINED if c else "") for i in range(depth)]
        yield draw.normal(batch, length, e), draw.normal(batch, length, c) if c else None, layers, first
    layers = [fake_layer(draw, 2, 1, JOINED) for _ in range(2)]
    yield draw.normal(1, 1, 1), draw.normal(1, 1, 1), layers, 2  # one word, one feature


RESIDUAL_STACK = Exercise(
    residual_stack, cases=_stacks, about=About(points=3, minutes=19, difficulty=3, read_again="The whole model in code")
)

must = RESIDUAL_STACK.properties
must(
    "no residual connection below the first",
    lambda result, x, context, layers, first: (
        len(layers) >= first or torch.allclose(result, residual_stack(x, context, layers, first))
    ),
).says("""
    If `first_residual` is higher than the number of layers, each layer's output is simply the input of the next
    one.""")
must(
    "output plus input in each layer",
    lambda result, x, context, layers, first: (
        len(layers) < first or torch.allclose(result, residual_stack(x, context, layers, first))
    ),
).says("""
    Each layer from `first_residual` on returns its output plus its own input x, and the next layer reads this sum.""")

wrong = RESIDUAL_STACK.mistakes
SUM = "x + out if number >= first_residual else out"
wrong("no residual connection", {SUM: "out"}).says("""
    Your stack has no residual connection at all. From layer `first_residual` on, a layer's input is added to its
    output, so that the gradient has a path that avoids the layer.""")
wrong("one layer too late", {">= first": "> first"}).says("""
    Your residual connections begin one layer too late. Layers are counted from 1, and layer number `first_residual`
    is itself the first one that has a residual connection.""")
wrong("one layer too early", {">= first_residual": ">= max(first_residual - 1, 1)"}).says("""
    Your residual connections begin one layer too early. Layers are counted from 1, so that the layer at index i of
    the list has the number i + 1.""")
wrong("only one residual connection", {">= first": "== first"}).says("""
    Only layer `first_residual` has a residual connection in your stack, but all layers above it have one, too.""")
wrong(
    "added to the first input",
    {"    for number": "    first_input = x\n    for number", "x + out if": "first_input + out if"},
).says("""
    You added the input of the *whole stack* in each layer. What is added is the input of the layer itself, which is
    the output of the layer below it.""")


def _one_sum_around_the_stack(x, context, layers, first_residual):
    below = x
    for layer in layers:
        x = layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
    return x + below


wrong("one sum around the whole stack", _one_sum_around_the_stack).says("""
    You added the input of the stack to the output of the stack, once. Each layer from `first_residual` on has a
    residual connection of its own, around this layer alone.""")


def _one_sum_around_the_upper_layers(x, context, layers, first_residual):
    below = 0
    for number, layer in enumerate(layers, start=1):
        below = x if number == first_residual else below
        x = layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
    return x + below


wrong("one sum around the upper layers", _one_sum_around_the_upper_layers).says("""
    You kept the input of layer `first_residual` and added it once, to the output of the stack. Each layer from
    `first_residual` on has a residual connection of its own, around this layer alone.""")
wrong(
    "the sum not passed on",
    {SUM: "out", "return x": "return x if len(layers) < first_residual else x + inputs[..., : x.shape[-1]]"},
).says(
    """
    You added the input in the top layer only. The sum of one layer is the input of the next one, so keep it in the
    variable that the next layer reads."""
)


def _first_input_added_everywhere(x, context, layers, first_residual):
    skip = 0
    for number, layer in enumerate(layers, start=1):
        skip = x if number == first_residual else skip
        out = layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
        x = skip + out if number >= first_residual else out
    return x


wrong("the first residual layer's input added everywhere", _first_input_added_everywhere).says("""
    You added the input of layer `first_residual` in each later layer, too. What is added is the input of the layer
    itself, which is the sum that the layer below it returned.""")
wrong("averaged", {"x + out if": "(x + out) / 2 if"}).says("""
    You took the mean of the layer's input and its output. A residual connection is their sum; with the mean, half
    of the gradient would be lost in each layer.""")
wrong("added twice", {"x + out if": "2 * x + out if"}).says("""
    You added the input twice in each layer. Perhaps the variable already held the sum when you added to it again.""")
wrong("output doubled", {"x + out if": "out + out if"}).says("""
    You added the layer's output to itself. Perhaps you wrote over the input before you used it: keep both until
    they are added.""")
wrong("context in the sum", {"inputs = x if": "x = x if", "layer(inputs)": "layer(x)"}).says("""
    You added [x; context] to the layer's output, which has fewer features. The layer *reads* both side by side, but
    only x is added: keep the joined input under another name.""")
wrong("context in front", {"[x, context]": "[context, x]"}).says("""
    You put the context in front of the layer's input. The order is [x; context], because the layer has weights of
    its own for each of the two.""")
wrong("input without gradient", {"x + out if": "x.detach() + out if"}).says("""
    Your values are right, but you detached the input before you added it. Then no gradient flows along the residual
    connection, although this path is its whole purpose.""")


def bidirectional_first_layer(x, lengths, forward_layer, backward_layer):
    """Both directions side by side, zeros at padding: (B, T, E), (B,) -> (B, T, 2 · H)."""
    positions = torch.arange(x.shape[1], device=x.device)  # (T,)
    last = lengths[:, None] - 1  # (B, 1)
    turned = torch.where(positions <= last, last - positions, positions)[..., None]  # (B, T, 1)
    forward = forward_layer(x)  # (B, T, H)
    backward = backward_layer(x.gather(1, turned.expand_as(x)))  # (B, T, H), from the last word to the first
    backward = backward.gather(1, turned.expand_as(backward))
    return torch.cat([forward, backward], dim=-1).masked_fill((positions > last)[..., None], 0.0)  # (B, T, 2 · H)


def _sentences(draw):
    batch, length, wide, half = draw.sizes(4)
    for b, t, e, h in ((batch, length, wide, half), (3, 4, 2, 2), (2, 3, 4, 2), (1, 3, 2, 3)):
        x, lengths = draw.normal(b, t, e), draw.lengths(b, t)
        yield x, lengths, fake_layer(draw, e, h), fake_layer(draw, e, h)
    yield draw.normal(3, 4, 3), torch.tensor([2, 4, 3]), fake_layer(draw, 3, 3), fake_layer(draw, 3, 3)


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
    "stacked at the last axis but one",
    {"torch.cat([forward, backward], dim=-1)": "torch.cat([forward, backward], dim=1)", CLEAN: ""},
).says("""
    You joined the two directions along the words, so that the sentence seems twice as long. Join them along the
    last axis, the features.""")
wrong("one layer for both directions", {"backward_layer(": "forward_layer("}).says("""
    You used `forward_layer` for both directions, but each direction has a layer with weights of its own.""")
