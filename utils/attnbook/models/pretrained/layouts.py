"""How a model's matrices lie in memory: the same shapes and numbers, in an order that a CPU's kernels read faster."""

import torch
from torch import Tensor, nn

from attnbook.models.block import Block, SwiGLU


def lay_out_by_columns(model: nn.Module) -> None:
    """Store the matrices that make more features than they get column by column.

    A word's product with one is then a sum of long columns, not many short scalar products. So a CPU reads memory
    faster: decoding of SmolLM2 by a sixth in float32 (in bfloat16 it is slower).
    """
    for layer in [part for part in model.modules() if isinstance(part, nn.Linear)]:
        if layer.out_features > layer.in_features:
            layer.weight.data = layer.weight.data.mT.contiguous().mT


class PackedLinear(nn.Linear):
    """A linear layer whose products oneDNN takes, the library behind much of torch on CPUs; there are no gradients.

    In bfloat16 the weight is packed in the order of its kernels. In float32 it stays as it is, since one position is
    read faster by torch's usual kernel, and a second copy would take as much memory again.
    """

    def forward(self, x: Tensor) -> Tensor:
        """``(..., T, in)`` -> ``(..., T, out)``."""
        if x.dtype == torch.float32 and x.shape[-2] == 1:
            return super().forward(x)
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")


class JoinedSwiGLU(SwiGLU):
    """With the two matrices that read the same input one below the other: one long product in place of two."""

    def __init__(self, parts: SwiGLU) -> None:
        nn.Module.__init__(self)
        self.narrow, self.both = parts.narrow, joined(parts.gate, parts.widen)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``."""
        gate, wide = self.both(x).chunk(2, dim=-1)  # (B, T, 2 · d_ff) -> (B, T, d_ff) each
        return self.narrow(nn.functional.silu(gate) * wide)


def joined(*layers: nn.Linear) -> nn.Linear:
    """One linear layer whose output is those of ``layers``, which read the same, side by side."""
    weight = torch.cat([layer.weight for layer in layers])
    with torch.device("meta"):  # so that nothing is drawn that is replaced at once
        one = nn.Linear(weight.shape[1], len(weight), bias=layers[0].bias is not None)
    one.weight = nn.Parameter(weight, requires_grad=False)
    if one.bias is not None:
        one.bias = nn.Parameter(torch.cat([layer.bias for layer in layers]), requires_grad=False)
    return one


def packed(model: nn.Module) -> nn.Module:
    """Turn every linear layer of ``model`` into a :class:`PackedLinear`, and return the model, which only reads now.

    The two matrices at the beginning of a SwiGLU become one. A packed weight can be multiplied by and nothing else: not
    looked at, stored or moved. Where torch or the CPU lacks the kernels, layers stay as they are.

    Raises:
        ValueError: if a weight is neither float32 nor bfloat16, trained or isn't on the CPU; then nothing is changed.
    """
    check_linear_layers(model)
    for block in [part for part in model.modules() if isinstance(part, Block)]:
        if type(block.feed_forward) is SwiGLU:
            block.feed_forward = JoinedSwiGLU(block.feed_forward)
    for layer in [part for part in model.modules() if type(part) is nn.Linear]:
        if layer.weight.dtype == torch.float32:
            lay_out_by_columns(layer)
        elif has_kernels(torch.bfloat16):
            order = torch.ops.mkldnn._reorder_linear_weight(layer.weight)
            layer.weight = nn.Parameter(order, requires_grad=False)
        if has_kernels(layer.weight.dtype):
            layer.__class__ = PackedLinear
    return model


def check_linear_layers(model: nn.Module) -> None:
    """Raise ValueError for a weight that :func:`packed` cannot take."""
    layers = {name: layer for name, layer in model.named_modules() if type(layer) is nn.Linear}
    for name, layer in layers.items():
        dtype = layer.weight.dtype
        if dtype not in (torch.float32, torch.bfloat16) or layer.weight.requires_grad:
            trained = ", trained" if layer.weight.requires_grad else ""
            raise ValueError(f"{name} must be float32 or bfloat16 and no longer trained, got {dtype}{trained}")
        if layer.weight.device.type != "cpu":
            raise ValueError(f"{name} must be on the CPU, whose kernels these are, got {layer.weight.device}")


def has_kernels(dtype: torch.dtype) -> bool:
    """Whether this torch has oneDNN, and for bfloat16 whether this CPU multiplies in it."""
    if not torch.backends.mkldnn.is_available():
        return False
    return dtype == torch.float32 or torch.ops.mkldnn._is_mkldnn_bf16_supported()
