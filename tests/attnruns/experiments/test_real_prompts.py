"""Prompts with examples, and gaps, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_prompts
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights, on two short tasks."""
    torch.manual_seed(0)
    model = LanguageModel(90, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    tasks = {"opposites": "hot cold, big small, up down", "plurals": "man men, foot feet, book books"}
    for name, value in {
        "smollm2": lambda: found,
        "TASKS": tasks,
        "FINDERS": 1,
        "CONTROLS": 2,
        "FROM": 1,
        "LENGTH": 30,
    }.items():
        monkeypatch.setattr(real_prompts, name, value)
    text = torch.randint(9, (400,), generator=torch.Generator().manual_seed(2))
    monkeypatch.setattr(real_prompts, "text_tokens", lambda _: text)
    monkeypatch.setattr(real_prompts, "SPANS", {"early": (2, 10), "late": (20, 30)})
    words = torch.randint(90, (2, 8), generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr("attnruns.experiments.real_controls.segments", lambda *_: words)
    return found


def test_each_answer_is_wanted_where_it_comes_next(pretrained):
    asked = real_prompts.prompts(pretrained, [("hot", "cold"), ("big", "small")], 3, seed=0)
    assert asked.tokens.shape == (3, 8)  # hot -> cold and the end of the line, twice
    assert torch.equal(asked.tokens.gather(1, asked.at + 1), asked.wanted)


def test_wrong_answers_are_shown_and_the_right_ones_wanted(pretrained):
    asked = real_prompts.prompts(pretrained, [("hot", "cold"), ("big", "small")], 3, seed=0, wrong=True)
    assert torch.equal(asked.tokens.gather(1, asked.at + 1), asked.wanted.flip(1))


def test_a_wrong_list_shows_no_answer_before_it_is_wanted(pretrained):
    pairs = [("hot", "cold"), ("big", "small"), ("up", "down"), ("man", "men")]
    asked = real_prompts.prompts(pretrained, pairs, 3, seed=0, wrong=True)
    for tokens, places, wanted in zip(*(of.tolist() for of in asked), strict=True):
        assert all(answer not in tokens[:at] for at, answer in zip(places[:-1], wanted, strict=False))


def test_a_model_that_knows_the_answers_is_right(pretrained):
    asked = real_prompts.prompts(pretrained, [("hot", "cold"), ("big", "small")], 4, seed=0)

    class Knows(torch.nn.Module):
        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, 90)
            return logits.scatter_(2, tokens.roll(-1, dims=1)[..., None], 1.0), None

    assert real_prompts.right_after(Knows(), asked).tolist() == [1.0, 1.0]


def test_the_verb_and_the_other_noun_disagree():
    for singular, plural, of in real_prompts.gap_sentences(20, seed=3):
        assert plural.split()[1] == singular.split()[1] + "s"
        assert singular.split()[2:] == plural.split()[2:]
        assert plural.split()[5] == ("are" if of else "is")
        assert plural.split()[4].endswith("s") != of


def test_whole_sentences_are_sums_of_their_tokens(pretrained):
    first, whole = real_prompts.log_probabilities(pretrained, ["The keys are old."])
    tokens = torch.tensor([pretrained.tokenizer.encode("The keys are old.").ids])
    each = pretrained.model(tokens)[0].log_softmax(dim=-1)[0]
    assert first[0].item() == pytest.approx(each[0, tokens[0, 1]].item(), abs=1e-6)
    assert whole[0].item() == pytest.approx(sum(each[t, tokens[0, t + 1]].item() for t in range(3)), abs=1e-5)


@pytest.mark.parametrize("name", list(real_prompts.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    figures = checked_run(real_prompts, Job(name, 0, 2), tmp_path, "cpu")
    if name == "prompts":
        assert all(len(of["right"]) == len(of["wrong"]) == 3 for of in figures["by_task"].values())
        assert figures["example"].keys() == set(real_prompts.ASKED)
    if name == "heads":
        assert all(len(of["controls"]) == 2 for of in figures["by_task"].values())
    if name == "later":
        assert figures["count"]["repeated"] + figures["count"]["other"] == 2 * 29
        assert figures["all"] != figures["finders"]
        assert len(figures["controls"]) == 2
