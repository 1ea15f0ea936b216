"""The experiment on Luong's decoder: recipes are what their names say, and where a model attends is counted right."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.attention import (
    Additive,
    Dot,
    General,
    MonotonicCentre,
    PredictedCentre,
    WalkingCentre,
    local_window_mask,
)
from attnbook.data.batching import Task
from attnbook.data.symbols.numbers import number_list, number_lists
from attnruns.experiments import luong
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def lists() -> Task:
    """A few short lists."""
    return number_lists(train=200, validation=2, test_per_size=4, longest=3, longer=(6,), longer_per_size=3)


def test_the_task_has_every_size_that_is_measured():
    sizes = {example.size for example in luong.task().test} | luong.task().longer.keys()
    assert set(luong.MEASURED) <= sizes
    assert max(example.size for example in luong.task().train) == 6


@pytest.mark.parametrize("name", luong.STEPS)
def test_each_model_is_what_its_name_says(name, lists):
    model, placement = luong.build(name, lists), name if name in ("input", "both", "skip") else "output"
    assert model.placement == placement
    assert (model.fed_size > 0) == (name not in ("output", "input", "both", "skip"))
    assert type(model.score) is {"dot": Dot, "concat": Additive}.get(name, General)
    centres = {"local_m": MonotonicCentre, "local_p": PredictedCentre, "walking": WalkingCentre}
    centre = centres.get(name.removesuffix("_bias"))
    assert (model.local and type(model.local.centre)) == centre
    if centre:
        wanted = "none" if name == "local_m" else "bias" if name.endswith("bias") else "product"
        assert (model.local.gaussian, model.local.half_width) == (wanted, 4 if name == "local_m" else 3)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["walking", "input"]), indirect=["best"])
def test_a_run_trains_and_measures(name, lists, monkeypatch, best, tmp_path):
    monkeypatch.setattr(luong, "task", lambda: lists)
    figures = checked_run(luong, Job(name, 0, 2), tmp_path, best, kept=name == "walking")
    assert figures["milliseconds_per_step"] > 0
    for measured in ("right_words", "peak_on_word", "elsewhere_though_right", "peak_distance", "peak_in_number"):
        assert figures[measured].keys() == {"3", "6"}
    assert ("centre_distance" in figures) == (name == "walking")


# ---- where it attends


class Pointing(nn.Module):
    """Writes what is wanted and attends to the positions that it was given."""

    def __init__(self, task: Task, example, peaks: list[int], centres: list[float]) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.zeros(1))
        self.local = "a window"
        self.words = [*task.target_vocabulary.encode(example.target), 2]
        self.peaks, self.centres = [*peaks, 0], [*centres, 0.0]

    def start(self, source, lengths):
        return State(0, torch.zeros(1), source.shape[1])

    def step(self, token, state):
        t, width = state.t, state.width
        logits = nn.functional.one_hot(torch.tensor([self.words[t]]), 50).float()
        weights = nn.functional.one_hot(torch.tensor([self.peaks[t]]), width).float()
        return logits, State(t + 1, torch.tensor([self.centres[t]]), width), weights


class State:
    """How many words were written, and where the window stands."""

    def __init__(self, t: int, centre: torch.Tensor, width: int) -> None:
        self.t, self.centre, self.width = t, centre, width


EXAMPLE = number_list([42, 7])  # forty two , seven – zwei und vierzig , sieben
TRUE = [1, 0, 0, 2, 3]  # "und" may be aligned with both words that it joins


def test_a_model_that_points_at_the_true_words_has_no_error(lists):
    model = Pointing(lists, EXAMPLE, TRUE, [1.0, 0.5, 0.0, 2.0, 3.0])
    assert luong.where_it_attends(model, lists, [EXAMPLE]) == {
        "right_words": 1.0,
        "peak_on_word": 1.0,
        "elsewhere_though_right": 0.0,
        "elsewhere_at_und": 0.0,
        "peak_distance": 0.0,
        "centre_distance": 0.0,
        "peak_in_number": 1.0,
    }


def test_errors_are_counted_word_by_word(lists):
    # zwei: on forty, in its number; und: on seven; vierzig: on forty; comma: on seven; sieben: on the comma
    model = Pointing(lists, EXAMPLE, [0, 3, 0, 3, 2], [1.5, 9.0, 0.0, 0.0, 3.0])
    model.words[0] = 7  # and zwei is not even written
    figures = luong.where_it_attends(model, lists, [EXAMPLE])
    assert figures["right_words"] == 0.8
    assert figures["peak_on_word"] == 0.2
    assert figures["elsewhere_though_right"] == 0.75
    assert figures["elsewhere_at_und"] == 1.0
    assert figures["peak_distance"] == 0.75  # 1, 0, 1, 1 without und
    assert figures["centre_distance"] == pytest.approx((0.5 + 0 + 2 + 0) / 4)
    assert figures["peak_in_number"] == 0.5  # zwei and vierzig of zwei, und, vierzig, sieben


def test_without_a_window_there_is_no_centre(lists):
    model = Pointing(lists, EXAMPLE, TRUE, [0.0] * 5)
    model.local = None
    assert "centre_distance" not in luong.where_it_attends(model, lists, [EXAMPLE])


def test_what_is_attended_comes_from_the_models_own_steps(lists):
    model = luong.build("local_p", lists).eval()
    examples = lists.test[:3]
    words, peaks, centres = luong.attended(model, lists, examples)
    batch = lists.collate(examples)
    logits, weights = model(batch.source, batch.lengths, luong.shift_right(batch.target))
    assert torch.equal(words, logits.argmax(dim=-1))
    assert torch.equal(peaks, weights.argmax(dim=-1))
    windows = local_window_mask(centres.flatten(), batch.lengths.repeat_interleave(words.shape[1]), 3)
    assert windows.gather(1, peaks.flatten()[:, None]).all()  # the largest weight lies in the window


def test_training_steps_are_timed_without_changing_the_model(lists):
    model = luong.build("general", lists)
    before = [parameter.clone() for parameter in model.parameters()]
    assert luong.milliseconds_per_step(model, lists, repeats=2) > 0
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in model.parameters())
