"""Frequencies for longer texts: pair by pair what the papers say, and no change where the factor is 1."""

import math

import pytest
import torch

from attnbook.attention import Rotary
from attnbook.attention.stretched import (
    Stretched,
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    stretch,
    yarn_frequencies,
    yarn_scale,
)
from attnbook.models import LanguageModel, TransformerConfig

D, BASE, TRAINED = 64, 100_000.0, 8192  # SmolLM2's


def test_the_frequencies_are_those_of_rotary_positions(draw, close):
    x = draw(2, 3, 5, D)
    at = torch.arange(40, 45, device=x.device)
    close(Stretched(rotary_frequencies(D, BASE)).rotate(x, at), Rotary(BASE).rotate(x, at))
    batch_at = torch.tensor([[[0, 1, 2, 3, 4]], [[7, 8, 9, 10, 11]]], device=x.device)
    close(Stretched(rotary_frequencies(D)).rotate(x, batch_at), Rotary().rotate(x, batch_at))


@pytest.mark.parametrize("factor", [1, 2, 4.5])
def test_interpolated_positions_are_positions_divided_by_the_factor(factor, draw, close):
    x = draw(1, 1, 6, D)
    at = torch.arange(6, device=x.device)
    wanted = Rotary(BASE).rotate(x, at.to(x.dtype) / factor)
    close(Stretched(interpolated_frequencies(D, factor, BASE)).rotate(x, at), wanted)


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_the_base_of_ntk_leaves_the_first_pair_and_stretches_the_last_by_the_factor(factor):
    old, new = rotary_frequencies(D, BASE), ntk_frequencies(D, factor, BASE)
    ratio = old / new
    assert ratio[0].item() == 1
    assert ratio[-1].item() == pytest.approx(factor, rel=1e-9)
    assert (ratio.diff() > 0).all()


def test_yarn_leaves_fast_pairs_stretches_slow_ones_and_mixes_between():
    factor, old = 4.0, rotary_frequencies(D, BASE).tolist()
    for theta, new in zip(old, yarn_frequencies(D, factor, TRAINED, BASE).tolist(), strict=True):
        turns = TRAINED / (2 * math.pi / theta)  # the trained length over the wavelength
        if turns > 32:
            wanted = theta
        elif turns < 1:
            wanted = theta / factor
        else:
            part = (turns - 1) / 31
            wanted = (1 - part) * theta / factor + part * theta
        assert new == pytest.approx(wanted, rel=1e-12)
    ratio = rotary_frequencies(D, BASE) / yarn_frequencies(D, factor, TRAINED, BASE)
    assert {ratio[0].item(), round(ratio[-1].item(), 9)} == {1, 4}


def test_yarn_scales_queries_and_keys_so_that_scores_are_sharper_by_the_square(draw, close):
    x, y = draw(1, 1, 3, D), draw(1, 1, 3, D, seed=1)
    at = torch.arange(3, device=x.device)
    frequencies, scale = yarn_frequencies(D, 4, TRAINED, BASE), yarn_scale(4)
    plain, sharp = Stretched(frequencies), Stretched(frequencies, scale)
    close(sharp.rotate(x, at) @ sharp.rotate(y, at).mT, scale**2 * (plain.rotate(x, at) @ plain.rotate(y, at).mT))
    assert scale == pytest.approx(1.1386, abs=1e-4)
    assert yarn_scale(1) == 1


def test_a_factor_of_one_changes_nothing():
    old = rotary_frequencies(D, BASE)
    for new in (interpolated_frequencies(D, 1, BASE), ntk_frequencies(D, 1, BASE), yarn_frequencies(D, 1, 100, BASE)):
        torch.testing.assert_close(new, old, rtol=1e-12, atol=0)


def test_a_trained_model_turns_by_them_with_its_cache_and_without():
    config = TransformerConfig(d_model=16, heads=2, layers=2, rotary_base=500.0)
    model, words = LanguageModel(20, config).eval(), torch.arange(9)[None]
    with torch.no_grad():
        wanted, _ = model(words)
        stretch(model, rotary_frequencies(8, 500.0))
        torch.testing.assert_close(model(words)[0], wanted, rtol=1e-5, atol=1e-5)
        stretch(model, interpolated_frequencies(8, 3.0, 500.0))
        other, _ = model(words)
        assert not torch.allclose(other, wanted, atol=1e-2)
        _, state, _ = model.read(words[:, :5], model.start())
        torch.testing.assert_close(model.read(words[:, 5:], state)[0], other[:, 5:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", [interpolated_frequencies, ntk_frequencies, lambda d, s: yarn_frequencies(d, s, 9)])
def test_a_factor_under_one_is_refused(make):
    with pytest.raises(ValueError, match=r"factor must be at least 1 .* got 0\.5"):
        make(8, 0.5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="dim must be even, since features turn in pairs; got 3"):
        rotary_frequencies(3)
    with pytest.raises(ValueError, match=r"dim must be at least 4, .* got 2"):
        ntk_frequencies(2, 2.0)
    with pytest.raises(ValueError, match="trained must be at least 1 position, got 0"):
        yarn_frequencies(8, 2.0, 0)
    with pytest.raises(ValueError, match=r"fast must be greater than slow, got slow = 2\.0 and fast = 2\.0"):
        yarn_frequencies(8, 2.0, 9, slow=2.0, fast=2.0)
    with pytest.raises(ValueError, match="x has 6 features, where 4 frequencies turn two each"):
        Stretched(rotary_frequencies(8)).rotate(torch.zeros(1, 1, 2, 6), torch.arange(2))
