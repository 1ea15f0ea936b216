"""Two distant digits that must agree: attention in both networks, in one, in none, and each other ingredient alone."""

import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnbook.data.pictures.digit_pairs import CLASSES, HEIGHT, WIDTH, crop_digits, digit_pairs
from attnbook.device import best_device
from attnbook.measure.images import agreement_and_chance, frechet_distance, mode_counts, nearest_digits, side_shares
from attnbook.models.sagan import SAGAN, VALUE_REDUCTION, ImageDiscriminator, ImageGenerator
from attnbook.modes import evaluation_mode
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training.adversarial import AdversarialHistory, fit_adversarially
from attnruns.shared.dense_positions import DensePositions
from attnruns.shared.judge import Judge, judge_accuracy, trained_judge
from attnruns.shared.mean_attention import MeanAttention
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means

TRAINING: dict[str, Any] = {"batch": 48, "betas": (0.0, 0.9)}
RATE, SLOWER_RATE = 2e-3, 1e-3
EVERY = 100  # steps from one measurement to the next
MONITORED, TESTS = 500, 2000  # generated images that are judged while training, and afterwards
TEST_SEED, MONITOR_SEED = 0, 1  # of the noise and of the held-out pairs; training begins at 1,000,003
ATTENDED = 200  # images whose attention is measured


