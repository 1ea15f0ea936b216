"""Heads against a hidden layer: the chapter's task and attention, and what is measured."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import who_whom
from attnruns.experiments.who_whom import FIRST, NOUN, VERB, Recipe
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def chapter():
    """The names of the chapter's file, which trains nothing here."""
    nothing = {"turned) for heads in (1, 4)": "turned) for heads in ()"}
    file = file_of("08_heads_positions", nothing, 0, 0, without=("without", "answer", "longer"))
    return run_file("def train_three(heads, turn):\n    raise AssertionError\n" + file)[0]


TRIED = ["2_nouns_2_of_32_linear", "6_nouns_1_of_64_hidden"]


@pytest.mark.parametrize("name", TRIED)
def test_a_model_is_trained_and_measured(name, monkeypatch, tmp_path):
    monkeypatch.setattr(who_whom, "TESTS", {2: 4, 6: 4})
    figures = checked_run(who_whom, Job(name, 0, 2), tmp_path, "cpu")
    (found,), recipe = figures["trained"], who_whom.RECIPES[name]
    assert len(found["each"]) == recipe.nouns
    assert [len(shares) for shares in found["without"]] == [recipe.nouns] * recipe.heads
    assert 0 <= found["all"] <= min(found["each"])
    assert len(figures["longer"]) == 1


def test_words_and_forms_of_clauses_are_those_of_the_chapter(chapter):
    assert torch.equal(torch.tensor(who_whom.CLAUSES), chapter["CLAUSES"])
    assert chapter["COUNT"].tolist() == list(who_whom.COUNT)
    assert chapter["FIRST"].tolist() == who_whom.FIRST
    torch.manual_seed(0)
    ours = who_whom.sentences(3, 5)
    torch.manual_seed(0)
    assert all(torch.equal(one, other) for one, other in zip(ours, chapter["sentences"](3, 5), strict=True))


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_attention_is_that_of_the_chapter(chapter, heads):
    model, theirs = who_whom.Namer(Recipe(2, heads, False, 64, 1)), chapter["WhoWhom"](heads, chapter["turned"])
    theirs.readout = model.readout
    state = {name.replace("project", "attention.project"): part for name, part in model.state_dict().items()}
    theirs.load_state_dict(state)
    words, verbs, _ = who_whom.sentences(3, 5)
    assert torch.allclose(model(words, verbs), theirs(words, verbs)[0], atol=1e-5)


def test_six_nouns_are_those_around_the_middle_verb():
    torch.manual_seed(0)
    words, verbs, nouns = who_whom.questions(6, 3, 4)
    assert (verbs.shape, nouns.shape) == ((4, 1), (4, 1, 6))
    for sentence, verb, six in zip(words, verbs[:, 0], nouns[:, 0], strict=True):
        assert FIRST[VERB] <= sentence[verb] < FIRST[NOUN]
        assert (sentence[:verb] >= FIRST[NOUN]).sum() == 3  # three nouns before the middle verb, three after
        assert torch.equal(sentence[sentence >= FIRST[NOUN]] - FIRST[NOUN], six)


@pytest.mark.parametrize("nouns", [2, 6])
def test_models_with_the_same_features_have_the_same_parameters(nouns):
    names = [name for name, recipe in who_whom.RECIPES.items() if recipe.nouns == nouns and recipe.dim == 64]
    assert len(names) == 8
    assert len({sum(p.numel() for p in who_whom.build(name).parameters()) for name in names}) == 1


@torch.no_grad()
def test_a_silenced_head_costs_what_only_it_finds(monkeypatch):
    monkeypatch.setattr(who_whom, "TESTS", {2: 20, 6: 20})
    torch.manual_seed(0)
    model = who_whom.build("2_nouns_2_of_32_linear")
    model.project_output.weight[:, 32:] = 0  # nothing comes from the second head
    found = who_whom.measured(model, 3)
    assert found["without"][1] == found["each"]
    assert found["without"][0] != found["each"]
