"""The reversal experiment trains its models on reversed strings."""

import pytest

from attnruns.experiments import reversal
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", reversal.STEPS)
def test_a_run_trains_the_model_of_its_name_on_its_task(name, task, monkeypatch):
    seen, made = [], []
    monkeypatch.setattr(reversal, "task", lambda letters: made.append(letters) or task)
    monkeypatch.setattr(reversal, "train_and_measure", lambda *arguments: seen.append(arguments) or {"loss": 1.0})
    job = Job(name, 0, 3)
    assert reversal.run(job).figures == {"loss": 1.0}
    [(model, used, asked)] = seen
    assert hasattr(model, "score") == (not name.startswith("plain"))
    assert model.embed.num_embeddings == len(task.target_vocabulary)
    assert used is task
    assert asked is job
    assert made == ["ab" if name == "plain_two_letters" else "abcdefghij"]


def test_the_task_is_made_once_a_process(monkeypatch):
    reversal.task.cache_clear()
    made = []
    monkeypatch.setattr(reversal, "reversed_strings", lambda letters: made.append(letters) or "the task")
    assert reversal.task() == reversal.task() == "the task"
    reversal.task.cache_clear()
    assert made == ["abcdefghij"]


def test_strings_of_two_letters_have_two_letters_and_are_as_long():
    lesson, sizes = reversal.task("ab"), {example.size for example in reversal.task().test}
    assert set().union(*(example.source for example in lesson.train[:50])) == {"a", "b"}
    assert {size for size in sizes if size >= 10} <= {example.size for example in lesson.test} <= sizes


def test_one_model_with_one_vector_reads_both_ways_as_the_models_with_attention_do(task):
    both_ways = {name: recipe.build(task).encoder.rnn.bidirectional for name, recipe in reversal.RECIPES.items()}
    assert [name for name in both_ways if both_ways[name]] == ["attention", "plain_both_ways"]