@dataclass(frozen=True)
class Recipe:
    """What is chosen about the two networks and their training.

    Fields:
        generator, discriminator: whether they have attention.
        normalised: spectral normalisation, of the discriminator and of the generator's attention.
        gamma: where γ begins. value_reduction: a map of C features has values of C / value_reduction.
        generator_rate: its learning rate; that of the discriminator is 2e-3.
        classes: the digits that occur. steps: of training.
        height, width: of a canvas. channels: of both networks' first maps.
        mean: the discriminator's attention has uniform weights; each position receives the mean of all values.
        dense: in both networks two dense layers over the positions stand where attention would.
        kept: the seeds whose weights are kept.
        gpu: too long for a CPU; only offered where there is a GPU.
    """

    generator: bool = True
    discriminator: bool = True
    normalised: bool = True
    gamma: float = 0.0
    value_reduction: int = VALUE_REDUCTION
    generator_rate: float = RATE
    classes: tuple[int, ...] = CLASSES
    steps: int = 2000
    height: int = HEIGHT
    width: int = WIDTH
    channels: int = 32
    mean: bool = False
    dense: bool = False
    kept: tuple[int, ...] = ()
    gpu: bool = False

    def build(self) -> SAGAN:
        """Fresh networks."""
        size = {"height": self.height, "width": self.width}
        how = {name: getattr(self, name) for name in ("gamma", "normalised", "channels", "value_reduction")}
        discriminator = ImageDiscriminator(self.discriminator, **how)
        if self.mean:
            discriminator.attention = MeanAttention(
                2 * self.channels, self.gamma, self.normalised, self.value_reduction
            )
        generator = ImageGenerator(self.generator, **how, **size)  # type: ignore[arg-type]
        if self.dense:
            link = {name: how[name] for name in ("gamma", "normalised", "value_reduction")}
            map_size = (self.height // 2, self.width // 2)
            for network, channels in ((generator, self.channels), (discriminator, 2 * self.channels)):
                network.attention = DensePositions(channels, map_size, **link)  # type: ignore[assignment]
        return SAGAN(generator, discriminator)

    def images(self, count: int, seed: int, held_out: bool = False) -> Tensor:
        """Real canvases, ``(B, 1, height, width)``."""
        return digit_pairs(count, seed, self.classes, self.height, self.width, held_out).image

    def rates(self) -> tuple[float, float]:
        """The learning rates of the generator and of the discriminator."""
        return self.generator_rate, RATE


RECIPES = {
    "both": Recipe(kept=(0, 1, 2)),
    "none": Recipe(generator=False, discriminator=False, kept=(0,)),
    "generator_only": Recipe(discriminator=False),
    "discriminator_only": Recipe(generator=False),
    "no_spectral_norm": Recipe(normalised=False),
    "two_rates": Recipe(generator_rate=SLOWER_RATE),
    "gamma_one": Recipe(gamma=1.0),
    "narrow_values": Recipe(value_reduction=8),
    "mean_discriminator": Recipe(mean=True),
    "dense": Recipe(generator=False, discriminator=False, dense=True),
    "four_digits": Recipe(classes=(0, 1, 2, 3), steps=3000),
    "large": Recipe(classes=(0, 1, 2, 3), steps=10_000, height=32, width=32, channels=64, gpu=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items() if not recipe.gpu or best_device().type == "cuda"}


def build(name: str) -> SAGAN:
    """Fresh networks of this experiment."""
    return chosen(RECIPES, name).build()


# ---- what is measured


def judged(images: Tensor, judge: Judge) -> dict[str, Any]:
    """Agreement beside chance, and how many pairs are of each class, by the judge's verdict.

    Returns:
        ``agreement``, ``chance``; ``left``, ``right`` and ``same``: counts of the classes 0 to 9 among the first
        digits, the second ones, and the pairs that agree.
    """
    left, right = judge(crop_digits(images)).unbind(dim=1)  # (B,) each
    agreement, chance = agreement_and_chance(left, right)
    counts = mode_counts(left, right)  # (10, 10)
    return {
        "agreement": round(agreement, 4),
        "chance": round(chance, 4),
        "left": counts.sum(dim=1).tolist(),
        "right": counts.sum(dim=0).tolist(),
        "same": counts.diagonal().tolist(),
    }


@cache
def real_features(classes: tuple[int, ...], count: int) -> Tensor:
    """The judge's features of real digits that training never shows, ``(count, 2, 64)``."""
    return trained_judge().features(crop_digits(digit_pairs(count, TEST_SEED, classes, held_out=True).image))


def distances(images: Tensor, classes: tuple[int, ...]) -> dict[str, float]:
    """Squared Fréchet distances to real held-out images in the features of the judge.

    Returns:
        ``digit_distance``, of single digits; ``pair_distance``, of pairs, which also sees whether two digits agree.
    """
    ours, real = trained_judge().features(crop_digits(images)).cpu(), real_features(classes, len(images)).cpu()
    return {
        "digit_distance": round(frechet_distance(ours.flatten(0, 1), real.flatten(0, 1)), 4),
        "pair_distance": round(frechet_distance(ours.flatten(1), real.flatten(1)), 4),
    }


def by_neighbours(images: Tensor) -> dict[str, float]:
    """Agreement without a trained judge: the class of a digit is that of the nearest training image.

    Returns:
        ``neighbour_agreement``, ``neighbour_chance``, and ``neighbour_distance``, the mean distance to that image.
    """
    labels, apart = nearest_digits(crop_digits(images))  # (B, 2)
    agreement, chance = agreement_and_chance(labels[:, 0], labels[:, 1])
    return {
        "neighbour_agreement": round(agreement, 4),
        "neighbour_chance": round(chance, 4),
        "neighbour_distance": rounded_mean(apart),
    }


def digit_regions(height: int, width: int) -> list[Tensor]:
    """The positions of the first and of the second digit in a map of half the resolution: ``(T,)`` bool each."""
    regions = torch.zeros(2, height // 2, width // 2, dtype=torch.bool)
    regions[0, :4, :4] = True
    regions[1, -4:, -4:] = True
    return list(regions.flatten(1))


def attention_shares(weights: Tensor | None, height: int, width: int) -> dict[str, Any] | None:
    """Where the positions of the digits attend to, on average over images; ``None`` without attention.

    Returns:
        ``shares[i][j]``: what the positions of digit i give to those of digit j. ``leader``: the mean, over images, of
        the larger of the two columns' means: how much of their attention both digits together give to one of the two.
        ``first_leads``: the share of images where this is the first digit. ``uniform``: a digit's share of positions.
    """
    if weights is None:
        return None
    regions = [region.to(weights.device) for region in digit_regions(height, width)]
    shares = side_shares(weights, regions)  # (B, 2, 2)
    received = shares.mean(dim=1)  # (B, 2)
    return {
        "shares": [[round(value, 4) for value in row] for row in shares.mean(dim=0).tolist()],
        "leader": rounded_mean(received.amax(dim=1)),
        "first_leads": rounded_mean(received[:, 0] > received[:, 1]),
        "uniform": rounded_mean(regions[0]),
    }


class Monitor:
    """What is measured every so many steps: γ, agreement and chance, classes, distances."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def __call__(self, model: SAGAN) -> dict[str, Any]:
        """The figures of a model under training."""
        images = model.sample(MONITORED, MONITOR_SEED)
        gammas = {
            f"gamma_{name}": gamma if gamma is None else round(gamma, 4) for name, gamma in model.gammas().items()
        }
        return {**gammas, **judged(images, trained_judge()), **distances(images, self.recipe.classes)}


def train(model: SAGAN, recipe: Recipe, job: Job, watch: Monitor | None = None) -> AdversarialHistory:
    """Train, each step on new canvases."""
    return fit_adversarially(
        model,
        lambda step: recipe.images(TRAINING["batch"], seed_of_step(job.seed, step)),
        job.steps,
        seed=job.seed,
        learning_rates=recipe.rates(),
        betas=TRAINING["betas"],
        watch=watch,
        watch_every=EVERY,
        progress=False,
    )


def measure(model: SAGAN, recipe: Recipe) -> dict[str, Any]:
    """The figures of a trained model."""
    images, size = model.sample(TESTS, TEST_SEED), (recipe.height, recipe.width)
    few, real = model.generator.noise(ATTENDED, TEST_SEED), recipe.images(ATTENDED, TEST_SEED, held_out=True)
    with evaluation_mode(model), torch.no_grad():
        made, seen = model.generator.weights(few), model.discriminator.weights(real.to(images.device))
    return {
        **judged(images, trained_judge()),
        **distances(images, recipe.classes),
        **by_neighbours(images),
        "generator_attention": attention_shares(made, *size),
        "discriminator_attention": attention_shares(seen, *size),
    }


def measure_real(recipe: Recipe) -> dict[str, Any]:
    """The same figures of real canvases with digits that training shows: what a perfect generator would reach."""
    images = recipe.images(TESTS, TEST_SEED)
    held_out = by_neighbours(recipe.images(TESTS, TEST_SEED, held_out=True))  # a training image is its own neighbour
    return {**judged(images, trained_judge()), **distances(images, recipe.classes), **held_out}


def parameters_of(model: SAGAN) -> dict[str, int]:
    """How many parameters each of the two networks has."""
    return {
        name: sum(parameter.numel() for parameter in network.parameters())
        for name, network in (("generator", model.generator), ("discriminator", model.discriminator))
    }


def run(job: Job) -> Outcome:
    """Train and measure one pair of networks."""
    start, recipe, device = time.process_time(), chosen(RECIPES, job.model), best_device()
    judge = trained_judge()
    seed_everything(job.seed)
    model = build(job.model).to(device)
    history = train(model, recipe, job, Monitor(recipe))
    curves = {name: [row[name] for row in history.watched] for name in history.watched[0]}
    figures = {
        "parameters": parameters_of(model),
        "device": device.type,
        "judge_accuracy": round(judge_accuracy(judge), 4),
        "discriminator_losses": chunk_means(history.discriminator_losses, EVERY, digits=4),
        "generator_losses": chunk_means(history.generator_losses, EVERY, digits=4),
        "curves": curves,
        **measure(model, recipe),
        "real": measure_real(recipe),
        "milliseconds_per_step": round(1000 * history.seconds / history.steps, 1),
        "seconds": round(time.process_time() - start, 1),
    }
    return Outcome(figures, model.cpu() if job.seed in recipe.kept else None)


EXPERIMENT = Experiment(
    "digit_pairs",
    STEPS,
    run,
    {
        "task": "digit_pairs",
        **TRAINING,
        "learning_rate": RATE,
        "warmup": 0,
        "max_grad_norm": None,
        "every": EVERY,
        "monitored": MONITORED,
        "tests": TESTS,
        "recipes": {name: asdict(recipe) for name, recipe in RECIPES.items()},
    },
    build=build,
)
trained = EXPERIMENT.trained
