"""Declaring exercises: inputs, and mistakes as text, edits or functions."""

import inspect

import pytest
import torch

from attnbook.checks import Draw, Exercise, Mistake
from attnbook.checks.engine.judge import judge
from attnbook.checks.engine.values import same


def test_an_exercise_is_named_after_its_reference(weigh_exercise):
    assert weigh_exercise.name == "weigh"
    assert weigh_exercise.parameters == ["weights", "value"]


def test_a_variant_always_draws_the_same_inputs_smallest_first(weigh_exercise):
    inputs = weigh_exercise.inputs(3)
    sizes = [sum(tensor.numel() for tensor in args) for args in inputs]
    assert same(inputs, weigh_exercise.inputs(3))
    assert not same(inputs, weigh_exercise.inputs(4))
    assert sizes == sorted(sizes)


def test_an_edit_changes_the_reference(weigh_exercise):
    source = weigh_exercise.source(weigh_exercise.mistakes[0])
    assert "return weights.mT @ value" in source
    weights, value = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), torch.ones(1, 2, 1)
    wrong = weigh_exercise.function(weigh_exercise.mistakes[0])
    assert torch.equal(wrong(weights, value), weights.mT @ value)


def test_a_body_gets_the_references_parameters(weigh_exercise):
    mistake = weigh_exercise.mistakes[1]
    assert weigh_exercise.source(mistake).startswith("def weigh(weights, value):\n    return value.mean")
    assert list(inspect.signature(weigh_exercise.function(mistake)).parameters) == ["weights", "value"]
    assert inspect.getsource(weigh_exercise.function(mistake)) == weigh_exercise.source(mistake)


def test_a_mistake_may_be_a_function(weigh_exercise):
    def ones(weights, value):
        return torch.ones_like(weights @ value)

    mistake = Mistake("ones", "All ones.", ones)
    assert weigh_exercise.function(mistake) is ones
    assert weigh_exercise.source(mistake).startswith("def ones(weights, value):")


def shout(word):
    return word.upper()


def test_properties_and_mistakes_are_listed_in_the_order_in_which_they_get_their_words():
    exercise = Exercise(shout, cases=lambda draw: [("abba",)])
    must = exercise.properties
    must("as long", lambda result, word: len(result) == len(word)).says("""
        As many letters as
        before.""")
    must("capitals", lambda result, word: result.isupper()).says("Capitals only.")
    must("left without words", lambda result, word: True)
    exercise.mistakes("as it came", "return word").says("""
        You changed
        nothing.""")
    assert [(prop.name, prop.message) for prop in must] == [
        ("as long", "As many letters as before."),
        ("capitals", "Capitals only."),
    ]
    assert [(known.name, known.message) for known in exercise.mistakes] == [("as it came", "You changed nothing.")]
    assert must[0].holds("ABBA", "abba")
    assert not must[1].holds("Abba", "abba")
    verdict = judge(exercise, lambda word: word.capitalize())
    assert "Capitals only." in verdict.message


def test_each_exercise_has_lists_of_its_own():
    one, other = (Exercise(shout, cases=lambda draw: [("abba",)]) for _ in range(2))
    one.properties("capitals", lambda result, word: result.isupper()).says("Capitals only.")
    one.mistakes("as it came", "return word").says("You changed nothing.")
    assert (len(one.properties), len(one.mistakes)) == (1, 1)
    assert other.properties == other.mistakes == []


@pytest.mark.parametrize("old, times", [("nowhere", 0), ("weights", 2)])
def test_an_edit_must_stand_once_in_the_reference(weigh_exercise, old, times):
    with pytest.raises(ValueError, match=f"'{old}'.* {times} "):
        weigh_exercise.source(Mistake("edit", "…", {old: "x"}))


def test_sizes_are_all_different_and_smallest_in_the_first_draw():
    for number in range(4):
        sizes = Draw(5, number).sizes(4, low=3)
        assert len(set(sizes)) == 4
        assert min(sizes) >= 3
    first, later = (max(max(Draw(variant, number).sizes(3)) for variant in range(20)) for number in (0, 2))
    assert first < later


def test_lengths_hold_a_full_row_and_a_shorter_one():
    for variant in range(20):
        lengths = Draw(variant, 1).lengths(3, 6)
        assert lengths.max() == 6
        assert 1 <= lengths.min() < 6


@pytest.mark.parametrize("empty_rows", [True, False])
def test_a_mask_has_an_open_row_and_perhaps_a_closed_one(empty_rows):
    for variant in range(20):
        mask = Draw(variant, 1).mask(2, 3, 4, empty_rows=empty_rows).view(-1, 4)
        assert mask[0].all()
        assert mask.any(1).all() != empty_rows
        assert not mask[1:].all(1).any()


def test_numbers_keep_to_their_range():
    draw = Draw(0, 0)
    numbers, real = draw.integers(3, 6, 200), draw.uniform(100, low=-2, high=-1)
    assert set(numbers.tolist()) == {3, 4, 5}
    assert -2 <= real.min() < real.max() <= -1
    assert (numbers.dtype, real.dtype) == (torch.long, torch.float64)
    assert draw.integer(4, 5) == 4
    assert sorted(draw.order(5).tolist()) == [0, 1, 2, 3, 4]


def test_canonical_results_are_compared():
    def letters(word):
        return set(word)

    exercise = Exercise(letters, lambda draw: [("abba",)], [], canonical=lambda result, word: sorted(result))
    assert exercise.run(lambda word: ["b", "a"], ("abba",)).value == ["a", "b"]
