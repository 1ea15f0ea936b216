"""Averaging the last checkpoints of a training: weights that each are a little off, in other directions.

Source: Vaswani et al. 2017, section 6.1 (the last 5 or 20 checkpoints).
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from attnbook.training.checkpoints import load_checkpoint, not_finite, save_checkpoint

Weights = dict[str, Tensor]


def average_weights(states: Sequence[Weights]) -> Weights:
    """The mean of several states of one model, number by number; what is no float is taken from the last.

    Raises:
        ValueError: if there is none, or they are of different models.
    """
    if not states:
        raise ValueError("states is empty; an average needs at least one state of a model")
    if any(_shapes(state) != _shapes(states[-1]) for state in states):
        raise ValueError("states are of different models: their names or shapes differ")
    return {
        name: torch.stack([state[name] for state in states]).mean(dim=0) if last.is_floating_point() else last
        for name, last in states[-1].items()
    }


def _shapes(state: Weights) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in state.items()}


class Snapshots:
    """Keeps the last weights of a training in a folder, so that an interrupted training loses none.

    Args:
        folder: where the files ``STEP.pt`` lie.
        keep: how many; older ones are deleted.

    Raises:
        ValueError: if ``keep`` is below 1.
    """

    def __init__(self, folder: str | Path, keep: int = 5) -> None:
        if keep < 1:
            raise ValueError(f"keep must be at least 1, got {keep}")
        self.folder, self.keep = Path(folder), keep

    def files(self) -> list[Path]:
        """The files there are, oldest first."""
        return sorted(self.folder.glob("*.pt"), key=lambda path: int(path.stem))

    def take(self, model: nn.Module, step: int) -> None:
        """Write the weights of ``model`` after ``step`` steps; delete what is older than the last ``keep``.

        Raises:
            FloatingPointError: if a weight is not finite. Nothing is written or deleted then.
        """
        if (name := not_finite(model)) is not None:
            raise FloatingPointError(f"{name} is not finite after {step} steps, so these weights are not kept")
        save_checkpoint(self.folder / f"{step}.pt", model=model.state_dict())
        for path in self.files()[: -self.keep]:
            path.unlink()

    def average(self) -> Weights:
        """The mean of the weights that are kept. Raises ValueError if there are none."""
        return average_weights([load_checkpoint(path)["model"] for path in self.files()])

    def remove(self) -> None:
        """Delete all files, half-written ones too, and the folder if nothing else lies in it."""
        for path in [*self.files(), *self.folder.glob("*.pt*.part")]:
            path.unlink()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
