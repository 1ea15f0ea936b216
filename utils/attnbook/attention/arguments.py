"""What attention asks of its arguments, and how it refuses them: in one place, so that the functions show the idea.

Shapes and number types are checked always, values where it takes no waiting (:func:`~attnbook.device.on_cpu`).
"""

import torch
from torch import Tensor

from attnbook.device import on_cpu


def check_length(length: int) -> None:
    """Raise a ValueError unless there is at least one position."""
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")


def check_radius(radius: int) -> None:
    """Raise a ValueError for a negative radius."""
    if radius < 0:
        raise ValueError(f"radius must be at least 0 (only the position itself), got {radius}")


def check_block(block: int) -> None:
    """Raise a ValueError unless a block holds at least one position."""
    if block < 1:
        raise ValueError(f"block must be at least 1 position, got {block}")


def check_sinks(sinks: int) -> None:
    """Raise a ValueError for a negative number of sinks."""
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0 (none), got {sinks}")


def check_everywhere(everywhere: Tensor, length: int) -> None:
    """Raise unless ``everywhere`` are ``(G,)`` different whole numbers from 0 to ``length`` − 1.

    Raises:
        TypeError: for numbers that are not whole. ValueError: for another shape, and on the CPU for a position twice
            or out of range.
    """
    if everywhere.is_floating_point() or everywhere.dtype == torch.bool:
        raise TypeError(f"everywhere must be whole numbers, got {everywhere.dtype}; use everywhere.long()")
    if everywhere.ndim != 1:
        raise ValueError(f"everywhere must have shape (G,), got {tuple(everywhere.shape)}")
    if not on_cpu(everywhere):
        return
    if ((everywhere < 0) | (everywhere >= length)).any() or len(everywhere.unique()) < len(everywhere):
        raise ValueError(f"everywhere must be different positions from 0 to {length - 1}, got {everywhere.tolist()}")


def check_half_width(half_width: float) -> None:
    """Raise a ValueError unless a window reaches at least one position to either side of its centre.

    A centre is a real number: a narrower window may lie between two positions, and hold none.
    """
    if half_width < 1:
        raise ValueError(f"half_width must be at least 1, so that no window is empty; got {half_width}")


def check_centre(centre: Tensor, lengths: Tensor | None = None) -> None:
    """Raise unless ``centre`` is ``(B,)`` real numbers, as many as there are ``lengths``.

    Raises:
        TypeError: for whole numbers, which carry no gradient. ValueError: for another shape.
    """
    if not centre.is_floating_point():
        raise TypeError(f"centre must hold real numbers, got {centre.dtype}; use centre.float()")
    if centre.ndim != 1:
        raise ValueError(f"centre must have shape (B,), one per sentence, got {tuple(centre.shape)}")
    if lengths is not None and centre.shape != lengths.shape:
        raise ValueError(f"centre has {len(centre)} sentences but lengths has shape {tuple(lengths.shape)}")


def check_lengths(lengths: Tensor, max_length: int | None) -> None:
    """Raise unless ``lengths`` are ``(B,)`` whole numbers from 0 to ``max_length``.

    Raises:
        TypeError: for numbers that are not whole. ValueError: for another shape, and on the CPU for a length out of
            range.
    """
    if lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(f"lengths must be whole numbers, got {lengths.dtype}; use lengths.long()")
    if lengths.ndim != 1 or len(lengths) == 0:
        raise ValueError(f"lengths must have shape (B,) with B > 0, got {tuple(lengths.shape)}")
    if not on_cpu(lengths):
        return
    longest = int(lengths.max())
    max_length = longest if max_length is None else max_length
    if longest > max_length or int(lengths.min()) < 0:
        raise ValueError(f"lengths must lie between 0 and max_length = {max_length}, got {lengths.tolist()}")


def check_mask(mask: Tensor | None, scores: Tensor) -> None:
    """Raise unless there is something to attend to, and a mask is boolean and can be broadcast to ``scores``.

    Raises:
        TypeError: for a mask of another type. ValueError: for one of another shape, or scores without positions.
    """
    if scores.shape[-1] == 0:
        raise ValueError("scores has no positions to attend to: its last axis has length 0")
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}; use mask.bool()")
    if not _can_be_broadcast(mask, scores.shape):
        raise ValueError(
            f"mask has shape {tuple(mask.shape)} but scores have {tuple(scores.shape)}; "
            "a padding mask (B, Tk) needs an axis for the queries: mask[:, None, :]"
        )


