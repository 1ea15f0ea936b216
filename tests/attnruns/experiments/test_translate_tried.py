"""What regularises a small corpus: options of a recipe, and recipes that are judged by validation alone."""

import os
from dataclasses import replace
from typing import Any

import pytest
import torch

from attnbook.data.texts.translation import own_translation_task
from attnbook.training import fit, r_drop_loss, teacher_forcing_loss
from attnruns.experiments import translate
from attnruns.shared import translation
from attnruns.shared.runner import Job

TRIED = {name: recipe for name, recipe in translate.RECIPES.items() if name.startswith("tried_")}
TIMES = {"seconds", "wall_seconds", "pieces_per_second"}  # of the machine, not of the training
JOB = Job("tiny_de_en", 0, 6)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Sets fields of the tiny recipe, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNBOOK_DEVICE", "cpu")

    def change(**fields) -> translate.Recipe:
        recipe = replace(translate.RECIPES["tiny_de_en"], **fields)
        monkeypatch.setitem(translate.RECIPES, "tiny_de_en", recipe)
        return recipe

    return change


@pytest.fixture
def unscored(monkeypatch):
    """Nothing is translated: a training is all that matters."""
    monkeypatch.setattr(translate, "write", lambda model, data, examples: [])
    monkeypatch.setattr(translate, "gain_since", lambda earlier, model, data: {})
    monkeypatch.setattr(translate, "scored_on_validation", lambda model, data: {})
    monkeypatch.setattr(translate, "by_beam", lambda model, data: [])


# ---- recipes


