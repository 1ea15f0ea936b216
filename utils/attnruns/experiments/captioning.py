"""Captions for canvases of digits: no attention, soft, hard (REINFORCE) and straight-through attention (chapter 06)."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.pictures.captions import LONGEST, SIDE, WORDS, Canvases, Crops, canvases, digit_crops, named_cells
from attnbook.decoding import greedy
from attnbook.device import device_of
from attnbook.measure.metrics import pointing_accuracy
from attnbook.models.captioning import FEATURES, Captioner, DigitClassifier, FeatureMap
from attnbook.modes import evaluating, training_mode
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training.captioning import CaptionLoss, HardCaptionLoss, draw_locations
from attnbook.training.reinforce import leave_one_out_baseline, reinforce_loss, reward_to_go
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train
from attnruns.shared.timing import shortest_time

# How every captioner trains, beside its number of steps; and how the feature map is pretrained on single digits.
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 2e-3, "warmup": 50, "max_grad_norm": 1.0}
PRETRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
PRETRAINING_STEPS = 800
TESTS, TEST_SEED = 500, 0  # held-out canvases of each size; training begins at 1,000,003
EARLY = 100  # the step after which the variance of the gradient is measured for the first time
VARIANCE = {"canvases": 16, "repeats": 24, "samples": 4}
HALF_A_CELL = 2  # pixels
ENTROPY = 0.01  # λ_e of the entropy bonus


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its training.

    Fields:
        attention, gate: see :class:`~attnbook.models.captioning.Captioner`.
        steps: of training, without those of pretraining.
        penalty: see :class:`~attnbook.training.captioning.CaptionLoss`.
        samples, to_go: of hard attention; see :class:`~attnbook.training.captioning.HardCaptionLoss`.
        pretrained: begin with a feature map that classifies single digits.
        kept: whether the weights of seed 0 are kept.
    """

    attention: str = "soft"
    gate: bool = False
    steps: int = 1000
    penalty: float = 0.0
    samples: int = 1
    to_go: bool = False
    pretrained: bool = True
    kept: bool = False

    def loss(self) -> Callable:
        """A fresh loss; that of hard attention keeps a baseline."""
        if self.attention == "hard":
            return HardCaptionLoss(self.samples, self.to_go, entropy=ENTROPY)
        return CaptionLoss(self.penalty)


