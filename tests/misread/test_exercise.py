"""Declaring exercises: inputs, and mistakes as text, edits or functions."""

import inspect
from dataclasses import replace

import pytest
import torch
from edges import missing

from attnlabs import Exercise, Mistake
from misread.exercise import About
from misread.judge import judge
from misread.values import same


def test_an_exercise_is_named_after_its_reference(weigh_exercise):
    assert weigh_exercise.name == "weigh"
    assert weigh_exercise.parameters == ["weights", "value"]


def test_what_a_course_says_of_an_exercise_is_kept_beside_it(weigh_exercise):
    about = About(points=2, minutes=20, difficulty=3, read_again=("03_scores", "Masks"))
    assert replace(weigh_exercise, about=about).about == about
    assert weigh_exercise.about == About(points=1, minutes=0, difficulty=1, read_again="")


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


def test_the_first_case_is_drawn_again_with_each_of_its_sizes_one():
    def tables(draw):
        rows, columns, words = draw.sizes(3, never_one={2})
        yield (draw.normal(rows, columns), words)
        yield (draw.normal(9, 9), 9)

    inputs = Exercise(lambda table, words: table, cases=tables).inputs()
    ones = [tuple(table.shape) for table, words in inputs if 1 in table.shape]
    assert len(inputs) == 4 * 2 + 2
    assert sorted(shape.index(1) for shape in ones) == [0, 1]
    assert all(words > 1 for _, words in inputs)


def test_edges_that_no_case_reaches_are_named():
    def weigh(scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)

    def tame(draw):
        yield draw.normal(2, 3), draw.mask(2, 3, empty_rows=False)

    def at_the_edges(draw):
        rows, columns = draw.sizes(2)
        yield draw.normal(rows, columns), draw.mask(rows, columns)
        yield 1000 * draw.normal(2, 3), draw.mask(2, 3)

    ones = [f"one: {name}, axis -{axis}" for name in ("scores", "mask") for axis in (1, 2)]
    unseen = [*ones, "nothing open: mask", "float32", "exp overflows"]
    assert missing(Exercise(weigh, cases=tame, tolerance=1e-6), 0) == unseen
    assert missing(Exercise(weigh, cases=at_the_edges), 0) == []


def test_canonical_results_are_compared():
    def letters(word):
        return set(word)

    exercise = Exercise(letters, lambda draw: [("abba",)], [], canonical=lambda result, word: sorted(result))
    assert exercise.run(lambda word: ["b", "a"], ("abba",)).value == ["a", "b"]
