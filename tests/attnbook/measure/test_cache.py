"""Bytes by the formula against the bytes that models really keep."""

import doctest

import pytest
import torch

from attnbook.attention.latent import LatentAttention
from attnbook.attention.masks import causal_mask, sink_mask, window_mask
from attnbook.measure import cache
from attnbook.measure.cache import grouped_cache_bytes, latent_cache_bytes, words_kept
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.trees import map_tensors


def bytes_in(state) -> int:
    found: list[int] = []
    map_tensors(lambda tensor: found.append(tensor.nbytes) or tensor, state)
    return sum(found)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_a_language_model_keeps_what_the_formula_says_per_word(groups):
    model = LanguageModel(20, TransformerConfig(d_model=32, heads=4, layers=3, key_value_heads=groups)).eval()
    _, five, _ = model.read(torch.ones(1, 5, dtype=torch.long), model.start())
    _, six, _ = model.read(torch.ones(1, 1, dtype=torch.long), five)
    assert bytes_in(six.past) - bytes_in(five.past) == grouped_cache_bytes(3, groups, 8, number=4)


def test_latent_attention_keeps_what_the_formula_says_per_word():
    layer = LatentAttention(12, 3, latent=5, turned=4)
    kept = layer.project(torch.zeros(1, 7, 12), torch.arange(7))
    assert bytes_in(kept) == 7 * latent_cache_bytes(1, 5, 4, number=4)


@pytest.mark.parametrize("length", [1, 3, 5, 20])
def test_as_many_words_are_kept_as_the_last_word_may_attend_to(length):
    window = window_mask(length, 2) & causal_mask(length)  # the present word and two before it
    assert words_kept(length, window=3) == window[-1].sum()
    assert words_kept(length, window=3, sinks=2) == (window | sink_mask(length, 2))[-1].sum()
    assert words_kept(length) == length


def test_examples_hold():
    assert doctest.testmod(cache).failed == 0


def test_what_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="key_value_heads must be at least 1, got 0"):
        grouped_cache_bytes(1, 0, 8)
    with pytest.raises(ValueError, match="latent must be at least 1, got 0"):
        latent_cache_bytes(1, 0, 8)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        words_kept(0)
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        words_kept(5, window=0)
    with pytest.raises(ValueError, match=r"sinks must be at least 0 \(none\), got -1"):
        words_kept(5, window=2, sinks=-1)
