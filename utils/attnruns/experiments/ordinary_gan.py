"""Two digits that must agree in an ordinary convolutional GAN: one noise vector, and a field of the whole canvas."""

import time
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.models.sagan import NOISE, SAGAN, ImageDiscriminator, ImageGenerator
from attnbook.models.spectral_norm import spectrally_normalised
from attnbook.seeding import generator, seed_everything
from attnruns.experiments.digit_pairs import (
    RATE,
    TEST_SEED,
    TESTS,
    TRAINING,
    Recipe,
    by_neighbours,
    parameters_of,
    train,
)
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"one_noise_vector": 2000}


class OneVectorGenerator(ImageGenerator):
    """The convolutional generator of ``digit_pairs``, with the same noise vector at all cells of the noise map."""

    def noise(self, count: int, seed: int = 0) -> Tensor:
        """One vector per canvas, repeated: ``(B, 16, height / 4, width / 4)``."""
        drawn = torch.randn(count, NOISE, 1, 1, generator=generator(seed))
        return drawn.expand(-1, -1, *self.size).to(self.output.weight)


def wide_discriminator(channels: int = 32) -> ImageDiscriminator:
    """Six convolutions, two of them with stride 2: fields of 36 pixels, and no attention."""
    model, width = ImageDiscriminator(attention=False, channels=channels), 2 * channels
    model.third = nn.Sequential(
        spectrally_normalised(nn.Conv2d(width, width, 4, stride=2, padding=1)),
        nn.ReLU(),
        spectrally_normalised(nn.Conv2d(width, width, 3, padding=1)),
        nn.ReLU(),
        spectrally_normalised(nn.Conv2d(width, width, 3, padding=1)),
    )
    return model


def build(name: str) -> SAGAN:
    """Fresh networks of this experiment."""
    chosen(STEPS, name)
    return SAGAN(OneVectorGenerator(attention=False), wide_discriminator())


def run(job: Job) -> Outcome:
    """Train one pair of networks as ``digit_pairs`` does, and count agreement and chance."""
    start = time.process_time()
    seed_everything(job.seed)
    model = build(job.model)
    train(model, Recipe(generator=False, discriminator=False), job)
    images = model.sample(TESTS, TEST_SEED)
    return Outcome({
        "parameters": parameters_of(model),
        **by_neighbours(images),
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS: dict[str, Any] = {
    "task": "digit_pairs", **TRAINING, "learning_rate": RATE, "warmup": 0, "max_grad_norm": None, "tests": TESTS,
    "noise": "one vector per canvas", "field": 36,
}  # fmt: skip
EXPERIMENT = Experiment("ordinary_gan", STEPS, run, SETTINGS, on_cpu=True)