def test_each_trial_changes_one_thing_of_the_base_and_what_costs_twice_as_much_takes_half_the_steps():
    base = TRIED["tried_base"]
    own = translate.RECIPES["transformer_de_en"]
    assert base == replace(own, steps=own.steps // 2, kept=0, tested=False)
    for name, changes in translate.TRIALS.items():
        assert len(changes.keys() - {"steps"}) == (name != "base")
        assert changes.get("steps", base.steps) == base.steps // (2 if name == "r_drop" else 1)
        assert TRIED[f"tried_{name}"] == replace(base, **changes)
    assert len({recipe.digest() for recipe in TRIED.values()}) == len(TRIED) == 6


def test_options_that_are_not_used_leave_the_digest_that_older_checkpoints_bear():
    assert translate.RECIPES["transformer_de_en"].digest() == "1965f96c"
    assert translate.RECIPES["bahdanau_de_en"].digest() == "8156b41a"


def test_recipes_are_as_before_unless_they_are_tried():
    for name, recipe in translate.RECIPES.items():
        if name not in TRIED:
            later = {field: getattr(recipe, field) for field in translate.LATER}
            assert later == {"patience": None, "bpe_dropout": 0.0, "r_drop": 0.0, "pieces": None, "tested": True}


def test_a_recipe_says_how_many_pieces_there_are():
    recipe = translate.RECIPES["tiny_de_en"]
    assert recipe.data() is own_translation_task("de-en")
    sizes = replace(recipe, pieces=100).data().sizes()
    assert max(sizes) == 100 < min(recipe.data().sizes())


def test_a_recipe_drops_merges_in_training_alone():
    recipe = replace(translate.RECIPES["tiny_de_en"], bpe_dropout=0.2)
    data = recipe.data()
    assert recipe.batches(data).cut_anew(0, 0).validation is data.task.validation
    assert translate.RECIPES["tiny_de_en"].batches(data).cut_anew is None
    anew, plain = (one.batches(data).batch_at(0, 512) for one in (recipe, translate.RECIPES["tiny_de_en"]))
    assert len(anew.target) > 10
    assert anew.tokens() != plain.tokens()


def test_a_recipe_says_what_is_minimised():
    recipe = translate.RECIPES["transformer_de_en"]
    plain, twice = recipe.loss(), replace(recipe, r_drop=3.0).loss()
    assert (plain.func, plain.keywords) == (teacher_forcing_loss, {"smoothing": 0.1})
    assert (twice.func, twice.keywords) == (r_drop_loss, {"weight": 3.0, "smoothing": 0.1})


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_each_trial_takes_a_step_on_its_own_batches_with_its_own_loss(name):
    recipe = replace(TRIED[name], text="own", pieces=None, config=translate.TINY)
    data = recipe.data()
    model, batches = recipe.build(data.sizes()), recipe.batches(data)
    history = fit(model, lambda step: batches.batch_at(step, 256), 2, loss=recipe.loss(), progress=False)
    assert 3 < history.losses[0] < 9  # log 300 is 5.7


# ---- trainings


@pytest.mark.slow
def test_what_is_only_tried_never_sees_a_test(tiny, monkeypatch):
    tiny(tested=False)
    data = own_translation_task("de-en")
    write, asked = translation.write, []

    def noting(model, data, examples, *arguments):
        asked.append(examples)
        return write(model, data, examples, *arguments)

    monkeypatch.setattr(translation, "write", noting)
    figures = translate.run(JOB).figures
    assert len(asked) == 3  # before averaging, greedy, by beam
    assert all(examples is data.task.validation for examples in asked)
    assert figures.keys() == TIMES | {
        "parameters", "device", "ended_at", "losses", "validations", "validation_before_averaging", "validation_loss",
        "validation_loss_per_word", "scores",
    }  # fmt: skip
    assert figures["scores"].keys() == {"validation"}
    assert figures["scores"]["validation"].keys() == {"greedy", "beam"}
    assert os.listdir("checkpoints") == []


def test_losses_of_two_vocabularies_can_be_compared_per_word():
    data = own_translation_task("de-en")
    pieces = sum(len(example.target) + 1 for example in data.task.validation)
    words = sum(len(line.split()) for line in data.references["validation"])
    assert translation.pieces_per_word(data) == pytest.approx(pieces / words)
    assert translation.pieces_per_word(own_translation_task("de-en", 100)) > translation.pieces_per_word(data)


class Interrupted(Exception):  # noqa: N818 (it reads as what happened)
    """Raised in the middle of a training."""


def validating(patch, results: list[float], stop: int | None = None) -> None:
    """Let validations find these losses, one after another, and let an exception come at number ``stop``."""
    coming = iter(enumerate(results))

    def loss(model, task, examples):
        number, result = next(coming)
        if number == stop:
            raise Interrupted
        return result

    patch.setattr(translate, "target_loss", loss)


@pytest.mark.slow
def test_a_training_ends_early_at_the_same_step_when_it_was_interrupted(tiny, unscored, monkeypatch):
    tiny(patience=2, kept=1, tested=False)
    losses, of_the_end = [3.0, 2.0, 2.5, 2.0], [1.5]
    with monkeypatch.context() as patch:
        validating(patch, losses + of_the_end)
        wanted = translate.run(JOB)
    with monkeypatch.context() as patch:
        validating(patch, losses, stop=3)
        with pytest.raises(Interrupted):
            translate.run(JOB)
    with monkeypatch.context() as patch:
        validating(patch, losses[3:] + of_the_end)
        outcome = translate.run(JOB)
    assert wanted.figures["ended_at"] == outcome.figures["ended_at"] == 4 < JOB.steps
    assert outcome.figures["validations"] == [(1, 3.0), (2, 2.0), (3, 2.5), (4, 2.0)]
    assert len(outcome.figures["losses"]) == 4
    same_weights(outcome.model, wanted.model)


def same_weights(one: Any, other: Any) -> None:
    for name, tensor in other.state_dict().items():
        assert torch.equal(one.state_dict()[name], tensor), name


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"bpe_dropout": 0.2}, {"r_drop": 5.0, "dropout": 0.2}])
def test_an_interrupted_training_goes_on_with_the_same_cuts_and_the_same_dropout(options, tiny, unscored, monkeypatch):
    tiny(kept=1, tested=False, **options)
    wanted = translate.run(JOB)
    loss, calls = translate.target_loss, iter(range(99))

    def interrupted(*arguments):
        if next(calls) == 3:
            raise Interrupted
        return loss(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(translate, "target_loss", interrupted)
        with pytest.raises(Interrupted):
            translate.run(JOB)
    torch.manual_seed(99)  # whatever the new process did before
    outcome = translate.run(JOB)
    assert outcome.figures["losses"] == wanted.figures["losses"]
    assert outcome.figures["ended_at"] == JOB.steps
    same_weights(outcome.model, wanted.model)
    plain = replace(translate.RECIPES["tiny_de_en"], bpe_dropout=0.0, r_drop=0.0)
    monkeypatch.setitem(translate.RECIPES, "tiny_de_en", plain)
    assert translate.run(JOB).figures["losses"] != wanted.figures["losses"]
