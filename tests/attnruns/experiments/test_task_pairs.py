"""The twelve pairs of tasks, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_tasks, task_pairs
from attnruns.shared.runner import Job

SHORT = {  # by task: shown, asked
    "opposites": ("hot cold, big small, up down, open closed", "king queen, boy girl"),
    "capitals": ("Italy Rome, Spain Madrid, Japan Tokyo, Cuba Havana", "Peru Lima"),
    "past tense": ("go went, see saw, eat ate, run ran", "win won"),
    "plurals": ("foot feet, book books, leaf leaves, box boxes", "king kings, boy boys"),
}


@pytest.fixture
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights, and four short tasks."""
    torch.manual_seed(0)
    model = LanguageModel(90, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    monkeypatch.setattr(task_pairs, "smollm2", lambda: found)
    monkeypatch.setattr(task_pairs, "BLOCK", 1)
    monkeypatch.setattr(task_pairs, "ASKED", {name: asked for name, (_, asked) in SHORT.items()})
    monkeypatch.setattr(real_tasks, "TASKS", {name: shown for name, (shown, _) in SHORT.items()})
    monkeypatch.setattr(real_tasks, "EXAMPLES", 2)
    monkeypatch.setattr(real_tasks, "FROM", 1)
    return found


def test_no_list_holds_a_word_that_is_asked_nor_its_answer():
    shown = {word for pairs in real_tasks.lists().values() for pair in pairs for word in pair}
    for text in task_pairs.ASKED.values():
        asked = [of.split() for of in text.split(", ")]
        assert len(asked) == 24
        assert not shown & {word for of in asked for word in of}


def test_a_run_measures_every_ordered_pair(pretrained, tmp_path):
    figures = checked_run(task_pairs, Job("pairs", 0, 2), tmp_path, "cpu")
    assert figures["own"].keys() == SHORT.keys()
    for task, by_other in figures["by_prompt"].items():
        assert by_other.keys() == SHORT.keys() - {task}
        for other, of in by_other.items():
            assert of.keys() == {"alone", "vector", "same", "third", "wrong"}
            assert of["third"].keys() == SHORT.keys() - {task, other}


def test_a_vector_of_zeros_changes_nothing_and_the_readout_of_an_answer_brings_it(pretrained, monkeypatch):
    monkeypatch.setattr(task_pairs, "BLOCK", 2)  # the last one
    asked = real_tasks.questions(pretrained, [("hot", "cold"), ("big", "small")], 0, "boy girl")
    assert task_pairs.with_added(pretrained.model, torch.zeros(16), asked) == 0
    readout = pretrained.model.output.weight[asked[1].item()]
    assert task_pairs.with_added(pretrained.model, 1e4 * readout, asked) == 1
