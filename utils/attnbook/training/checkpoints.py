"""Checkpoints: written whole or not at all, and checked when they are read."""

from pathlib import Path

import torch
from torch import Tensor, nn

from attnbook.files import whole_file

FORMAT = "attnbook-checkpoint-1"


class BrokenCheckpoint(ValueError):  # noqa: N818 (it names what is broken)
    """A file that is not a checkpoint of ours, or only part of one."""


def save_checkpoint(path: str | Path, **contents) -> None:
    """Write ``contents`` (tensors, numbers, dictionaries of them) to ``path``.

    An interruption leaves the old file whole, see :func:`~attnbook.files.whole_file`.
    """
    with whole_file(path) as file:
        torch.save({"format": FORMAT, **contents}, file)


def load_checkpoint(path: str | Path, device: torch.device | str = "cpu") -> dict:
    """Read what :func:`save_checkpoint` wrote, onto ``device``.

    Raises:
        FileNotFoundError: if there is no such file.
        BrokenCheckpoint: if the file cannot be read, or was not written by us.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no checkpoint at {path}; train first, or mend the path")
    try:
        contents = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:  # torch's own words advise to switch its safety off, so we do not repeat them
        reason = type(error).__name__
        words = f"{path} cannot be read as a checkpoint ({reason}); delete it and train again"
        raise BrokenCheckpoint(words) from error
    if not isinstance(contents, dict) or contents.pop("format", None) != FORMAT:
        raise BrokenCheckpoint(f"{path} is not a checkpoint written by save_checkpoint ({FORMAT}); give another path")
    return contents


def not_finite(model: nn.Module, *optimisers: torch.optim.Optimizer) -> str | None:
    """The name of a weight, buffer or number of an optimiser that is infinite or no number; ``None`` if all are sound.

    A buffer may hold infinities, as an additive mask does.
    """
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return name
    for name, buffer in model.named_buffers():
        if buffer.isnan().any():
            return name
    states = (state for optimiser in optimisers for state in optimiser.state.values())
    for name, number in (item for state in states for item in state.items()):
        if isinstance(number, Tensor) and not number.isfinite().all():
            return f"the optimiser's {name}"
    return None
