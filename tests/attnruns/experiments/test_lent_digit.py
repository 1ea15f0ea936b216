"""Chapter 6's captioner is taught to read the second digit."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import hard_attention, hard_maps, lent_digit
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    monkeypatch.setattr(hard_maps, "TESTS", 20)
    monkeypatch.setattr(lent_digit, "LESSON", 2)
    monkeypatch.setattr(lent_digit, "AFTER", 2)


@pytest.fixture(scope="module")
def file():
    return hard_attention.names_of(0)


def test_each_lesson_trains_its_own_part(file):
    model = hard_maps.build("moving")
    parts = {lesson: {id(one) for one in lent_digit.learners(model, lesson)} for lesson in lent_digit.LESSONS[1:]}
    assert parts["decoder"] & parts["policy"] == set()
    assert parts["decoder"] | parts["policy"] == parts["both"] == {id(one) for one in model.parameters()}


def test_a_lesson_reads_the_second_digit(file):
    model = hard_maps.build("moving")
    ordinary = hard_attention.HardLoss(file, "moving")
    lesson = lent_digit.Lesson(file, ordinary, policy=False)
    torch.manual_seed(0)
    loss = lesson(model)
    torch.manual_seed(0)
    _, _, cell = file["canvases"]()
    assert torch.equal(lesson.cell, cell[:, 1].repeat(hard_attention.DRAWS))
    assert ordinary.file is file  # the ordinary training reads as before
    ordinary.moving = torch.zeros(3)
    torch.manual_seed(0)
    pointing = lent_digit.Lesson(file, ordinary, policy=True)
    torch.testing.assert_close(pointing(model) - pointing.pointing, loss)


def test_a_run_measures_before_between_and_after(tmp_path):
    figures = checked_run(lent_digit, Job("moving", 0, 2), tmp_path, "cpu", kept=False)
    assert set(figures["lessons"]) == set(lent_digit.LESSONS)
    for curve in figures["lessons"].values():
        assert [point["step"] for point in curve] == [0, 2, 4]
        assert curve[0] == figures["lessons"]["none"][0]


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="there is: moving"):
        lent_digit.run(Job("nothing", 0, 1))
