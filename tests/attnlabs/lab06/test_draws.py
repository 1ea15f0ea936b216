"""Lab 6: draws are compared by their faults, and nothing that is told of them comes from the form of a fault."""

import pytest
import torch

from attnlabs import evaluate


def one_row_per_caption(weights, generator):
    return weights.flatten(1).multinomial(1, generator=generator)  # (B, 1)


def the_first_caption_alone(weights, generator):
    return weights[0].multinomial(1, generator=generator).T  # (1, Tq)


@pytest.mark.parametrize("answer", [one_row_per_caption, the_first_caption_alone])
def test_a_draw_of_another_shape_is_told_by_its_shape(answer):
    verdict = evaluate("lab06", "sample_location", answer)
    assert (verdict.passed, verdict.kind) == (False, "an axis of another length"), verdict.message


def scores_without_argmax(weights, generator):
    noise = torch.empty_like(weights).exponential_(generator=generator)
    return weights.log() - noise.log()


def sums_above_as_numbers(weights, generator):
    return (weights.cumsum(-1) > torch.rand(*weights.shape[:2], 1, generator=generator)).int()


@pytest.mark.parametrize("answer", [scores_without_argmax, sums_above_as_numbers])
def test_a_number_for_each_position_is_no_one_hot_vector(answer):
    verdict = evaluate("lab06", "sample_location", answer)
    assert (verdict.passed, verdict.kind) == (False, "another number of axes"), verdict.message


def the_largest_score(weights, generator):
    return scores_without_argmax(weights, generator).amax(-1)


def whether_the_first_position(weights, generator):
    return weights[..., 0] > torch.rand(weights.shape[:2], generator=generator)


@pytest.mark.parametrize("answer", [the_largest_score, whether_the_first_position])
def test_what_is_no_position_is_not_taken_for_a_weight_or_a_constant(answer):
    verdict = evaluate("lab06", "sample_location", answer)
    assert (verdict.passed, verdict.about) == (False, ("positions from 0 to Tk − 1",)), verdict.message


@pytest.mark.parametrize("position", [1, -1])
def test_positions_that_never_change_are_not_taken_for_a_seed(position):
    always = lambda weights, generator: torch.full(weights.shape[:2], position % weights.shape[-1])  # noqa: E731
    verdict = evaluate("lab06", "sample_location", always)
    assert (verdict.passed, verdict.about) == (False, ("another draw each time",)), verdict.message


def a_throw_per_position(weights, generator):
    return (torch.rand(weights.shape, generator=generator) ** 1.1 < weights.cumsum(-1)).int().argmax(-1)


def test_a_fault_that_shows_in_some_inputs_only_does_not_look_like_captions_that_mix():
    verdict = evaluate("lab06", "sample_location", a_throw_per_position)
    assert not verdict.passed
    assert "mixed" not in verdict.kind, verdict.message
