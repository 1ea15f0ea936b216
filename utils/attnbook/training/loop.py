"""One training loop for every model of the book."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from attnbook.data.batching import Batch
from attnbook.threads import one_thread_if_small
from attnbook.training import parallel
from attnbook.training.checkpoints import load_checkpoint, not_finite, save_checkpoint
from attnbook.training.losses import ChangingLoss, teacher_forcing_loss
from attnbook.training.progress import report_steps
from attnbook.training.resuming import (
    Description,
    description_of,
    held,
    random_states,
    rates,
    set_random_states,
    settings,
)
from attnbook.training.schedules import warmup_then_cosine
from attnbook.training.stopping import ends_early
from attnbook.trees import moved

Loss = Callable[[nn.Module, Any], Tensor] | ChangingLoss  # of a model and a batch
MakeOptimiser = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
READ_EVERY, READ_EVERY_ON = 20, {"cpu": 1}  # steps; to read a loss is to wait for a graphics card


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
    schedule: Callable[[int], float] | None = None,
    optimiser: MakeOptimiser = torch.optim.AdamW,
    max_grad_norm: float = 1.0,
    max_grad_value: float | None = None,
    loss: Loss = teacher_forcing_loss,
    validate: Callable[[nn.Module], float] | None = None,
    validate_every: int = 200,
    patience: int | None = None,
    enough: float | None = None,
    checkpoint: str | Path | None = None,
    mixed_precision: bool = False,
    progress: bool = True,
) -> History:
    """Train ``model`` where it is (on its device) with AdamW, warm-up, cosine fall and clipped gradients.

    A small model on the CPU trains on one thread, see :func:`~attnbook.threads.one_thread_if_small`. Several processes
    started by ``torchrun`` share each batch, inside :func:`~attnbook.training.parallel.process_group`; then batches are
    :class:`~attnbook.data.batching.Batch` and the loss is a mean over the real words of the target.

    Args:
        batch_at: the batch of step 0, 1, …, a :class:`~attnbook.data.batching.Batch` or another tree of tensors that
            ``loss`` takes (:mod:`attnbook.trees`); a pure function of the step (``task.batch_at``), so that a resumed
            training sees what the uninterrupted one would have seen.
        steps: how many steps in all, those before an interruption counted in.
        learning_rate: the highest one. ``warmup``: steps until it is reached.
        schedule: the learning rate of each step, ``schedule(step)``, in place of ``learning_rate`` and ``warmup``.
        optimiser: makes the optimiser of the parameters, such as ``partial(torch.optim.AdamW, betas=(0.9, 0.98))``; its
            learning rate is set at each step.
        max_grad_norm: gradients of a larger norm, all of them together, are shortened to this.
        max_grad_value: each number of the gradients is held between plus and minus this, before their norm is.
        loss: ``loss(model, batch) -> scalar``, or a :class:`~attnbook.training.losses.ChangingLoss`, which is asked for
            the loss of each step.
        validate: ``validate(model) -> number``, higher is better, called every ``validate_every`` steps. Of several
            processes the first one's number counts. What it is to remember across an interruption it gives and takes by
            ``state_dict()`` and ``load_state_dict(state)``.
        patience: stop early when that many validations in a row brought nothing better. The model keeps its last
            weights, which need not be its best. The learning rate is laid out for all ``steps``: a training that stops
            early has not seen the low rates of the end, so its last results are not those of a shorter training.
        enough: stop early when two validations in a row have reached this.
        checkpoint: a file, written as often. If it is there already, training goes on from it, and on the CPU ends
            bit by bit where the uninterrupted training would have ended. It must be of this training: the same
            classes and configurations of model, loss and optimiser, the same rates and batches. While something is left
            to train, the rate, a schedule and the bounds of gradients may be lower than before, as after NaN, and
            ``steps`` may be more (a fall of the rate is then laid out anew). A loss with a state gives and takes it as
            ``validate`` does.
        mixed_precision: compute in bfloat16 where that is safe; on a GPU only.
        progress: show a progress bar, with the loss and (of batches of words) the tokens per second.

    Returns:
        :class:`History`. The model is left in evaluation mode.

    Raises:
        ValueError: if ``steps``, ``validate_every`` or ``patience`` is not positive, there is patience or enough but
            nothing to validate, mixed precision is asked for on the CPU, or the checkpoint belongs to another training.
        FloatingPointError: if the loss, a gradient, a weight or a state of the optimiser is no longer a finite number;
            on a graphics card up to 20 steps later. The checkpoint holds what was before.
        RuntimeError: if another training is under way with the same checkpoint.

    Source: Prechelt 1998, for stopping early.
    """
    device = next(model.parameters()).device
    _check_wishes(steps, validate_every, patience, validate, mixed_precision, device)
    if enough is not None and validate is None:
        raise ValueError(f"enough is compared with validations and needs validate, got {enough}")
    plan: dict[str, Any] = {"steps": steps, "learning_rate": learning_rate, "warmup": warmup}
    plan["max_grad_norm"] = max_grad_norm
    plan |= {} if max_grad_value is None else {"max_grad_value": max_grad_value}
    run = _Run(model, plan, schedule or partial(_warmup_then_cosine, plan), loss, mixed_precision, optimiser)
    run.remembering |= {"validation": validate} if hasattr(validate, "state_dict") else {}

    def is_over(history: History) -> bool:
        return history.steps >= steps or ends_early(history.results(), patience, enough)

    hidden = not progress or parallel.rank() > 0
    with held(checkpoint), one_thread_if_small(model):
        if checkpoint is not None:
            chosen = rates(schedule, steps) if schedule else None
            words = {"loss": loss, "optimiser": settings(run.optimiser), "schedule": chosen}
            run.keep_at(Path(checkpoint), description_of(model, batch_at, **words), is_over)
        report_steps(run.history.steps)  # those before an interruption
        with tqdm(total=steps, initial=run.history.steps, disable=hidden, leave=False, mininterval=0.5) as bar:
            while not is_over(run.history):
                run.batch = batch_at(run.steps)
                run.tokens += run.batch.tokens() if isinstance(run.batch, Batch) else 0
                run.step(moved(run.batch, device))
                note = run.note()
                bar.set_postfix_str(note, refresh=False)
                bar.update()
                report_steps(1, note)
                if run.steps % validate_every == 0 or run.steps == steps:
                    run.pause(validate)
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


class _Run:
    """A training under way: everything that changes from step to step, and nothing else."""

    def __init__(self, model, plan, schedule, loss, mixed_precision, optimiser: MakeOptimiser) -> None:
        self.model, self.plan, self.schedule = model, plan, schedule
        self.replica = parallel.replicated(model)
        self.loss, self.mixed_precision = loss, mixed_precision
        self.history = History()
        self.optimiser = optimiser(model.parameters())
        self.device = next(model.parameters()).device
        self.unread: list[Tensor] = []  # loss and norm of the gradients, (2,) for each step since the last reading
        self.read_every = READ_EVERY_ON.get(self.device.type, READ_EVERY)
        self.tokens, self.seconds_before = 0, 0.0  # read by this process, and spent by those before
        self.remembering: dict[str, Any] = {"loss": loss} if hasattr(loss, "state_dict") else {}  # saved with the model
        self.batch: Any = None  # of the last step
        self.checkpoint: Path | None = None
        self.description: Description | None = None

    @property
    def steps(self) -> int:
        """Number of steps taken, those included whose loss was not yet read."""
        return self.history.steps + len(self.unread)

    def step(self, batch: Batch) -> None:
        """Take one step of training."""
        start, cpu_start = time.perf_counter(), time.process_time()
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule(self.steps)
        self.model.train()
        loss_now = self.loss.at(self.steps) if isinstance(self.loss, ChangingLoss) else self.loss
        batch, weight = parallel.share_of(batch, parallel.rank(), parallel.size())
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.mixed_precision):
            loss = self.replica(loss_now, batch) * weight
        whole_loss = parallel.mean_over_processes(loss).detach()
        self.optimiser.zero_grad()
        loss.backward()
        if "max_grad_value" in self.plan:
            nn.utils.clip_grad_value_(self.model.parameters(), self.plan["max_grad_value"])
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.plan["max_grad_norm"])
        self.unread.append(torch.stack([whole_loss.reshape(()), norm.to(whole_loss.device)]))
        if len(self.unread) >= self.read_every:
            self.read()
        self.optimiser.step()
        self.history.seconds += time.perf_counter() - start
        self.history.cpu_seconds += time.process_time() - cpu_start

    def read(self) -> None:
        """Take the losses since the last reading into the history, if they and the gradients are finite."""
        numbers, self.unread = [pair.tolist() for pair in self.unread], []
        for loss, norm in numbers:
            for name, number in (("the loss", loss), ("the norm of the gradients", norm)):
                if not math.isfinite(number):
                    self._stop(f"{name} is {number} at step {self.history.steps}")
            self.history.losses.append(loss)

    def _stop(self, what: str) -> NoReturn:
        there = self.checkpoint is not None and self.checkpoint.exists()
        rest = f"; with either, training goes on from {self.checkpoint}" if there else ""
        raise FloatingPointError(f"{what}; try a smaller learning_rate or max_grad_norm{rest}")

    def note(self) -> str:
        """The last loss that was read, and how many tokens this process has read per second of its steps."""
        loss = f"loss {self.history.losses[-1]:.3f}" if self.history.losses else "loss …"
        seconds = self.history.seconds - self.seconds_before
        return f"{loss}, {self.tokens / seconds:,.0f} tokens/s" if self.tokens and seconds > 0 else loss

    def pause(self, validate: Callable[[nn.Module], float] | None) -> None:
        """Validate and write a checkpoint, where these are wanted."""
        self.read()
        if (name := not_finite(self.model, self.optimiser)) is not None:
            self._stop(f"{name} is not finite after step {self.history.steps - 1}")
        if validate is not None:
            self.model.eval()
            result = parallel.from_first(float(validate(self.model)))  # all processes must stop at the same step
            self.history.validations.append((self.history.steps, result))
        if self.checkpoint is not None:
            self.save(self.checkpoint, parallel.from_all(random_states(self.device)))

    def save(self, path: Path, random: list[dict[str, Tensor]]) -> None:
        """Write everything that :meth:`resume` needs, ``random`` being that of all processes; the first one writes."""
        if parallel.rank() > 0 or self.description is None:
            return
        save_checkpoint(
            path,
            model=self.model.state_dict(),
            optimiser=self.optimiser.state_dict(),
            history=asdict(self.history),
            plan=self.plan,
            random=random,
            **self.description.to_save(self.history.steps - 1, self.batch),
            **{name: one.state_dict() for name, one in self.remembering.items()},
        )

    def keep_at(self, path: Path, description: Description, is_over: Callable[[History], bool]) -> None:
        """Write checkpoints to ``path`` from now on; if there is one, go on from it."""
        self.checkpoint, self.description = path, description
        if not path.exists():
            return
        saved = load_checkpoint(path, self.device)
        history = History(**saved.get("history", {}))
        description.refuse_another(path, saved, self.plan, is_over(history))
        for name in self.remembering:
            if name not in saved:
                raise ValueError(f"{path} holds no state of {name}, which this training needs; give another path")
        self.resume(path, saved, history)

    def resume(self, path: Path, saved: dict[str, Any], history: History) -> None:
        """Go on from what :meth:`save` has written."""
        try:
            self.model.load_state_dict(saved["model"])
        except RuntimeError as error:
            raise ValueError(f"{path} holds another model: {error}") from error
        self.optimiser.load_state_dict(saved["optimiser"])
        self.history, self.seconds_before = history, history.seconds
        for name, one in self.remembering.items():
            one.load_state_dict(saved[name])
        set_random_states(saved["random"], self.device)
