"""Training in episodes: it ends when no mistake is left, resumes to the last bit, and leaves both states' figures."""

from dataclasses import replace

import pytest
import torch

from attnbook.data import copy_batch
from attnbook.models import NTM, LSTMTagger
from attnbook.training import GravesRMSprop
from attnruns.shared import episodes, resume
from attnruns.shared.episodes import EpisodeRecipe, EpisodeTask, Validation, run_episodes
from attnruns.shared.memory import Lesson
from attnruns.shared.runner import Job


def exact(length, count, seed):
    return Lesson(copy_batch(length, count, seed, bits=2), 5)


def draw(count, seed, generator):
    return exact(int(torch.randint(1, 3, (), generator=generator)), count, seed)


TINY = EpisodeTask(draw, exact, held_out=(1, 2), choice=(3,), tests={"2": 2, "4": 4}, inputs=3, outputs=2, clean=3)
SMALL = EpisodeRecipe("copy", 40, {"hidden": 6, "width": 4, "controller": "lstm"}, batch=2)
JOB = Job("small", 0, 20)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "CHECKPOINTS", tmp_path)
    return tmp_path


def run(every=8, recipe=SMALL, task=TINY, **options):
    return run_episodes(task, recipe, JOB, every, "tiny", **options)


def without_seconds(figures):
    return {name: value for name, value in figures.items() if "seconds" not in name}


def test_a_training_leaves_curves_and_the_tests_of_both_states(folder):
    figures, model, _ = run(more=lambda model: {"kind": type(model).__name__})
    assert figures["sequences"] == 40
    assert figures["solved"] is None
    assert len(figures["costs"]) == len(figures["held_out_wrong"]) == len(figures["larger_costs"]) == 5
    assert figures["wrong_bits"].keys() == figures["wrong_bits_last"].keys() == {"2", "4"}
    assert figures["wrong_bits"] == episodes.tested(model, TINY)
    assert figures["kind"] == "NTM"
    assert not list(folder.iterdir())  # the checkpoint is gone


def test_the_chosen_state_is_the_one_that_costs_least_on_larger_sizes(monkeypatch):
    states = []
    usual = Validation.__call__

    def remember(self, model):
        states.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return usual(self, model)

    monkeypatch.setattr(Validation, "__call__", remember)
    figures, model, _ = run()
    best = figures["larger_costs"].index(min(figures["larger_costs"]))
    assert figures["chosen"] == 8 * (best + 1)
    assert all(torch.equal(tensor, states[best][name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("keeps, figure", [("chosen", "wrong_bits"), ("last", "wrong_bits_last")])
def test_a_task_says_which_state_is_kept(monkeypatch, keeps, figure):
    monkeypatch.setattr(Validation, "__call__", only_the_first_is_good(Validation.__call__))
    figures, model, _ = run(task=replace(TINY, keeps=keeps), recipe=replace(SMALL, learning_rate=0.1))
    assert figures["chosen"] == 8
    assert figures[figure] == episodes.tested(model, TINY)
    other = {"wrong_bits": "wrong_bits_last", "wrong_bits_last": "wrong_bits"}[figure]
    assert figures[other] != figures[figure]


def only_the_first_is_good(usual):
    """A validation that keeps its first state, whatever comes later."""

    def validate(self, model):
        result = usual(self, model)
        self.seen["best"] = float("-inf")
        return result

    return validate


def test_a_training_that_was_interrupted_ends_where_the_uninterrupted_one_does(monkeypatch):
    whole, wanted, _ = run()
    usual, calls = Validation.__call__, []

    def stop(self, model):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return usual(self, model)

    monkeypatch.setattr(Validation, "__call__", stop)
    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.setattr(Validation, "__call__", usual)
    figures, model, _ = run()
    assert without_seconds(figures) == without_seconds(whole)
    for tensor, other in zip(model.state_dict().values(), wanted.state_dict().values(), strict=True):
        assert torch.equal(tensor, other)


def test_another_recipe_does_not_go_on_from_its_checkpoint():
    assert SMALL.digest() != EpisodeRecipe("copy", 40).digest()


def test_it_ends_after_clean_validations_in_a_row_unless_nobody_can_be_without_mistakes(monkeypatch):
    monkeypatch.setattr(episodes, "wrong_per_sequence", lambda *arguments: 0.0)
    figures = run().figures
    assert (figures["solved"], figures["sequences"]) == (8, 3 * 8)
    figures = run(task=replace(TINY, solvable=False)).figures
    assert figures["sequences"] == 40


def test_a_relapse_puts_the_end_off(monkeypatch):
    wrongs = iter([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0] + 20 * [0.0])  # two sizes each time
    monkeypatch.setattr(episodes, "wrong_per_sequence", lambda *arguments: next(wrongs))
    figures = run_episodes(replace(TINY, tests={}), SMALL, Job("small", 0, 40), 8, "tiny").figures
    assert figures["held_out_wrong"] == [0.0, 0.0, 0.5, 0.0, 0.0, 0.0]
    assert (figures["solved"], figures["sequences"]) == (8, 6 * 8)


@pytest.mark.parametrize(
    "wrongs, wanted", [([], None), ([0.0], None), ([0.5, 0.0, 0.1, 0.0, 0.0], 400), ([0.0, 0.0, 3.0], 100)]
)
def test_a_task_is_solved_where_two_validations_in_a_row_begin_to_be_clean(wrongs, wanted):
    assert episodes.solved(wrongs, 100) == wanted


def test_weights_are_kept_of_the_first_seeds():
    recipe = EpisodeRecipe("copy", 40, SMALL.machine, batch=2, kept=1)
    assert run(recipe=recipe).model is not None
    assert run_episodes(TINY, recipe, Job("small", 1, 20), 8, "tiny").model is None


@pytest.mark.parametrize(
    "recipe, kind, optimiser",
    [(SMALL, NTM, GravesRMSprop), (EpisodeRecipe("copy", 8, None, 2, 5, "adam"), LSTMTagger, torch.optim.Adam)],
)
def test_a_recipe_makes_its_model_and_its_optimiser(recipe, kind, optimiser):
    model = recipe.build(TINY)
    assert isinstance(model, kind)
    assert type(recipe.make_optimiser()(model.parameters())) is optimiser
    assert episodes.answers(model, exact(2, 3, 0)).shape == (3, 5, 2)


def test_the_answers_of_a_machine_are_those_of_its_plain_run():
    model, lesson = SMALL.build(TINY), exact(3, 2, 0)
    wanted = model(lesson.bits.inputs, rows=lesson.rows)[0]
    torch.testing.assert_close(episodes.answers(model, lesson), wanted, rtol=1e-5, atol=1e-6)


def test_a_cost_is_a_sum_over_the_bits_of_a_sequence():
    model, lesson = SMALL.build(TINY), exact(3, 2, 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert episodes.episode_cost(model, lesson).item() == pytest.approx(3 * 2 * 0.693147, abs=1e-4)


def test_a_lesson_depends_on_step_and_seed_alone():
    first, again, other = (episodes.lesson_at(3, TINY, 2, seed) for seed in (0, 0, 1))
    assert torch.equal(first.bits.inputs, again.bits.inputs)
    assert first.bits.inputs.shape != other.bits.inputs.shape or not torch.equal(first.bits.inputs, other.bits.inputs)


def test_a_run_converged_at_the_first_of_its_last_clean_validations():
    run = {"held_out_wrong": [3, 0, 1, 0, 0], "sequences": 500, "validated_every": 100, "training_seconds": 50.0}
    assert episodes.converged_at(run, 2) == (400, 40.0)
    assert episodes.converged_at(run, 3) is None
