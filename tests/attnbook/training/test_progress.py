"""A listener hears of all steps, of several trainings too, and not too often."""

import itertools

import pytest
import torch
from torch import nn

from attnbook.data.batching import Batch
from attnbook.training import fit
from attnbook.training.progress import listening, report_steps


def train(steps: int, **options) -> None:
    fit(
        nn.Linear(1, 1), lambda step: torch.zeros(1), steps, loss=lambda model, batch: model.weight.sum(),
        **{"progress": False} | options,
    )  # fmt: skip


class Heard(list):
    """Takes down the steps that a listener hears of; ``notes`` what is said of them."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def __call__(self, steps: int, note: str) -> None:
        self.append(steps)
        self.notes.append(note)


def test_a_listener_hears_of_each_step_if_it_wants_to():
    heard = Heard()
    with listening(heard, every=0):
        train(3)
    assert heard == [1, 2, 3]


def test_a_listener_hears_the_loss_of_the_last_step():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    heard = Heard()
    with listening(heard, every=0):
        fit(model, lambda step: torch.zeros(1), 1, loss=lambda model, batch: model.weight.sum(), progress=False)
    assert heard.notes == ["loss 2.000"]


def test_of_batches_of_words_a_listener_hears_how_many_there_are_per_second(monkeypatch):
    seconds = itertools.count()
    monkeypatch.setattr("attnbook.training.loop.time.perf_counter", lambda: float(next(seconds)))  # a second per step
    batch = Batch(torch.tensor([[3, 4, 5], [3, 0, 0]]), torch.tensor([3, 1]), torch.tensor([[3, 2, 0], [4, 4, 2]]))
    heard = Heard()
    with listening(heard, every=0):
        fit(
            nn.Linear(1, 1), lambda step: batch, 3, loss=lambda model, batch: 0 * model.weight.sum() + 1234.5,
            progress=False,
        )  # fmt: skip
    assert heard.notes == ["loss 1234.500, 9 tokens/s"] * 3


def test_a_resumed_training_tells_the_speed_of_its_own_steps(monkeypatch, tmp_path):
    seconds, pause = itertools.count(), [1.0]
    monkeypatch.setattr("attnbook.training.loop.time.perf_counter", lambda: pause[0] * next(seconds))
    batch = Batch(torch.tensor([[3, 4]]), torch.tensor([2]), torch.tensor([[3, 2]]))
    heard = Heard()
    stop = [2]

    def batch_at(step):
        if step == stop[0]:
            raise KeyboardInterrupt
        return batch

    def go_on():
        fit(
            nn.Linear(1, 1), batch_at, 4, loss=lambda model, batch: 0 * model.weight.sum() + 1, validate_every=2,
            checkpoint=tmp_path / "training.pt", progress=False,
        )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        go_on()
    stop[0], pause[0] = 4, 0.5
    with listening(heard, every=0):
        go_on()
    assert heard == [2, 3, 4]
    assert heard.notes == ["", "loss 1.000, 8 tokens/s", "loss 1.000, 8 tokens/s"]


def test_a_note_is_that_of_the_last_steps_and_may_be_left_out():
    heard = Heard()
    with listening(heard, every=3600):
        report_steps(1, "first")
        report_steps(2, "last")
    with listening(heard, every=0):
        report_steps(1)
    assert (heard, heard.notes) == ([3, 1], ["last", ""])


def test_steps_of_several_trainings_are_added_up():
    heard = Heard()
    with listening(heard, every=0):
        train(2)
        train(3)
    assert heard == [1, 2, 3, 4, 5]


def test_a_training_that_stops_early_counts_as_a_whole():
    heard = Heard()
    with listening(heard, every=0):
        train(100, validate=lambda model: 0.0, validate_every=1, patience=1)
        train(2)
    assert heard == [1, 2, 100, 101, 102]


def test_a_resumed_training_counts_as_a_whole(tmp_path):
    train(5, validate_every=2, checkpoint=tmp_path / "training.pt")
    heard = Heard()
    with listening(heard, every=0):
        train(5, validate_every=2, checkpoint=tmp_path / "training.pt")
    assert heard == [5]


def test_between_two_calls_some_time_passes_and_the_last_steps_are_told_at_the_end():
    heard = Heard()
    with listening(heard, every=3600):
        train(4)
        assert heard == []
    assert heard == [4]


def test_nobody_need_listen():
    heard = Heard()
    with listening(heard, every=0):
        pass
    report_steps(1)
    assert heard == []


def test_a_listener_is_gone_after_an_error():
    heard = Heard()
    with pytest.raises(RuntimeError, match="so it goes"), listening(heard, every=0):
        raise RuntimeError("so it goes")
    report_steps(1)
    assert heard == []
