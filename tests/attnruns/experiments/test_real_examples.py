"""Wrong examples of two kinds, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_examples
from attnruns.shared.runner import Job

PAIRS = [("hot", "cold"), ("big", "small"), ("up", "down"), ("open", "closed"), ("wet", "dry")]
OTHERS = [("man", "men"), ("foot", "feet"), ("book", "books"), ("leaf", "leaves"), ("box", "boxes")]


@pytest.fixture
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights, and two short tasks."""
    torch.manual_seed(0)
    model = LanguageModel(90, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    tasks = {"opposites": ", ".join(map(" ".join, PAIRS)), "plurals": ", ".join(map(" ".join, OTHERS))}
    for name, value in {"smollm2": lambda: found, "TASKS": tasks, "AFTER": (1, 3), "ROWS": 2}.items():
        monkeypatch.setattr(real_examples, name, value)
    return found


@pytest.mark.parametrize("count", [1, 2, 4])
def test_wrong_examples_have_the_same_questions_and_never_a_right_answer_nor_the_one_that_is_asked(count):
    draw = torch.Generator().manual_seed(0)
    for asked, (word, answer) in enumerate(PAIRS):
        of = real_examples.examples(PAIRS, OTHERS, asked, count, draw)
        questions = {kind: [a for a, _ in shown] for kind, shown in of.items()}
        assert questions["right"] == questions["shuffled"] == questions["elsewhere"]
        assert len(set(questions["right"])) == count
        assert word not in questions["right"]
        assert set(of["right"]) <= set(PAIRS)
        assert not {*of["shuffled"], *of["elsewhere"]} & set(PAIRS)
        assert {b for _, b in of["elsewhere"]} <= {b for _, b in OTHERS}
        if count > 1:
            assert {b for _, b in of["shuffled"]} == {b for _, b in of["right"]}
        assert answer not in {b for shown in of.values() for _, b in shown}


def test_no_number_stays_where_it_was():
    draw = torch.Generator().manual_seed(0)
    for _ in range(20):
        order = real_examples.deranged(4, draw)
        assert sorted(order) == [0, 1, 2, 3]
        assert all(i != at for i, at in enumerate(order))
    with pytest.raises(ValueError, match="2 or more, got 1"):
        real_examples.deranged(1, draw)


def test_prompts_of_different_lengths_are_read_as_if_each_were_alone(pretrained):
    prompts = [[1, 2, 3], [4, 5], [6, 7, 8, 9], [3]]
    alone = [pretrained.model(torch.tensor([of]))[0][0, -1].argmax().item() for of in prompts]
    assert real_examples.best_tokens(pretrained.model, prompts).tolist() == alone


def test_a_run_measures_each_kind(pretrained, tmp_path):
    figures = checked_run(real_examples, Job("examples", 0, 1), tmp_path, "cpu")
    for of in figures["by_task"].values():
        assert of.keys() == set(real_examples.KINDS)
        assert all(len(shares) == 2 for both in of.values() for shares in both.values())
