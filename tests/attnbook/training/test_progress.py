"""A listener hears of all steps, of several trainings too, and not too often."""

import pytest
import torch
from torch import nn

from attnbook.training import fit
from attnbook.training.progress import listening, report_steps


def train(steps: int, **options) -> None:
    fit(
        nn.Linear(1, 1), lambda step: torch.zeros(1), steps, loss=lambda model, batch: model.weight.sum(),
        **{"progress": False} | options,
    )  # fmt: skip


def test_a_listener_hears_of_each_step_if_it_wants_to():
    heard = []
    with listening(heard.append, every=0):
        train(3)
    assert heard == [1, 2, 3]


def test_steps_of_several_trainings_are_added_up():
    heard = []
    with listening(heard.append, every=0):
        train(2)
        train(3)
    assert heard == [1, 2, 3, 4, 5]


def test_a_training_that_stops_early_counts_as_a_whole():
    heard = []
    with listening(heard.append, every=0):
        train(100, validate=lambda model: 0.0, validate_every=1, patience=1)
        train(2)
    assert heard == [1, 2, 100, 101, 102]


def test_a_resumed_training_counts_as_a_whole(tmp_path):
    train(5, validate_every=2, checkpoint=tmp_path / "training.pt")
    heard = []
    with listening(heard.append, every=0):
        train(5, validate_every=2, checkpoint=tmp_path / "training.pt")
    assert heard == [5]


def test_between_two_calls_some_time_passes_and_the_last_steps_are_told_at_the_end():
    heard = []
    with listening(heard.append, every=3600):
        train(4)
        assert heard == []
    assert heard == [4]


def test_nobody_need_listen():
    heard = []
    with listening(heard.append, every=0):
        pass
    report_steps(1)
    assert heard == []


def test_a_listener_is_gone_after_an_error():
    heard = []
    with pytest.raises(RuntimeError, match="so it goes"), listening(heard.append, every=0):
        raise RuntimeError("so it goes")
    report_steps(1)
    assert heard == []
