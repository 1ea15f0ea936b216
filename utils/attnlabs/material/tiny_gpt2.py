"""Lab 19: a file of GPT-2 with random weights, and what GPT-2 computes with it, written without any of our parts."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from attnbook.seeding import generator

WORDS, POSITIONS, DIM, LAYERS, HEADS = 64, 64, 32, 2, 4


def random_gpt2(seed: int = 0) -> dict[str, Tensor]:
    """The tensors of a file, by GPT-2's names; a stored mask is among them, as in the published files of GPT-2.

    Matrices are (in, out), and query, key and value are packed into one.
    """
    of_layer = {
        "ln_1.weight": (DIM,), "ln_1.bias": (DIM,),
        "attn.c_attn.weight": (DIM, 3 * DIM), "attn.c_attn.bias": (3 * DIM,),
        "attn.c_proj.weight": (DIM, DIM), "attn.c_proj.bias": (DIM,),
        "ln_2.weight": (DIM,), "ln_2.bias": (DIM,),
        "mlp.c_fc.weight": (DIM, 4 * DIM), "mlp.c_fc.bias": (4 * DIM,),
        "mlp.c_proj.weight": (4 * DIM, DIM), "mlp.c_proj.bias": (DIM,),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (WORDS, DIM), "wpe.weight": (POSITIONS, DIM)}
    shapes |= {f"h.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in of_layer.items()}
    shapes |= {"ln_f.weight": (DIM,), "ln_f.bias": (DIM,)}
    draw = generator(seed)
    found = {f"transformer.{name}": 0.3 * torch.randn(shape, generator=draw) for name, shape in shapes.items()}
    causal = torch.ones(POSITIONS, POSITIONS).tril()[None, None]  # (1, 1, T, T)
    return found | {f"transformer.h.{layer}.attn.bias": causal for layer in range(LAYERS)}


def gpt2_logits(tensors: Mapping[str, Tensor], words: Tensor, heads: int = HEADS, layers: int = LAYERS) -> Tensor:
    """What GPT-2 computes: ``words (B, T)`` -> logits ``(B, T, V)``.

    Source: Radford et al. 2019, section 2.3; the reference implementation in transformers.
    """
    word_vectors, length = tensors["transformer.wte.weight"], words.shape[1]
    closed = torch.ones(length, length, dtype=torch.bool).triu(1)  # (T, T)
    x = word_vectors[words] + tensors["transformer.wpe.weight"][:length]  # (B, T, D)
    for layer in range(layers):
        own = f"transformer.h.{layer}."
        packed = _affine(tensors, f"{own}attn.c_attn", _norm(tensors, f"{own}ln_1", x))  # (B, T, 3 · D)
        query, key, value = (
            part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in packed.chunk(3, dim=-1)
        )  # (B, H, T, D/H) each
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(closed, -torch.inf)  # (B, H, T, T)
        context = (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        x = x + _affine(tensors, f"{own}attn.c_proj", context)
        wide = F.gelu(_affine(tensors, f"{own}mlp.c_fc", _norm(tensors, f"{own}ln_2", x)), approximate="tanh")
        x = x + _affine(tensors, f"{own}mlp.c_proj", wide)
    return _norm(tensors, "transformer.ln_f", x) @ word_vectors.T


def _affine(tensors: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """x W + b with W of (in, out), as GPT-2 has it."""
    return x @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def _norm(tensors: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"])
