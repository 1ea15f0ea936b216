"""Lab 15: how far a stack of causal convolutions sees."""

from misread.exercise import About, Exercise


def receptive_field(dilations, kernel):
    """The number of positions from the earliest input that an output can depend on to its own position, both counted.

    list, int -> int.
    """
    return 1 + (kernel - 1) * sum(dilations)


def _stacks(draw):
    for kernel in (2, 3, draw.integer(4, 7)):
        yield [draw.integer(2, 9)], kernel
        yield [2**i for i in range(draw.integer(3, 6))], kernel
        yield draw.integers(1, 9, draw.integer(2, 6)).tolist(), kernel
    yield [1] * draw.integer(3, 9), 2
    yield [draw.integer(5, 9), 1, 2], 3  # the largest does not come last
    yield [], draw.integer(2, 5)
    yield draw.integers(1, 9, 3).tolist(), 1


RECEPTIVE_FIELD = Exercise(
    receptive_field,
    cases=_stacks,
    gradients=False,
    about=About(points=2, minutes=8, difficulty=2, read_again="SNAIL: convolutions and attention in turn"),
)

must = RECEPTIVE_FIELD.properties
must(
    "each layer adds its distance",
    lambda result, dilations, kernel: int(result) == 1 + sum(d * (kernel - 1) for d in dilations),
).says("""
    Each layer with dilation d sees d · (kernel − 1) positions further back than the layers below it, and the position
    itself is counted once.""")

wrong = RECEPTIVE_FIELD.mistakes
wrong("itself not counted", "return (kernel - 1) * sum(dilations)").says("""
    You counted the positions *before* the last one. The position sees itself as well, so there is one more.""")
wrong("all taps counted as new", "return 1 + kernel * sum(dilations)").says("""
    You let every layer reach `kernel` dilations further back. One of its taps is the position itself, so a layer
    with dilation d adds d · (kernel − 1) positions.""")
wrong("kernel times the sum", "return kernel * sum(dilations)").says("""
    You multiplied the number K of taps by the sum of the dilations. A layer with dilation d reaches d · (kernel − 1)
    positions further back, and the position itself is counted once.""")
wrong("a power of the kernel", "return kernel ** len(dilations)").says("""
    You assumed that each layer multiplies the receptive field by the number K of taps. This is so only if the
    dilations are 1, K, K², …; here they may be any numbers, so add how far back each layer reaches.""")
wrong("dilations ignored", "return 1 + (kernel - 1) * len(dilations)").says("""
    You counted the layers, as if every dilation were 1. A layer with dilation d reaches d · (kernel − 1) positions
    further back.""")
wrong("kernel times the layers", "return kernel * len(dilations)").says("""
    You multiplied the number K of taps by the number of layers, so that the dilations have no effect. A layer with
    dilation d reaches d · (kernel − 1) positions further back, and the position itself is counted once.""")
wrong("only the largest dilation", "return 1 + (kernel - 1) * max(dilations, default=0)").says("""
    You counted the layer with the largest dilation only. The layers lie on top of each other, so the distances
    that they reach back add up.""")
wrong("only the last layer", "return 1 + (kernel - 1) * dilations[-1] if dilations else 1").says("""
    You counted the last layer only. What it reads was made by the layers below, which see further back themselves,
    so the distances that they reach back add up.""")
wrong("fields added up", "return sum(1 + (kernel - 1) * d for d in dilations)").says("""
    You added up the receptive fields of the layers, and each of them counts the position itself. It is counted
    once: add up how far *back* each layer reaches, and then 1.""")
PRODUCT = "return math.prod(1 + (kernel - 1) * d for d in dilations)"
wrong("1 added for each layer", "return 1 + sum(1 + (kernel - 1) * d for d in dilations)").says("""
    You added the whole width of each layer's window, d · (kernel − 1) + 1, so that each layer counts the position
    itself once more. A layer adds only how far it reaches back, d · (kernel − 1).""")
