"""The experiment on digits: recipes are what their names say, and both networks see the same images."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.pictures.captions import digit_images
from attnbook.models.vision import VisionTransformer
from attnruns.experiments import vision
from attnruns.shared.runner import Job


@pytest.fixture
def small(monkeypatch):
    """Everything in miniature."""
    monkeypatch.setattr(vision, "TRAINING", {**vision.TRAINING, "batch": 4})


@pytest.mark.parametrize("name", vision.RECIPES)
def test_each_model_is_what_its_name_says(name):
    recipe = vision.RECIPES[name]
    assert isinstance(vision.build(name), vision.Convolutions if name.startswith("cnn") else VisionTransformer)
    assert recipe.convolutions == name.startswith("cnn")
    assert recipe.examples == (100 if "few" in name else 1400)
    assert recipe.shuffled == ("shuffled" in name)
    assert recipe.kept == (name in ("vit", "cnn"))


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["vit", "cnn_few_shuffled"]), indirect=["best"])
def test_a_run_trains_and_measures(name, small, best, tmp_path):
    figures = checked_run(vision, Job(name, 0, 3), tmp_path, best, kept=vision.RECIPES[name].kept)
    assert {"accuracy", "training_accuracy", "nearest_accuracy"} <= figures.keys()


def test_both_networks_see_the_same_few_images_of_a_seed_and_other_ones_of_another():
    ours, theirs = (vision.Lessons(vision.RECIPES[name], 1).seen() for name in ("vit_few", "cnn_few"))
    assert len(ours.label) == 100
    assert torch.equal(ours.image, theirs.image)
    assert not torch.equal(ours.image, vision.Lessons(vision.RECIPES["vit_few"], 2).seen().image)


def test_a_batch_is_drawn_from_the_images_that_are_seen_and_is_fixed_by_step_and_seed():
    lessons = vision.Lessons(vision.RECIPES["cnn_few"], 0)
    batch, seen = lessons.batch_at(5, 8), lessons.seen().image.flatten(1)
    assert all((seen == one).all(dim=1).any() for one in batch.image.flatten(1))
    assert torch.equal(lessons.batch_at(5, 8).image, batch.image)
    assert not torch.equal(lessons.batch_at(6, 8).image, batch.image)


def test_shuffled_images_have_the_same_pixels_in_one_other_order():
    plain, shuffled = (vision.digits(True, one) for one in (False, True))
    assert torch.equal(plain.label, shuffled.label)
    assert torch.equal(plain.image.flatten(1).sort().values, shuffled.image.flatten(1).sort().values)
    order = torch.randperm(64, generator=torch.Generator().manual_seed(vision.SHUFFLE_SEED))
    assert torch.equal(plain.image.flatten(1)[:, order], shuffled.image.flatten(1))


def test_accuracy_is_the_share_of_the_largest_logits_that_are_right():
    held_out = vision.digits(True, False)

    class Telling(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Parameter(torch.ones(()))

        def forward(self, images):
            logits = nn.functional.one_hot(held_out.label, 10) * self.one
            logits[0] = logits[0].roll(1)  # the first one is wrong
            return logits, None

    assert vision.accuracy(Telling(), held_out) == round(396 / 397, 4)


def test_an_image_is_its_own_nearest_one():
    images, labels = digit_images()
    seen = vision.Crops(images[:50, None], labels[:50])
    assert vision.nearest_accuracy(seen, seen) == 1.0
    assert vision.nearest_accuracy(seen, seen._replace(label=(seen.label + 1) % 10)) == 0.0
