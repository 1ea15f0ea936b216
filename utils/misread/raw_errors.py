"""What torch's and Python's own error texts mean: a sentence for those that students meet most often."""

import re

FLATTEN_BOTH = (
    "`cross_entropy` received logits (N, V), for which the target must have the shape (N,). If you flatten the logits "
    "to (B·T, V), flatten the target as well."
)
# A piece of the error's text -> what it means, and what to do. The first piece that occurs is taken.
MEANINGS = {
    "Expected target size": "`cross_entropy` expects the axis of the V words in second position: logits (B, V, T) "
    "beside a target (B, T). Exchange the axes with `transpose(1, 2)`, or flatten both to (B·T, V) and (B·T,).",
    "to match target batch_size": FLATTEN_BOTH,
    "multi-target not supported": FLATTEN_BOTH,
    "Index tensor must have the same number of dimensions": "`gather` expects an index with as many axes as the "
    "tensor has. Add the missing axes with `None`, as in `index[..., None]`, and remove them from the result.",
    "return_types.max": "With an axis, `max` returns a pair: the largest values and their positions. `argmax` returns "
    "the positions alone, and `amax` the values alone.",
    "of type max": "With an axis, `max` returns a pair: the largest values and their positions. `argmax` returns the "
    "positions alone.",
    "a word's number is an integer": "A word is a whole number: at first one that is given, in a tensor of whole "
    "numbers (not of the state's dtype), and then the position of the largest logit, which `argmax` returns, and not "
    "the logit itself.",
    "far beyond `max_length`": "A sentence need not end by itself. Stop after `max_length` words, whether all "
    "sentences have ended or not.",
    "Boolean value of Tensor": "`if`, `while`, `not`, `and` and Python's `max` need one True or False, but they "
    "received a whole tensor. Use `.all()`, `.any()`, `~` or `clamp`; `is None` asks whether an argument is missing.",
    "range of [-1, 0], but got 1": "A tensor with one axis was used where two are needed. `x[:, None]` turns (n,) into "
    "a column (n, 1).",
    "Tensors must have same number of dimensions": "`cat` joins tensors with equally many axes. `x[:, None]` adds an "
    "axis of size 1, and `x[:, 0]` removes it.",
    "Sizes of tensors must match except in dimension": "`cat` joins tensors along one axis, and all other axes must "
    "have the same size, because `cat` does not broadcast. `expand` repeats an axis of size 1.",
    "in argument 0, but got NoneType": "One of the tensors that you join is None, which means that there is none. Ask "
    "first, with `is None`.",
    "step must be greater than zero": "A slice of a tensor has no negative steps, unlike one of a list. `x.flip(1)` "
    "reverses axis 1.",
    "expected Tensor as element": "`cat` and `stack` join tensors only. Make a tensor of the number first, for example "
    "with `torch.full_like`.",
    "self.dtype to be equal to src.dtype": "`scatter` and `scatter_add` write numbers into a tensor of the same dtype. "
    "`x.new_zeros(…)` makes zeros with the dtype of x.",
    "The shape of the mask": "`x[mask]` needs a mask of the same shape as x. `masked_fill` and `torch.where` also take "
    "a mask that has to be broadcast, such as (B, 1, Tk).",
    "at non-singleton dimension": "Shapes are compared from the last axis to the first, and two sizes fit if they are "
    "equal or one of them is 1. `x[:, None]` adds an axis of size 1; `keepdim=True` keeps one in a sum, norm or max.",
    "of batch2 tensor": "`a @ b` multiplies (…, n, m) with (…, m, p): the last axis of a must be as long as the last "
    "but one of b. `b.mT` exchanges the last two axes of b.",
    "shapes cannot be multiplied": "`a @ b` multiplies (…, n, m) with (m, p): the last axis of a must be as long as "
    "the first of the matrix b. `b.T` exchanges the two axes of a matrix.",
    "self must be a matrix": "`mm` takes matrices without a batch axis. `@` multiplies the last two axes, for each "
    "sentence of the batch.",
    "1D tensors expected": "`dot` takes two vectors. `@` computes all dot products of rows and columns, for each "
    "sentence of the batch.",
    "max() received an invalid combination": "`torch.max` compares two tensors, and `clamp(min=…)` compares a tensor "
    "with a number.",
    "must be bool, not torch._C.Generator": "The generator is passed by its name: `generator=generator`.",
    "must be Tensor, not": "Functions of torch take tensors. For a plain number use `math`, or `** 0.5` for the root.",
    "could not infer output dtype": "`mean` needs floating-point numbers: convert first, for example with `.float()`.",
    "too many indices for tensor of dimension": "The tensor has fewer axes than the index. Was an axis of size 1 taken "
    "away, as `squeeze()` without an axis does where there is only one row?",
    "out of bounds for dimension": "Positions count from 0, so the last position of an axis of size n is n − 1.",
    "channels, but got": "`conv1d` expects the input as (B, features, T), with the time last, and the weight as "
    "(features out, features in, taps). Compare both with these axes; `mT` makes (B, T, D) an input, and back again.",
    "Kernel size can't be greater than": "The sequence, with its padding, is shorter than the convolution's window. "
    "Pad it first, so that there is an output for each position.",
    "stack expects each tensor to be equal size": "`stack` puts equal tensors side by side along a *new* axis. `cat` "
    "joins tensors along an axis that they have.",
    "must be tuple of Tensors, not Tensor": "`cat` and `stack` take their tensors in a list, as in "
    "`torch.cat([a, b], dim=-1)`.",
    "only supports boolean masks": "A mask of zeros and ones becomes one of True and False by `mask.bool()`, or by a "
    "comparison such as `mask == 0`.",
    "'NoneType'": "Something is None here: an argument that was not given, or the result of a function without "
    "`return`. Ask first, with `is None`, or add the `return`.",
    "'tuple' object has no attribute": "A tuple stands where one value is wanted: a function that returns several "
    "results was called with a single name on the left. Write one name for each of them, as in `a, b = f(x)`.",
    "list index out of range": "A list is shorter than the position that you ask for.",
    "tuple index out of range": "A tuple, or a shape, is shorter than the position that you ask for. Positions count "
    "from 0, so the last of n entries has the position n − 1.",
    "unhashable type: 'list'": "A list cannot be the key of a dict, nor an element of a set. A tuple can: `tuple(…)`.",
    '"bitwise_': "`&` and `|` join masks of True and False, and they bind tighter than a comparison. Put each "
    "comparison in parentheses: `a & (b < c)`.",
    "values to unpack": "On the left must stand as many names as there are entries on the right, and a shape has one "
    "entry per axis. `x.shape[-1]` is the size of the last axis, however many axes there are.",
    "KeyError": "The dictionary has no entry with this key. If such a key is to be passed over, ask with `key in d` "
    "first. If its entry is only made later, `d.setdefault(key, [])` and `d.get(key, 0)` work without one.",
}


# Where sizes do not fit and the line transposes by `.T`, this is said as well.
SIZES = ("at non-singleton dimension", "of batch2 tensor", "shapes cannot be multiplied")
ALL_AXES = "If the tensor before `.T` has more than two axes, `.T` reverses all of them; `.mT` exchanges the last two."


def meaning(error: str, line: str = "") -> str:
    """What an error, `Type: text`, means; empty where it speaks for itself or is not known here.

    Args:
        line: the line of code that it came from, as far as it is known.
    """
    words = next((words for piece, words in MEANINGS.items() if piece in error), "")
    reversed_ = re.search(r"\.T\b", line) and any(piece in error for piece in SIZES)
    return f"{words} {ALL_AXES}" if reversed_ else words
