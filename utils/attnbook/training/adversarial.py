"""Training two networks against each other: hinge losses, two learning rates, and somebody who watches."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

from attnbook.models.sagan import SAGAN
from attnbook.seeding import seed_of_step
from attnbook.threads import one_thread_if_small
from attnbook.training.checkpoints import load_checkpoint, not_finite, save_checkpoint
from attnbook.training.progress import report_steps
from attnbook.training.resuming import Description, description_of, held

Watch = Callable[[SAGAN], dict[str, Any]]


def hinge_losses(real: Tensor, fake: Tensor) -> tuple[Tensor, Tensor]:
    """What the discriminator and the generator minimise.

    Args:
        real, fake: ``(B,)``, the discriminator's scores of real and of generated images.

    Returns:
        Two scalars. The discriminator's is mean max(0, 1 − real) + mean max(0, 1 + fake): scores beyond ±1 on the right
        side cost nothing. The generator's is − mean fake.

    Raises:
        ValueError: if there is no score among ``real`` or among ``fake``.

    Source: Zhang et al. 2019, equation 4; Lim and Ye 2017.
    """
    if real.numel() == 0 or fake.numel() == 0:
        raise ValueError(f"real and fake must hold a score at least, got {real.numel()} and {fake.numel()}")
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean(), -fake.mean()


@dataclass
class AdversarialHistory:
    """What happened in a training.

    Fields:
        discriminator_losses, generator_losses: of each step.
        watched: what ``watch`` returned, each with its ``step``.
        seconds: time spent in steps.
    """

    discriminator_losses: list[float] = field(default_factory=list)
    generator_losses: list[float] = field(default_factory=list)
    watched: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return len(self.generator_losses)


def fit_adversarially(
    model: SAGAN,
    batch_at: Callable[[int], Tensor],
    steps: int,
    *,
    seed: int = 0,
    learning_rates: tuple[float, float] = (1e-3, 2e-3),
    betas: tuple[float, float] = (0.0, 0.9),
    watch: Watch | None = None,
    watch_every: int = 50,
    checkpoint: str | Path | None = None,
    progress: bool = True,
) -> AdversarialHistory:
    """Train ``model`` where it is (on its device) with Adam: in each step first the discriminator, then the generator.

    Args:
        batch_at: the real images ``(B, 1, H, W)`` of step 0, 1, …; a pure function of the step.
        steps: how many steps in all, those before an interruption counted in.
        seed: of the noise; that of a step depends on the seed and the step alone.
        learning_rates: of the generator and of the discriminator.
        betas: how much of its running means Adam keeps at each step.
        watch: ``watch(model) -> figures``, called before the first step and after every ``watch_every`` steps, with the
            model in evaluation mode and without gradients. What it returns goes into the history with its ``step``.
        checkpoint: a file, written as often. If it is there already, training goes on from it, and on the CPU ends bit
            by bit where the uninterrupted training would have ended. It must be of this training, as for
            :func:`~attnbook.training.fit`; the rates may be smaller than before, as after NaN.
        progress: show a progress bar.

    Returns:
        :class:`AdversarialHistory`. The model is left in evaluation mode.

    Raises:
        ValueError: if ``steps`` or ``watch_every`` is not positive, or the checkpoint belongs to another training.
        FloatingPointError: if a loss, a gradient, a weight or a state of an optimiser is no longer a finite number. The
            checkpoint holds what was before.
        RuntimeError: if another training is under way with the same checkpoint.

    Source: Zhang et al. 2019, section 4; two learning rates: Heusel et al. 2017.
    """
    if steps < 1 or watch_every < 1:
        raise ValueError(f"steps and watch_every must be at least 1, got {steps} and {watch_every}")
    plan = {"seed": seed, "learning_rates": list(learning_rates), "betas": list(betas)}
    run = _Run(model, plan)
    with held(checkpoint), one_thread_if_small(model):
        if checkpoint is not None:
            run.keep_at(Path(checkpoint), description_of(model, batch_at), steps)
        report_steps(run.history.steps)  # those before an interruption
        with tqdm(total=steps, initial=run.history.steps, disable=not progress, leave=False, mininterval=0.5) as bar:
            if run.history.steps == 0:
                run.watch(watch)
            while run.history.steps < steps:
                discriminator, generator = run.step(batch_at(run.history.steps))
                note = f"losses {discriminator:.2f}, {generator:.2f}"
                bar.set_postfix_str(note, refresh=False)
                bar.update()
                report_steps(1, note)
                if run.history.steps % watch_every == 0 or run.history.steps == steps:
                    run.pause(watch)
    model.eval()
    return run.history


class _Run:
    """A training under way: everything that changes from step to step, and nothing else."""

    def __init__(self, model: SAGAN, plan: dict[str, Any]) -> None:
        self.model, self.plan, self.history = model, plan, AdversarialHistory()
        self.device = next(model.parameters()).device
        self.batch: Any = None  # of the last step
        self.checkpoint: Path | None = None
        self.description: Description | None = None
        networks = (model.generator, model.discriminator)
        self.optimisers = [
            torch.optim.Adam(network.parameters(), lr=rate, betas=tuple(plan["betas"]))
            for network, rate in zip(networks, plan["learning_rates"], strict=True)
        ]

    def step(self, real: Tensor) -> tuple[float, float]:
        """Take one step of each network on as many generated images as real ones; return the two losses."""
        start, number = time.perf_counter(), self.history.steps
        self.batch = real
        self.model.train()
        # Tests and figures draw with small seeds.
        noise = self.model.generator.noise(len(real), seed_of_step(self.plan["seed"], number))
        fake = self.model.generator(noise)  # (B, 1, H, W)
        losses = self._discriminator_step(real.to(self.device), fake.detach()), self._generator_step(fake)
        for kept, loss in zip((self.history.discriminator_losses, self.history.generator_losses), losses, strict=True):
            kept.append(loss)
        self.history.seconds += time.perf_counter() - start
        return losses

    def _discriminator_step(self, real: Tensor, fake: Tensor) -> float:
        # One pass for both, as the discriminator treats each image by itself.
        scores = self.model.discriminator(torch.cat([real, fake]))  # (2 B,)
        loss, _ = hinge_losses(*scores.chunk(2))
        return self._move(self.model.discriminator, self.optimisers[1], loss)

    def _generator_step(self, fake: Tensor) -> float:
        discriminator = self.model.discriminator.requires_grad_(False)  # it only passes the gradient on
        try:
            scores = discriminator(fake)  # (B,)
            _, loss = hinge_losses(scores, scores)
            return self._move(self.model.generator, self.optimisers[0], loss)
        finally:
            discriminator.requires_grad_(True)  # or, after an interruption, it would never learn again

    def _move(self, network: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor) -> float:
        """Take a step down a loss, unless it or its gradient is not finite; both are fetched at once from a device."""
        optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.get_total_norm(one.grad for one in network.parameters() if one.grad is not None)
        numbers = torch.stack([loss.detach(), norm]).tolist()
        for name, number in zip(("loss", "norm of the gradients"), numbers, strict=True):
            if not math.isfinite(number):
                self._stop(f"the {name} of the {type(network).__name__} is {number} at step {self.history.steps}")
        optimiser.step()
        return numbers[0]

    def _stop(self, what: str) -> NoReturn:
        there = self.checkpoint is not None and self.checkpoint.exists()
        rest = f"; with these, training goes on from {self.checkpoint}" if there else ""
        raise FloatingPointError(f"{what}; try smaller learning_rates{rest}")

    def watch(self, watch: Watch | None) -> None:
        """Let somebody watch, where that is wanted."""
        if watch is not None:
            self.model.eval()
            with torch.no_grad():
                self.history.watched.append({"step": self.history.steps, **watch(self.model)})

    def pause(self, watch: Watch | None) -> None:
        """Let somebody watch and write a checkpoint, where these are wanted."""
        if (name := not_finite(self.model, *self.optimisers)) is not None:
            self._stop(f"{name} is not finite after step {self.history.steps - 1}")
        self.watch(watch)
        if self.checkpoint is not None and self.description is not None:
            save_checkpoint(
                self.checkpoint,
                model=self.model.state_dict(),
                optimisers=[optimiser.state_dict() for optimiser in self.optimisers],
                history=asdict(self.history),
                plan=self.plan,
                **self.description.to_save(self.history.steps - 1, self.batch),
            )

    def keep_at(self, path: Path, description: Description, steps: int) -> None:
        """Write checkpoints to ``path`` from now on; if there is one, go on from it."""
        self.checkpoint, self.description = path, description
        if not path.exists():
            return
        saved = load_checkpoint(path, self.device)
        history = AdversarialHistory(**saved.get("history", {}))
        description.refuse_another(path, saved, self.plan, history.steps >= steps)
        try:
            self.model.load_state_dict(saved["model"])
        except RuntimeError as error:
            raise ValueError(f"{path} holds another model: {error}") from error
        for optimiser, state, rate in zip(
            self.optimisers, saved["optimisers"], self.plan["learning_rates"], strict=True
        ):
            optimiser.load_state_dict(state)
            optimiser.param_groups[0]["lr"] = rate  # it may be smaller now
        self.history = history
