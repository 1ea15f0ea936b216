"""Where the weights of trained models lie beside the results, and how to get a trained model back."""

import re
from pathlib import Path
from typing import TypeVar

from torch import Tensor, nn

from attnbook.files import remove_halves
from attnbook.training import load_checkpoint, save_checkpoint
from attnruns.results import result_folders

Model = TypeVar("Model", bound=nn.Module)


def weights_file(experiment: str, name: str, seed: int) -> str:
    """The file of a model's weights, seen from the folder of results: ``weights/EXPERIMENT_NAME_SEED.pt``."""
    return f"weights/{experiment}_{name}_{seed}.pt"


def keep_weights(model: nn.Module, folder: Path, experiment: str, name: str, seed: int) -> None:
    """Write the weights of a trained model in half precision: half the size, and no answer of the book changes.

    Whole numbers, such as counters, and numbers too large for half precision (65,504) are written as they are.
    """
    once: dict[int, Tensor] = {}  # tensors under two names, as a tied output layer has them, are written once
    state = model.state_dict()
    halves = {key: once.setdefault(tensor.data_ptr(), _halved(tensor)) for key, tensor in state.items()}
    save_checkpoint(folder / weights_file(experiment, name, seed), model=halves)


def _halved(tensor: Tensor) -> Tensor:
    """``tensor`` in float16, if that can hold its numbers."""
    half = tensor.half()
    return half if tensor.is_floating_point() and half.isfinite().all() else tensor


def remove_half_written(folder: Path, experiment: str, name: str, seed: int) -> None:
    """Remove what a process left that was ended while it wrote the weights of this training."""
    remove_halves(folder / weights_file(experiment, name, seed))


def stored_seeds(experiment: str, name: str) -> list[int]:
    """The seeds of which an experiment's weights of a model are stored, where :func:`load_weights` finds them."""
    pattern = re.compile(rf"{re.escape(experiment)}_{re.escape(name)}_(\d+)\.pt")
    files = [path.name for folder in result_folders() for path in folder.glob("weights/*.pt")]
    return sorted({int(found[1]) for found in map(pattern.fullmatch, files) if found})


def load_weights(model: Model, experiment: str, name: str, seed: int = 0) -> Model:
    """Fill ``model`` with the weights that an experiment left, and return it in evaluation mode.

    Args:
        model: built as the experiment builds it.
        experiment, name, seed: which training.

    Raises:
        ValueError: if that training left no weights, or they belong to another model.
    """
    file = weights_file(experiment, name, seed)
    found = [folder / file for folder in result_folders() if (folder / file).is_file()]
    if not found:
        there = sorted({path.name for folder in result_folders() for path in folder.glob("weights/*.pt")})
        raise ValueError(f"no results/{file}; there is: {', '.join(there) or 'none at all'}")
    try:
        model.load_state_dict(load_checkpoint(found[0])["model"])
    except RuntimeError as error:
        name = type(model).__name__
        raise ValueError(f"results/{file} belongs to another model than this {name}: {error}") from error
    return model.eval()