RECIPES = {
    "none": Recipe("mean"),
    "soft": Recipe(kept=True),
    "soft_penalty": Recipe(penalty=1.0),
    "soft_not_pretrained": Recipe(pretrained=False),
    "hard": Recipe("hard", steps=1500),
    "hard_4": Recipe("hard", steps=800, samples=4, to_go=True, kept=True),
    "straight_through": Recipe("straight_through", kept=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> Captioner:
    """A fresh model of this experiment, not pretrained."""
    recipe = chosen(RECIPES, name)
    return Captioner(len(WORDS), recipe.attention, gate=recipe.gate)


class SingleDigits:
    """The task of pretraining, as ``train`` asks for it."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Crops:
        """The crops of a step."""
        return digit_crops(batch_size, seed_of_step(seed, step))


class Captions:
    """The task of training, as ``train`` asks for it: new canvases at each step, with 2 or 3 digits."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Canvases:
        """The canvases of a step."""
        return canvases(batch_size, seed_of_step(seed, step))


def classifier_loss(model: nn.Module, batch: Crops) -> Tensor:
    """Cross entropy of the digit, in nats."""
    return F.cross_entropy(model(batch.image), batch.label)


def pretrain(seed: int, steps: int = PRETRAINING_STEPS) -> tuple[FeatureMap, dict]:
    """A feature map that classifies single digits; with its seconds and its accuracy on held-out digits."""
    model = DigitClassifier(FeatureMap())
    job = Job("pretraining", seed, steps)
    _, figures = train(model, SingleDigits(), job, PRETRAINING, loss=classifier_loss)  # type: ignore[arg-type]
    image, label = digit_crops(4 * TESTS, TEST_SEED, held_out=True).to(device_of(model))
    with torch.no_grad():
        right = (model(image).argmax(dim=-1) == label).cpu().double().mean().item()
    return model.features, {"pretraining_seconds": figures["seconds"], "pretraining_accuracy": round(right, 4)}


# ---- what is measured


def held_out_canvases(digits: int, count: int | None = None) -> Canvases:
    """The held-out canvases with so many digits."""
    return canvases(count or TESTS, TEST_SEED + digits, digits, held_out=True)


@evaluating
def exact_match(model: Captioner, batch: Canvases) -> float:
    """Part of the captions that the model writes without a single mistake, greedily."""
    written = greedy(model, batch.image.to(device_of(model)), max_length=LONGEST).tokens.tolist()
    pairs = zip(written, batch.target.tolist(), strict=True)
    return round(sum(WORDS.decode(ours) == WORDS.decode(right) for ours, right in pairs) / len(written), 4)


@evaluating
def attended(model: Captioner, batch: Canvases) -> dict[str, float]:
    """Under teacher forcing, at words that name a digit: where does the map's peak lie, and how high is it?

    Returns:
        ``pointing``: share of these words whose peak lies in the digit or at most half a cell beside it.
        ``pointing_inside``: in the digit itself. ``largest_weight``: of the peak.
        ``weight_inside``: all weight within the digit.
    """
    batch = batch.to(device_of(model))
    _, weights, _ = model(batch.image, shift_right(batch.target))  # (B, T, Tk)
    cells = named_cells(batch)
    peaks = weights.amax(dim=-1)[cells.any(dim=-1)]
    inside = (weights * cells).sum(dim=-1)[cells.any(dim=-1)]
    return {
        "pointing": round(pointing_accuracy(weights, named_cells(batch, margin=HALF_A_CELL)), 4),
        "pointing_inside": round(pointing_accuracy(weights, cells), 4),
        "largest_weight": rounded_mean(peaks),
        "weight_inside": rounded_mean(inside),
    }


def by_digits(figures: Callable[[Canvases], float | dict[str, float]], name: str = "exact_match") -> dict[str, dict]:
    """Ask for figures on the test canvases of each size: ``{"exact_match": {"2": …, "3": …}, …}``."""
    found: dict[str, dict] = {}
    for digits in (2, 3):
        asked = figures(held_out_canvases(digits))
        for key, value in (asked if isinstance(asked, dict) else {name: asked}).items():
            found.setdefault(key, {})[str(digits)] = value
    return found


def estimators(words: Tensor, expected: Tensor) -> dict[str, tuple[Tensor, int]]:
    """Advantages ``(B, N, T)`` of several REINFORCE estimators, and how many draws per caption each may use.

    Args:
        words: ``(B, N, T)``, log p of each word, given the draws.
        expected: ``(T,)``, what these are on average: the sums of it are what a moving baseline tends to.
    """
    whole, to_go = words.sum(dim=-1, keepdim=True).expand_as(words), reward_to_go(words)
    moving, moving_to_go = whole - expected.sum(), to_go - reward_to_go(expected)
    return {
        "none": (whole, 1),
        "moving": (moving, 1),
        "to_go": (to_go, 1),
        "to_go_moving": (moving_to_go, 1),
        "to_go_moving_4": (moving_to_go, 4),
        "to_go_leave_one_out_4": (to_go - leave_one_out_baseline(to_go), 4),
    }


def attention_parameters(model: Captioner) -> list[nn.Parameter]:
    """The parameters of the score, which get their gradient from REINFORCE alone."""
    return [] if model.score is None else list(model.score.parameters())


def gradient_variance(model: Captioner, seed: int, repeats: int | None = None) -> dict[str, float]:
    """Variance of the REINFORCE estimate for the attention parameters, summed over them, on the same canvases.

    The estimate is that of the mean caption's log-probability in nats. All estimators see the same draws.
    """
    batch = canvases(VARIANCE["canvases"], 900_001 + seed).to(device_of(model))
    parameters = attention_parameters(model)
    found: dict[str, list[Tensor]] = {}
    with training_mode(model):
        with torch.no_grad():
            expected = draw_locations(model, batch, 16).words.mean(dim=(0, 1))  # (T,)
        for _ in range(repeats or VARIANCE["repeats"]):
            draws = draw_locations(model, batch, VARIANCE["samples"])
            for name, (advantage, n) in estimators(draws.words.detach(), expected).items():
                loss = reinforce_loss(draws.locations[:, :n].flatten(0, 1), advantage[:, :n].flatten(0, 1))
                gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
                found.setdefault(name, []).append(torch.cat([g.flatten() for g in gradients]))
    return {name: float(f"{torch.stack(rows).var(dim=0).sum().item():.3g}") for name, rows in found.items()}


class EarlyVariance:
    """What ``fit`` calls every ``EARLY`` steps: the first time it measures the variance, then nothing more."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.figures: dict[str, float] = {}

    def __call__(self, model: Captioner) -> float:
        """Measure, once; the number returned means nothing."""
        if not self.figures:
            state = torch.get_rng_state()
            self.figures = gradient_variance(model, self.seed)
            torch.set_rng_state(state)  # training goes on as if nobody had measured
        return 0.0


def multiplications(attention: str, model: Captioner) -> dict[str, int]:
    """Multiplications of attention per word, by part: ``scores``, and ``context``, which a single position saves."""
    positions, hidden, width = (SIDE // 4) ** 2, model.cell.cell.hidden_size, FEATURES
    scores = 0 if attention == "mean" else hidden * width + positions * width  # W_q h, then v · tanh at each position
    return {"scores": scores, "context": positions * width if attention in ("soft", "straight_through") else 0}


def milliseconds_per_step(model: Captioner, loss: Callable, repeats: int = 7) -> float:
    """Forward and backward pass of one training batch: the median, in milliseconds of the processor."""
    batch = Captions().batch_at(0, TRAINING["batch"]).to(device_of(model))

    def work() -> None:
        loss(model, batch).backward()
        model.zero_grad()

    with training_mode(model):
        spent = median(shortest_time(1, work)[0] for _ in range(repeats))
    return round(1000 * spent, 1)


def run(job: Job) -> Outcome:
    """Pretrain, train and measure one model."""
    seed_everything(job.seed)
    recipe = chosen(RECIPES, job.model)
    figures: dict[str, Any] = {}
    model = build(job.model)
    if recipe.pretrained:
        features, figures = pretrain(job.seed, min(PRETRAINING_STEPS, job.steps))
        model.features.load_state_dict(features.state_dict())
    early = EarlyVariance(job.seed)
    watch = {"validate": early, "validate_every": EARLY} if recipe.attention == "hard" else {}
    history, learned = train(model, Captions(), job, TRAINING, loss=recipe.loss(), **watch)  # type: ignore[arg-type]
    figures |= learned | {"losses": chunk_means(history.losses, 50, digits=4)}
    figures |= by_digits(lambda batch: exact_match(model, batch))
    if recipe.attention != "mean":
        figures |= by_digits(lambda batch: attended(model, batch))
    if recipe.attention == "hard":
        figures["gradient_variance"] = {"early": early.figures, "late": gradient_variance(model, job.seed)}
    figures["milliseconds_per_step"] = milliseconds_per_step(model, recipe.loss())
    figures["multiplications"] = multiplications(recipe.attention, model)
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "captioning",
    STEPS,
    run,
    {
        "task": "canvases",
        "tests": TESTS,
        **TRAINING,
        "pretraining": {"steps": PRETRAINING_STEPS, **PRETRAINING},
        "entropy": ENTROPY,
        "variance": VARIANCE,
        "early": EARLY,
    },
    trainings=2,
    build=build,
)
trained = EXPERIMENT.trained
