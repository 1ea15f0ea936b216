"""fit with another optimiser, other clipping, and an end when it is good enough."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from attnbook.training import GravesRMSprop, fit


def line() -> nn.Linear:
    """A model of one weight, 0 at first."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    return model


def square(model, batch):
    """The loss (w − 1)² · batch."""
    return (model.weight - 1).square().sum() * batch.sum()


def quick(model, steps=3, size=1.0, **options):
    ones = torch.full((1,), size)
    settings = {"loss": square, "schedule": lambda step: 0.1, "progress": False} | options
    return fit(model, lambda step: ones, steps, **settings)


@pytest.fixture
def gradients():
    """The gradient at each step of an optimiser."""
    seen = []
    handle = register_optimizer_step_pre_hook(
        lambda optimiser, args, kwargs: seen.append(optimiser.param_groups[0]["params"][0].grad.item())
    )
    yield seen
    handle.remove()


def test_another_optimiser_takes_the_steps_at_the_rate_of_the_schedule():
    model = line()
    quick(model, 1, optimiser=partial(torch.optim.SGD, lr=123.0))
    assert model.weight.item() == pytest.approx(0.1 * 1.0)  # the gradient is −2, shortened to the norm 1


def test_each_number_of_the_gradients_is_held_between_two_bounds(gradients):
    quick(line(), 1, size=100.0, max_grad_value=0.5, max_grad_norm=float("inf"))
    quick(line(), 1, size=100.0, max_grad_norm=float("inf"))
    assert gradients == [-0.5, -200.0]


def test_it_stops_when_two_validations_in_a_row_are_good_enough():
    results = iter([0.0, 3.0, 1.0, 2.0, 2.5, 9.0])
    history = quick(line(), 20, validate=lambda model: next(results), validate_every=2, enough=2.0)
    assert [result for _, result in history.validations] == [0.0, 3.0, 1.0, 2.0, 2.5]
    assert history.steps == 10


def test_enough_needs_validations():
    with pytest.raises(ValueError, match=r"enough is compared with validations and needs validate, got 1\.0"):
        quick(line(), enough=1.0)


def test_a_checkpoint_with_other_bounds_is_refused(tmp_path):
    quick(line(), 2, max_grad_value=1.0, checkpoint=tmp_path / "a.ckpt")
    with pytest.raises(ValueError, match="max_grad_value"):
        quick(line(), 2, checkpoint=tmp_path / "a.ckpt")


class Remembers:
    """A validation with a memory: what it has seen of the weight."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.seen: list[float] = []
        self.stop_at = stop_at

    def __call__(self, model) -> float:
        if len(self.seen) + 1 == self.stop_at:
            raise KeyboardInterrupt
        self.seen.append(model.weight.item())
        return 0.0

    def state_dict(self) -> dict:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict) -> None:
        self.seen = state["seen"]


@pytest.mark.parametrize("kind", [torch.optim.RMSprop, GravesRMSprop, torch.optim.SGD])
def test_with_another_optimiser_a_resumed_training_goes_on_and_so_does_what_validation_remembers(kind, tmp_path):
    def train(validation, file):
        model = line()
        options = {"optimiser": partial(kind, lr=1.0, momentum=0.9), "schedule": lambda step: 0.01}
        quick(model, 9, validate=validation, validate_every=2, checkpoint=tmp_path / file, **options)
        return model.weight.item()

    whole, first, second = Remembers(), Remembers(stop_at=3), Remembers()
    wanted = train(whole, "whole.pt")
    with pytest.raises(KeyboardInterrupt):
        train(first, "broken.pt")
    assert train(second, "broken.pt") == wanted
    assert second.seen == whole.seen
    assert len(second.seen) == 5