def for_all_heads(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """A mask ``(B, Tq, Tk)``, one per sentence, as ``(B, 1, Tq, Tk)`` where the query has heads ``(B, H, Tq, D)``.

    Left alone, broadcasting would take its first axis for the heads wherever B = H.
    """
    return mask[:, None] if mask is not None and mask.ndim == 3 and query.ndim == 4 else mask


def check_mask_of_keys(mask: Tensor, key: Tensor) -> None:
    """Raise unless a mask says for all queries alike which of the keys ``(B, Tk, D)`` may be attended to.

    Raises:
        TypeError: for a mask of another type. ValueError: for one of another shape than ``(B, 1, Tk)``.
    """
    if mask.ndim != 3 or mask.shape[-2] != 1:
        raise ValueError(
            f"mask must have shape (B, 1, Tk), one row for all queries, got {tuple(mask.shape)}; "
            "how far a query sees is said by the other arguments"
        )
    check_mask(mask, like_scores(key[:, :1], key))


def like_scores(query: Tensor, key: Tensor) -> Tensor:
    """A tensor of the shape of the scores, ``(..., Tq, Tk)``, that takes no memory: to compare a mask with."""
    return query.new_empty(1).expand(*query.shape[:-1], key.shape[-2])


def check_bias(bias: Tensor | None, scores: Tensor) -> None:
    """Raise a ValueError unless ``bias`` can be broadcast to ``scores``."""
    if bias is not None and not _can_be_broadcast(bias, scores.shape):
        raise ValueError(f"bias has shape {tuple(bias.shape)} but scores have {tuple(scores.shape)}")


def _can_be_broadcast(tensor: Tensor, shape: torch.Size) -> bool:
    """Each axis, counted from the last, is 1 or as long as the one in ``shape``.

    ``torch.broadcast_shapes`` says the same in ten times the time, after it has imported half a second of modules."""
    own = tensor.shape
    return len(own) <= len(shape) and all(n in (1, wanted) for n, wanted in zip(own[::-1], shape[::-1], strict=False))


def check_attention(query: Tensor, key: Tensor, value: Tensor | None = None) -> None:
    """Raise a ValueError unless query, key and value have 3 axes each, or 4 with heads, and fit together."""
    named = {"query": query, "key": key} if value is None else {"query": query, "key": key, "value": value}
    asked = query.shape  # len() of a tensor takes ten times as long as of its shape: much, for a single word
    for name, shape in ((name, tensor.shape) for name, tensor in named.items()):
        if len(shape) not in (3, 4):
            raise ValueError(f"{name} must have 3 axes (B, T, D), or 4 with heads, got shape {tuple(shape)}")
        if shape[0] == 0:
            raise ValueError(f"{name} is an empty batch: shape {tuple(shape)}")
        if shape[0] != asked[0]:
            raise ValueError(f"{name} has a batch of {shape[0]} but query has {asked[0]}")
        if len(shape) != len(asked):
            raise ValueError(f"{name} has {len(shape)} axes but query has {len(asked)}; heads are for all or none")
        if shape[1:-2] != asked[1:-2]:
            raise ValueError(f"{name} has {shape[1]} heads but query has {asked[1]}")
    if value is not None and key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"value has {value.shape[-2]} positions but key has {key.shape[-2]}; there is one value per key"
        )
    if key.shape[-2] == 0:
        raise ValueError("key has no positions to attend to: its axis Tk has length 0")


def check_same_length(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise a ValueError unless query, key and value are ``(B, T, ...)`` with the same B and T."""
    if not query.shape[:-1] == key.shape[:-1] == value.shape[:-1]:
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(f"query, key and value must have the same B and T, got {shapes}")


def check_same_features(name: str, query: Tensor, key: Tensor) -> None:
    """Raise a ValueError unless ``query`` and ``key`` have as many features; ``name`` is the score's."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"key has {key.shape[-1]} features but query has {query.shape[-1]}; "
            f"{name} scores need the same number (use General for different ones)"
        )


def check_features(name: str, tensor: Tensor, wanted: int) -> None:
    """Raise a ValueError unless ``tensor`` has the features that a score was made for."""
    if tensor.shape[-1] != wanted:
        raise ValueError(f"{name} has {tensor.shape[-1]} features but the score was made for {name}_dim = {wanted}")
