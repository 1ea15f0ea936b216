"""The direction from one task to another, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_tasks
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights, and four short tasks."""
    torch.manual_seed(0)
    model = LanguageModel(90, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    tasks = {
        "opposites": "hot cold, big small, up down, boy girl",
        "plurals": "man men, foot feet, book books, leaf leaves",
        "capitals": "Italy Rome, Spain Madrid, Japan Tokyo",
        "past tense": "go went, see saw, eat ate",
    }
    for name, value in {
        "smollm2": lambda: found,
        "TASKS": tasks,
        "ASKED": "king kings queen, boy boys girl",
        "EXAMPLES": 2,
        "FROM": 1,
        "BLOCK": 1,
        "BLOCKS": (1, 2),
    }.items():
        monkeypatch.setattr(real_tasks, name, value)
    return found


def test_no_list_holds_a_word_that_is_asked():
    pairs = real_tasks.lists()
    assert pairs["opposites"] == [("hot", "cold"), ("big", "small"), ("up", "down")]
    assert ("man", "men") not in pairs["plurals"]


def test_all_words_are_asked_behind_the_same_examples(pretrained):
    read, answers = real_tasks.questions(pretrained, [("hot", "cold"), ("big", "small"), ("up", "down")], seed=0)
    assert read.shape == (2, 2 * 3 + 2)
    assert torch.equal(read[0, :-2], read[1, :-2])
    assert answers.tolist() == [pretrained.tokenizer.encode(text).ids for text in ("kings queen", "boys girl")]


def test_a_model_that_answers_with_plurals_has_no_opposites():
    answers = torch.tensor([[1, 2], [3, 4]])

    class Plurals(torch.nn.Module):
        def forward(self, read):
            return torch.nn.functional.one_hot(answers[:, :1].expand(read.shape), 90).double(), None

    found = real_tasks.answered(Plurals(), torch.zeros(2, 5, dtype=torch.long), answers)
    assert found == {"plural": 1.0, "opposite": 0.0}


def test_vectors_are_means_at_the_arrows(pretrained):
    pairs = [("hot", "cold"), ("big", "small")]  # of two pairs one has an example before it
    found = real_tasks.at_arrows(pretrained.model, pretrained, pairs, count=1, seed=0)
    asked = real_tasks.prompts(pretrained, pairs, 1, seed=0)
    torch.testing.assert_close(found[0], pretrained.model.embed(asked.tokens)[0, asked.at[0, 1]])


def test_a_run_measures_both_directions(tmp_path):
    figures = checked_run(real_tasks, Job("swapped", 0, 2), tmp_path, "cpu")
    for task in ("plurals", "opposites"):
        assert figures[task].keys() == {"alone", "by_block", "control"}
        assert figures[task]["by_block"].keys() == {"1", "2"}
