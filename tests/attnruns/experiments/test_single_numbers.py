"""The counter-example trains its models on single numbers."""

import pytest

from attnruns.experiments import single_numbers
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", single_numbers.STEPS)
def test_a_run_trains_the_model_of_its_name_on_its_task(name, task, monkeypatch):
    seen = []
    monkeypatch.setattr(single_numbers, "task", lambda: task)
    monkeypatch.setattr(single_numbers, "train_and_measure", lambda *arguments: seen.append(arguments) or {})
    job = Job(name, 0, 3)
    assert single_numbers.run(job).figures == {}
    [(model, used, asked)] = seen
    assert hasattr(model, "score") == (not name.startswith("plain"))
    assert used is task
    assert asked is job


def test_the_task_has_no_lists_in_it():
    task = single_numbers.single_numbers(train=20, validation=5, test=5)
    assert all("," not in example.source for example in [*task.train, *task.validation, *task.test])
