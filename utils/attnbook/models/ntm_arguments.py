"""What the functions of an NTM's heads ask of their arguments, and how they refuse them."""

from torch import Tensor


def check_last(name: str, tensor: Tensor, beside: Tensor, last: int) -> None:
    """Raise a ValueError unless ``tensor`` has the leading axes of ``beside`` and ``last`` numbers on its last axis."""
    wanted = (*beside.shape[:-1], last)
    if tensor.shape != wanted:
        raise ValueError(f"{name} must have shape {wanted}, got {tuple(tensor.shape)}")


def check_address(key: Tensor, beta: Tensor, memory: Tensor) -> None:
    """Raise a ValueError unless a head's key and β fit together, and the key fits the rows of ``memory (B, N, M)``."""
    check_memory(memory, "key", key)
    check_last("beta", beta, key, 1)
    if key.shape[-1] != memory.shape[-1]:
        raise ValueError(f"key has {key.shape[-1]} features but a row of memory has {memory.shape[-1]}")


def check_memory(memory: Tensor, name: str, tensor: Tensor) -> None:
    """Raise a ValueError unless ``memory`` is ``(B, N, M)`` and ``tensor`` has its batch, and heads or none."""
    if memory.ndim != 3:
        raise ValueError(f"memory must have shape (B, N, M), got {tuple(memory.shape)}")
    if tensor.ndim not in (2, 3) or len(tensor) != len(memory):
        raise ValueError(
            f"{name} must have 2 axes, or 3 with heads, and the batch of memory, {len(memory)}; "
            f"got shape {tuple(tensor.shape)}"
        )


def check_rows(memory: Tensor, weights: Tensor, **vectors: Tensor) -> None:
    """Raise a ValueError unless ``weights`` are over the rows of memory, and each vector has a row's features."""
    check_memory(memory, "weights", weights)
    if weights.shape[-1] != memory.shape[1]:
        raise ValueError(f"weights are over {weights.shape[-1]} rows but memory has {memory.shape[1]}")
    for name, vector in vectors.items():
        check_last(name, vector, weights, memory.shape[-1])
