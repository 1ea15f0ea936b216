"""Half precision: what float16 and bfloat16 cannot hold is computed in float32."""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """``x`` in float32 if it came in float16 or bfloat16 or as whole numbers; float32 and float64 as they are.

    For positions, running sums, logarithms and lengths of vectors: bfloat16 cannot count beyond 256, and float16
    holds nothing under 6e-8 or above 65,504.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))
