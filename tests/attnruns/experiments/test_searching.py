"""The experiment on wider beams and several draws, on three lists of each size."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import numbers, searching
from attnruns.shared.runner import Job


def test_each_output_is_right_or_one_kind_of_error(tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "BLAMED", (5,))
    found = checked_run(searching, Job("blame", 0, 3), tmp_path, "cpu")
    for of in [*found["by_size"]["5"].values(), *found["others"]["attention"].values()]:
        assert of["lists"] == 3
        assert of["correct"] + of["model_error"] + of["search_error"] == pytest.approx(1, abs=1e-3)


def test_wider_beams_are_measured_by_width_and_by_alpha(tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "LONG", (("plain", 6),))
    monkeypatch.setattr(searching, "WIDTHS", (1, 2))
    found = checked_run(searching, Job("longer", 0, 2), tmp_path, "cpu")
    assert found["by_width"]["plain, 6"].keys() == {"1", "2"}
    assert found["by_alpha"].keys() == {"0.0", "1.0", "2.0"}


def test_what_is_chosen_among_draws_is_right_at_most_as_often_as_one_of_them(tmp_path):
    found = checked_run(searching, Job("draws", 0, 4), tmp_path, "cpu")
    for vote, close, any_of_them in zip(found["vote"], found["closest"], found["any"], strict=True):
        assert max(vote, close) <= any_of_them
    assert all(1 <= number <= searching.SEVERAL for number in found["different"])


def test_a_target_has_the_log_probability_of_its_words():
    examples = searching.lists(5, 2)
    batch, model = numbers.task().collate(examples), numbers.trained("plain")
    one = searching.log_probability(model, batch)
    alone = [searching.log_probability(model, numbers.task().collate([x])).item() for x in examples]
    assert torch.allclose(one, torch.tensor(alone), atol=1e-4)


def test_numbers_are_wrong_by_position():
    assert searching.wrong_share(["eins", ",", "zwei"], ["eins", ",", "drei", ",", "vier"]) == pytest.approx(2 / 3)


def test_voting_takes_the_most_frequent_and_the_closest_agrees_with_most():
    group = [text.split() for text in ("eins , zwei", "drei , vier", "eins , fünf", "drei , vier")]
    assert searching.voted(group) == group[1]
    assert searching.voted(group[:3]) == group[0]
    assert searching.overlap(group[0], group[2]) == 0.5
    assert searching.closest(group[:3]) == group[0]
    assert searching.closest(group) == group[1]
