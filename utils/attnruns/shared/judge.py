"""Who judges generated digits: a small network that is trained on real ones, and the features by which it decides."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.pictures.captions import SIZE, Crops, digit_images
from attnbook.measure.images import CLASSES
from attnbook.seeding import generator, seed_of_step
from attnbook.training import fit
from attnbook.training.progress import listening

JUDGE_STEPS = 1000
JUDGE_TRAINING = {"batch": 64, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}
FEATURES = 64


class JudgeNetwork(nn.Module):
    """Two convolutions and two linear layers, which see where in the image a stroke lies."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 16, FEATURES),
            nn.ReLU(),
        )
        self.output = nn.Linear(FEATURES, CLASSES)
        self.dropout = nn.Dropout(0.5)  # while it is trained: there are 1,400 images only

    def forward(self, image: Tensor) -> Tensor:
        """Logits of the digit on ``image (N, 1, 8, 8)``: ``(N, 10)``."""
        return self.output(self.dropout(self.features(image)))


class Judge:
    """Says which digit an image shows, and by which features: a network trained on real digits, then left alone."""

    def __init__(self, network: JudgeNetwork) -> None:
        self.network = network.eval()

    @torch.no_grad()
    def features(self, digits: Tensor) -> Tensor:
        """What the last layer is computed from: ``(..., 8, 8)`` -> ``(..., 64)``."""
        images = digits.flatten(0, -3)[:, None] if digits.ndim > 2 else digits[None, None]  # (N, 1, 8, 8)
        found = self.network.features(images.to(self.network.output.weight))  # (N, 64)
        return found.view(*digits.shape[:-2], FEATURES)

    @torch.no_grad()
    def __call__(self, digits: Tensor) -> Tensor:
        """The most likely digit: ``(..., 8, 8)`` -> ``(...)`` long, from 0 to 9."""
        return self.network.output(self.features(digits)).argmax(dim=-1)


def _shifted_digits(count: int, seed: int) -> Crops:
    """Digits of the training part, all of a batch shifted by the same zero or one pixel in each direction."""
    draw, (images, labels) = generator(seed), digit_images()
    which = torch.randint(len(images), (count,), generator=draw)  # (B,)
    down, right = torch.randint(3, (2,), generator=draw).tolist()
    padded = F.pad(images[which][:, None], (1, 1, 1, 1))  # (B, 1, 10, 10)
    return Crops(padded[..., down : down + SIZE, right : right + SIZE], labels[which])


@cache
def trained_judge(seed: int = 0, steps: int = JUDGE_STEPS) -> Judge:
    """A judge, trained within seconds on the digits of the training part; the same again for the same seed.

    No other random numbers are disturbed. A second call returns the first one's judge.
    """
    how = {name: value for name, value in JUDGE_TRAINING.items() if name != "batch"}
    # The bar of an experiment counts the steps of its own trainings alone.
    with torch.random.fork_rng(devices=[]), listening(lambda steps, note: None):
        torch.manual_seed(seed)
        network = JudgeNetwork()
        fit(
            network,
            lambda step: _shifted_digits(int(JUDGE_TRAINING["batch"]), seed_of_step(seed, step)),
            steps,
            loss=lambda model, batch: F.cross_entropy(model(batch.image), batch.label),
            progress=False,
            **how,  # type: ignore[arg-type]
        )
    return Judge(network)


def judge_accuracy(judge: Judge) -> float:
    """Share of the 397 held-out digits that the judge names rightly."""
    images, labels = digit_images(held_out=True)
    return (judge(images) == labels).cpu().double().mean().item()
