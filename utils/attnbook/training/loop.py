"""One training loop for every model of the book."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from attnbook.data.batching import Batch
from attnbook.threads import one_thread_if_small
from attnbook.training import parallel
from attnbook.training.checkpoints import load_checkpoint, save_checkpoint
from attnbook.training.losses import teacher_forcing_loss
from attnbook.training.progress import report_steps
from attnbook.training.schedules import warmup_then_cosine
from attnbook.training.stopping import ends_early

_RENAMED = {"rate": "learning_rate", "clip": "max_grad_norm"}  # older checkpoints have the old names


class ChangingLoss(Protocol):
    """A loss that is another one at each step."""

    def at(self, step: int) -> Callable[[nn.Module, Batch], Tensor]:
        """The loss of this step."""


Loss = Callable[[nn.Module, Any], Tensor] | ChangingLoss  # of a model and a batch
MakeOptimiser = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


@dataclass
class History:
    """What happened in a training.

    Fields:
        losses: the loss of each step, in nats a word.
        validations: (step, result) each time ``validate`` was called.
        seconds: time spent in steps, by the clock. cpu_seconds: what the processor worked in them.
    """

    losses: list[float] = field(default_factory=list)
    validations: list[tuple[int, float]] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return len(self.losses)

    def results(self) -> list[float]:
        """Of the validations so far, without their steps."""
        return [result for _, result in self.validations]

    def best(self) -> float:
        """The highest validation result so far; −inf before the first."""
        return max(self.results(), default=float("-inf"))


def fit(
    model: nn.Module,
    batch_at: Callable[[int], Any],
    steps: int,
    *,
    learning_rate: float = 3e-3,
    warmup: int = 100,
    max_grad_norm: float = 1.0,
    betas: tuple[float, float] = (0.9, 0.999),
    schedule: Callable[[int], float] | None = None,
    loss: Loss = teacher_forcing_loss,
    validate: Callable[[nn.Module], float] | None = None,
    validate_every: int = 200,
    patience: int | None = None,
    enough: float | None = None,
    optimiser: MakeOptimiser | None = None,
    max_grad_value: float | None = None,
    checkpoint: str | Path | None = None,
    mixed_precision: bool = False,
    progress: bool = True,
) -> History:
    """Train ``model`` where it is (on its device) with AdamW, warm-up, cosine fall and clipped gradients.

    A small model on the CPU trains on one thread, see :func:`~attnbook.threads.one_thread_if_small`. Several processes
    started by ``torchrun`` share each batch, inside :func:`~attnbook.training.parallel.process_group`; then batches are
    :class:`~attnbook.data.batching.Batch` and the loss is a mean over the real words of the target.

    Args:
        batch_at: the batch of step 0, 1, …, a :class:`~attnbook.data.batching.Batch` or whatever else ``loss`` takes
            and ``to(device)`` moves; a pure function of the step (``task.batch_at``), so that a resumed
            training sees what the uninterrupted one would have seen.
        steps: how many steps in all, those before an interruption counted in.
        learning_rate: the highest one. ``warmup``: steps until it is reached.
        max_grad_norm: gradients of a larger norm, all of them together, are shortened to this.
        betas: how much of its running means of gradients, and of their squares, AdamW keeps at each step.
        schedule: the learning rate of each step, ``schedule(step)``, in place of ``learning_rate`` and ``warmup``.
        loss: ``loss(model, batch) -> scalar``. One that changes while training has a method ``at(step)`` returning it.
        validate: ``validate(model) -> number``, higher is better, called every ``validate_every`` steps. Of several
            processes the first one's number counts. What it is to remember across an interruption it gives and takes by
            ``state_dict()`` and ``load_state_dict(state)``.
        patience: stop early when that many validations in a row brought nothing better. The model keeps its last
            weights, which need not be its best. The learning rate is laid out for all ``steps``: a training that stops
            early has not seen the low rates of the end, so its last results are not those of a shorter training.
        enough: stop early when two validations in a row have reached this.
        optimiser: makes another optimiser of the parameters, in place of AdamW; the schedule sets its learning rate.
        max_grad_value: each number of the gradients is held between plus and minus this, before their norm is.
        checkpoint: a file, written as often. If it is there already, training goes on from it, and on the CPU ends
            bit by bit where the uninterrupted training would have ended.
        mixed_precision: compute in bfloat16 where that is safe; on a GPU only.
        progress: show a progress bar, with the loss and (of batches of words) the tokens per second.

    Returns:
        :class:`History`. The model is left in evaluation mode.

    Raises:
        ValueError: if ``steps``, ``validate_every`` or ``patience`` is not positive, there is patience or enough but
            nothing to validate, mixed precision is asked for on the CPU, or the checkpoint belongs to another model or
            another length of training.
        FloatingPointError: if the loss is no longer a number.

    Source: Prechelt 1998, for stopping early.
    """
    device = next(model.parameters()).device
    _check_wishes(steps, validate_every, patience, validate, mixed_precision, device)
    if enough is not None and validate is None:
        raise ValueError(f"enough is compared with validations and needs validate, got {enough}")
    plan: dict[str, Any] = {"steps": steps, "learning_rate": learning_rate, "warmup": warmup}
    plan |= {"max_grad_norm": max_grad_norm, "betas": tuple(betas)}
    plan |= {} if max_grad_value is None else {"max_grad_value": max_grad_value}
    run = _Run(model, plan, schedule or partial(_warmup_then_cosine, plan), loss, mixed_precision, optimiser)
    run.validation = validate if hasattr(validate, "state_dict") else None
    if checkpoint is not None and Path(checkpoint).exists():
        run.resume(checkpoint, device)
    report_steps(run.history.steps)  # those before an interruption
    hidden = not progress or parallel.rank() > 0
    bar = tqdm(total=steps, initial=run.history.steps, disable=hidden, leave=False, mininterval=0.5)
    with bar, one_thread_if_small(model):
        while run.history.steps < steps and not ends_early(run.history.results(), patience, enough):
            batch = batch_at(run.history.steps)
            run.tokens += batch.tokens() if isinstance(batch, Batch) else 0
            run.step(batch.to(device))
            note = run.note()
            bar.set_postfix_str(note, refresh=False)
            bar.update()
            report_steps(1, note)
            if run.history.steps % validate_every == 0 or run.history.steps == steps:
                run.pause(validate, checkpoint)
    report_steps(steps - run.history.steps)  # those that an early stop has saved
    model.eval()
    return run.history


def _check_wishes(steps, validate_every, patience, validate, mixed_precision, device) -> None:
    if steps < 1 or validate_every < 1:
        raise ValueError(f"steps and validate_every must be at least 1, got {steps} and {validate_every}")
    if patience is not None and (patience < 1 or validate is None):
        raise ValueError(f"patience counts validations: it must be at least 1 and needs validate, got {patience}")
    if mixed_precision and device.type == "cpu":
        raise ValueError("mixed_precision speeds up a GPU only, and the model is on the CPU; leave it out")


def _warmup_then_cosine(plan: dict, step: int) -> float:
    return plan["learning_rate"] * warmup_then_cosine(step, plan["steps"], plan["warmup"])


def _with_todays_names(plan: dict | None) -> dict | None:
    return plan and {_RENAMED.get(name, name): value for name, value in plan.items()}


class _Run:
    """A training under way: everything that changes from step to step, and nothing else."""

    def __init__(self, model, plan, schedule, loss, mixed_precision, optimiser: MakeOptimiser | None) -> None:
        self.model, self.plan, self.schedule = model, plan, schedule
        self.replica = parallel.replicated(model)
        self.loss, self.mixed_precision = loss, mixed_precision
        self.history = History()
        usual = partial(torch.optim.AdamW, lr=plan["learning_rate"], betas=plan["betas"])
        self.optimiser = (optimiser or usual)(model.parameters())
        self.device_type = next(model.parameters()).device.type
        self.tokens, self.seconds_before = 0, 0.0  # read by this process, and spent by those before
        self.validation: Any = None  # what is saved and restored along with the model

    def step(self, batch: Batch) -> None:
        """Take one step of training."""
        start, cpu_start = time.perf_counter(), time.process_time()
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule(self.history.steps)
        self.model.train()
        loss_now = self.loss.at(self.history.steps) if hasattr(self.loss, "at") else self.loss
        batch, weight = parallel.share_of(batch, parallel.rank(), parallel.size())
        with torch.autocast(self.device_type, dtype=torch.bfloat16, enabled=self.mixed_precision):
            loss = loss_now(self.replica, batch) * weight
        whole_loss = parallel.mean_over_processes(loss).item()
        if not math.isfinite(whole_loss):
            raise FloatingPointError(
                f"the loss is {whole_loss} at step {self.history.steps}; try a smaller learning_rate or max_grad_norm"
            )
        self.optimiser.zero_grad()
        loss.backward()
        if "max_grad_value" in self.plan:
            nn.utils.clip_grad_value_(self.model.parameters(), self.plan["max_grad_value"])
        nn.utils.clip_grad_norm_(self.model.parameters(), self.plan["max_grad_norm"])
        self.optimiser.step()
        self.history.losses.append(whole_loss)
        self.history.seconds += time.perf_counter() - start
        self.history.cpu_seconds += time.process_time() - cpu_start

    def note(self) -> str:
        """The loss of the last step, and how many tokens this process has read per second of its steps."""
        loss, seconds = f"loss {self.history.losses[-1]:.3f}", self.history.seconds - self.seconds_before
        return f"{loss}, {self.tokens / seconds:,.0f} tokens/s" if self.tokens and seconds > 0 else loss

    def pause(self, validate: Callable[[nn.Module], float] | None, checkpoint: str | Path | None) -> None:
        """Validate and write a checkpoint, where these are wanted."""
        if validate is not None:
            self.model.eval()
            result = parallel.from_first(float(validate(self.model)))  # all processes must stop at the same step
            self.history.validations.append((self.history.steps, result))
        if checkpoint is not None and parallel.rank() == 0:
            self.save(checkpoint)

    def save(self, path: str | Path) -> None:
        """Write everything that :meth:`resume` needs."""
        save_checkpoint(
            path,
            model=self.model.state_dict(),
            optimiser=self.optimiser.state_dict(),
            history=asdict(self.history),
            plan=self.plan,
            random=torch.get_rng_state(),
            **({} if self.validation is None else {"validation": self.validation.state_dict()}),
        )

    def resume(self, path: str | Path, device: torch.device) -> None:
        """Go on from a checkpoint of the same model and plan."""
        saved = load_checkpoint(path, device)
        plan = _with_todays_names(saved.get("plan"))
        if plan != self.plan:
            raise ValueError(f"{path} holds a training with {plan}, not {self.plan}; give another path")
        try:
            self.model.load_state_dict(saved["model"])
        except RuntimeError as error:
            raise ValueError(f"{path} holds another model: {error}") from error
        self.optimiser.load_state_dict(saved["optimiser"])
        self.history = History(**saved["history"])
        self.seconds_before = self.history.seconds
        if self.validation is not None:
            self.validation.load_state_dict(saved["validation"])
        torch.set_rng_state(saved["random"].cpu())