wrong("1 subtracted for each layer", "return 1 + sum(kernel * d - 1 for d in dilations)").says("""
    You added d · K − 1 for each layer. The 1 belongs to the taps, because K taps have K − 1 distances between them: a
    layer with dilation d adds d · (kernel − 1).""")
STRIDES = """
field, step = 1, 1
for d in dilations:
    field, step = field + (kernel - 1) * step, step * d
return field
""".strip()
wrong("dilations taken for strides", STRIDES).says("""
    You used the formula for layers with *strides*, in which the distance between two taps is the product of the strides
    below. The dilation is this distance itself, whatever lies below: a layer adds d · (kernel − 1).""")
wrong("fields multiplied", PRODUCT).says("""
    You multiplied the receptive fields of the layers. The layer below reaches further back from the farthest tap of
    this layer, so the distances are added, and 1 for the position itself.""")
DOUBLING = "return 1 + (kernel - 1) * (2 ** len(dilations) - 1)"
wrong("doubling assumed", DOUBLING).says("""
    Your formula holds only for the dilations 1, 2, 4, … The dilations are given, and may be any numbers: use their
    sum.""")
wrong("the kernel counted first", "return kernel + (kernel - 1) * sum(dilations)").says("""
    You began with `kernel` and then added what each layer reaches further back. The first layer is among the
    layers, so begin with 1, the position itself.""")
wrong("dilations multiplied", "return 1 + (kernel - 1) * math.prod(dilations)").says("""
    You multiplied the dilations. The upper layer starts where the lower one reaches, so their distances are added.""")
wrong("kernel times the last dilation", "return kernel * dilations[-1] if dilations else 1").says("""
    You multiplied the number K of taps by the last dilation. This is right for two taps and the dilations 1, 2, 4, …
    only; here the dilations may be any numbers, so add how far back each layer reaches.""")
SKIPPED = """
reached = {0}
for d in dilations:
    reached = {r + k * d for r in reached for k in range(kernel)}
return len(reached)
""".strip()
wrong("skipped positions not counted", SKIPPED).says("""
    You counted only the positions that the taps reach. The receptive field also counts the positions in the gaps
    between them: it is the distance back to the earliest one, plus 1 for the position itself.""")
wrong("two taps assumed", "return 1 + sum(dilations)").says("""
    Your formula has no `kernel` in it and holds for two taps only. The first of K taps lies K − 1 dilations back, so
    multiply the sum of the dilations by kernel − 1.""")
FIRST = "return 1 + (kernel - 1) * (dilations[0] + sum(dilations[1:]))"
wrong("no layers, no answer", FIRST).says("""
    Your function is right for each stack with layers, but it looks up a layer of the empty list as well. Without any
    layer a position sees only itself: begin with 1, and add what each layer reaches further back.""")
wrong("nothing without layers", "if dilations:\n    return 1 + (kernel - 1) * sum(dilations)").says("""
    Your function is right for each stack with layers, but it returns nothing for the empty list. Without any layer a
    position still sees itself, which is 1.""")
wrong("0 without layers", "return 1 + (kernel - 1) * sum(dilations) if dilations else 0").says("""
    Your function is right for each stack with layers, but it gives 0 for the empty list. Without any layer a position
    still sees itself, which is 1.""")
wrong("the first dilation taken for 1", "return kernel + (kernel - 1) * sum(dilations[1:])").says("""
    You counted `kernel` positions for the first layer, as if its dilation were 1 and there always were a layer. Begin
    with 1 for the position itself, and add d · (kernel − 1) for each layer, the first one included.""")
wrong("equal dilations counted once", "return 1 + (kernel - 1) * sum(set(dilations))").says("""
    You counted each dilation once (`set`), but two layers may have the same one. Each layer reaches further back than
    those below it, so add up all entries of the list.""")
wrong("the future as well", "return 1 + 2 * (kernel - 1) * sum(dilations)").says("""
    You counted as many positions after the output's position as before it. The convolutions are causal, so nothing
    after it is seen: add up how far *back* each layer reaches, and then 1.""")
