"""Sharpened: another score, times β."""

import pytest
import torch

from attnbook.attention import Additive, Alignment, LocationAware, Sharpened, attend, dot


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_it_multiplies_the_score(beta, draw):
    query, key = draw(2, 3, 4, seed=1), draw(2, 5, 4, seed=2)
    torch.testing.assert_close(Sharpened(dot, beta)(query, key), beta * dot(query, key))


def test_a_function_is_asked_for_the_number_of_places(draw):
    query, key = draw(2, 3, 4, seed=1), draw(2, 5, 4, seed=2)
    torch.testing.assert_close(Sharpened(dot, lambda places: places)(query, key), 5 * dot(query, key))


def test_the_more_it_sharpens_the_more_the_best_place_takes(draw):
    query, key = draw(2, 3, 4, seed=1), draw(2, 5, 4, seed=2)
    largest = [attend(query, key, key, score=Sharpened(dot, beta))[1].amax(-1) for beta in (1, 2, 4)]
    assert (largest[0] < largest[1]).all()
    assert (largest[1] < largest[2]).all()


def test_a_score_that_looks_back_still_does(draw):
    query, key = draw(2, 1, 4, seed=1), draw(2, 5, 4, seed=2)
    score = LocationAware(4, 4, 3).to(key)
    alignment = Alignment.at_first_position(torch.ones(2, 5, dtype=torch.bool, device=key.device))
    found = Sharpened(score, 2)(query, Sharpened(score, 2).prepare(key).at(alignment))
    torch.testing.assert_close(found, 2 * score(query, score.prepare(key).at(alignment)))


def test_what_depends_on_the_keys_alone_is_the_inner_scores_work(draw):
    key = draw(2, 5, 4, seed=2)
    additive = Additive(4, 4, 3).to(key)
    torch.testing.assert_close(Sharpened(additive, 2).prepare(key).features, additive.prepare(key).features)


def test_beta_counts_places_also_when_there_are_heads(draw):
    query, key = draw(2, 3, 4, 8), draw(2, 3, 5, 8)  # (B, H, T, D)
    torch.testing.assert_close(Sharpened(dot, lambda places: places)(query, key), 5 * dot(query, key))
