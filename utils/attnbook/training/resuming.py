"""When a checkpoint belongs to a training, who may use it, and the random numbers that come next."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.files import remove_halves
from attnbook.locks import Taken, locked
from attnbook.training import parallel
from attnbook.training.description import describe, differences

MAY_FALL = {"learning_rate", "learning_rates", "max_grad_norm", "max_grad_value", "schedule"}  # as is advised after NaN
SHOWN = 3  # differences that an error names


@contextmanager
def held(checkpoint: str | Path | None) -> Iterator[None]:
    """Keep a checkpoint to this training; of several processes the first holds it. Without one, nothing happens.

    Raises:
        Taken: (a RuntimeError) if another training holds it.
        OSError: if nothing can be written there.
    """
    with ExitStack() as stack:
        if checkpoint is not None and parallel.rank() == 0:
            try:
                stack.enter_context(locked(checkpoint))
            except Taken as error:
                words = f"another training is under way with {checkpoint}; wait for its end, or give another path"
                raise Taken(words) from error
            remove_halves(checkpoint)
        yield


# ---- does it belong to this training?


def description_of(model: nn.Module, batch_at: Callable[[int], Any], **more: Any) -> "Description":
    """What a training is beside its plan: the model's class, configuration and dtype, and ``more`` by name."""
    kinds = sorted({str(parameter.dtype) for parameter in model.parameters()})
    return Description(_as_json({**more, "model": model, "dtype": kinds}), batch_at)


def rates(schedule: Callable[[int], float], steps: int) -> dict[int, float]:
    """A schedule by its values at steps 0, 1, 2, 4, 8, … and at the last."""
    powers = [2**power for power in range(steps.bit_length()) if 2**power < steps]
    return {step: float(schedule(step)) for step in (0, *powers, steps - 1)}


def settings(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimiser by its class and what is set; without the learning rate, which changes, and what is off."""
    on = {name: value for name, value in optimiser.defaults.items() if value is not None and value is not False}
    return {"class": type(optimiser).__name__, **{name: value for name, value in on.items() if name != "lr"}}


@dataclass(frozen=True)
class Description:
    """What a checkpoint says of its training, so that no other training goes on from it.

    Fields:
        words: everything but the batches, as JSON has it.
        batch_at: the batch of a step. Of the batches, the one of the last step before the checkpoint is compared.
    """

    words: dict[str, Any]
    batch_at: Callable[[int], Any]

    def to_save(self, step: int, batch: Any) -> dict[str, str]:
        """What is written into a checkpoint; ``batch`` is that of ``step``, the last one."""
        return {"training": json.dumps(self.words), "batch": json.dumps(_described(step, batch))}

    def refuse_another(self, path: str | Path, saved: Mapping[str, Any], plan: dict, is_over: bool) -> None:
        """Raise ValueError, with what differs, unless the checkpoint ``saved`` belongs to this training.

        More steps are allowed, and so are smaller rates and bounds of gradients, which a training needs that NaN has
        stopped; but not where nothing is left to train, for there they would change nothing.

        Args:
            plan: steps, rates and bounds of this training. is_over: whether nothing is left to train.
        """
        if not {"plan", "training", "batch"} <= saved.keys():
            raise ValueError(f"{path} holds no training, only {', '.join(saved)}; give another path")
        batch = json.loads(saved["batch"])
        found = [
            *differences(_as_json(saved["plan"]), _as_json(plan)),
            *differences(json.loads(saved["training"]), self.words),
            *differences(batch, _described(batch["step"], self.batch_at(batch["step"])), "batch"),
        ]
        if wrong := [one for one in found if is_over or not _is_allowed(*one)]:
            raise ValueError(f"{path} holds another training: {_in_words(wrong)}; give another path")


def _in_words(found: Sequence[tuple[str, Any, Any]]) -> str:
    shown = [f"{name} is {_short(there)} there and {_short(here)} here" for name, there, here in found[:SHOWN]]
    return "; ".join(shown) + (f"; and {len(found) - SHOWN} more differences" if len(found) > SHOWN else "")


def _short(value: Any) -> str:
    return value["class"] if isinstance(value, dict) and "class" in value else str(value)


def _described(step: int, batch: Any) -> dict[str, Any]:
    return _as_json({"step": step, "holds": batch})


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(describe(value)))


def _is_allowed(name: str, there: Any, here: Any) -> bool:
    if name == "steps":
        return here > there
    if name.startswith("schedule.") and None in (
        there,
        here,
    ):  # the last step of a shorter training, or of a longer one
        return True
    numbers = isinstance(there, int | float) and isinstance(here, int | float)
    return name.split(".")[0] in MAY_FALL and numbers and here < there


# ---- random numbers


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of torch's own generators, of the CPU and of ``device``, by the kind of device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        states[device.type] = torch.get_device_module(device).get_rng_state(*_which(device))
    return states


def set_random_states(every: Sequence[Mapping[str, Tensor]], device: torch.device) -> None:
    """Go on with the random numbers of :func:`random_states`, one for each process; what is of another device stays."""
    states = every[min(parallel.rank(), len(every) - 1)]
    torch.set_rng_state(states["cpu"].cpu())
    if device.type != "cpu" and device.type in states:
        torch.get_device_module(device).set_rng_state(states[device.type].cpu(), *_which(device))


def _which(device: torch.device) -> tuple[torch.device, ...]:
    return () if device.type == "mps" else (device,)  # there is one MPS device, and its functions take none
