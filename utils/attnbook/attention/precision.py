"""Half precision: what float16 and bfloat16 cannot hold is computed in float32."""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """``x`` in float32 if it came in float16 or bfloat16 or as whole numbers; float32 and float64 as they are.

    For positions, running sums, logarithms and lengths of vectors: bfloat16 cannot count beyond 256, and float16
    holds nothing under 6e-8 or above 65,504.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))


def sharpened(scores: Tensor, temperature: float) -> Tensor:
    """(scores − their maximum) / temperature over the last axis: a softmax of it is that of scores / temperature.

    As nothing is above 0, no quotient is +inf, of which a softmax would make NaN: neither with a temperature near 0,
    nor in half precision, whose largest number is 65,504.

    Returns:
        the shape of ``scores``, in float32 at least.
    """
    scores = at_least_float32(scores)
    smallest = torch.finfo(scores.dtype).tiny  # what is smaller would count as 0, and 0 / 0 is NaN
    return (scores - scores.detach().amax(dim=-1, keepdim=True)) / max(temperature, smallest)
