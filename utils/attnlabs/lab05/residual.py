"""Lab 5, first part: a stack of layers with residual connections."""

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


def _lower_layers_skipped(x, context, layers, first_residual):
    for layer in layers[first_residual - 1 :]:
        x = x + layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
    return x


wrong("the lower layers skipped", _lower_layers_skipped).says("""
    Your x passes the layers below `first_residual` unchanged. These layers have no addition, but they do compute: x
    becomes their output.""")


def _outputs_added_up(x, context, layers, first_residual):
    total = 0
    for number, layer in enumerate(layers, start=1):
        skip, x = x, layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
        total = total + x if number > first_residual else x + skip if number == first_residual else x
    return total


wrong("the sums not read by the next layer", _outputs_added_up).says("""
    You added the outputs up beside the stack, and each layer read the plain output of the layer below it. The sum
    itself is the input of the next layer.""")


def _outputs_alone_added_up(x, context, layers, first_residual):
    total = 0
    for number, layer in enumerate(layers, start=1):
        x = layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
        total = total + x if number >= first_residual else x
    return total


wrong("the outputs added up", _outputs_alone_added_up).says("""
    You added up the *outputs* of the layers, while each layer read the plain output of the one below it. What is added
    to a layer's output is this layer's input, and the sum is the input of the next layer.""")


def _added_before_the_layer(x, context, layers, first_residual):
    before = x
    for number, layer in enumerate(layers, start=1):
        read = x + before if 1 < number >= first_residual else x
        before, x = x, layer(read if context is None else torch.cat([read, context], dim=-1))  # (B, T, D)
    return x


wrong("added before the layer", _added_before_the_layer).says("""
    You added before the layer was called, so that the layer reads a sum and returns its output alone. The addition
    comes *after* the layer: its output plus the x that it has read.""")


def _input_of_the_layer_below(x, context, layers, first_residual):
    before = x
    for number, layer in enumerate(layers, start=1):
        out = layer(x if context is None else torch.cat([x, context], dim=-1))  # (B, T, D)
        skip = before if number > first_residual else x
        before, x = x, skip + out if number >= first_residual else out
    return x


wrong("the input of the layer below added", _input_of_the_layer_below).says("""
    You added what the layer *below* has read. Keep the input of this layer, call the layer, and add the two before you
    go on to the next layer.""")
wrong("joined, not added", {"x + out if": "torch.cat([x, out], dim=-1) if"}).says("""
    You joined the layer's input and its output side by side, so that the number of features grows. A residual
    connection is a sum, and it has as many features as each of the two.""")
wrong("normalised sum", {"x + out if": "F.layer_norm(x + out, out.shape[-1:]) if"}).says("""
    You normalised the sum, as the Transformer does. GNMT passes the sum on as it is.""")
wrong("no residual connection beside a context", {">= first_residual": ">= first_residual and context is None"}).says(
    """
    With a context, your layers have no residual connection. The context changes only what a layer reads; x is added
    to its output as without a context."""
)
wrong("no residual connection without a context", {">= first_residual": ">= first_residual and inputs is not x"}).says(
    """
    Without a context, your layers have no residual connection. From layer `first_residual` on, x is added in both
    cases."""
)
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
