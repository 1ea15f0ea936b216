"""The experiment on what a real model writes and what rounding costs it, with a tiny one in its place."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.measure.inside import surprises
from attnruns.experiments import real_model, real_texts
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers with fixed weights, a text of 600 tokens, short texts."""
    pretrained = tiny_pretrained(monkeypatch, real_texts, ends=(2,), d_model=32, d_ff=64)
    monkeypatch.setattr(real_model, "PERIOD", 4)
    small = {"LENGTH": 6, "SHORT": 40, "BEGINS": (0, 100, 200), "LENS": 20, "WINDOW": 8, "BETWEEN": 70, "FROM": 50}
    for name, value in small.items():
        monkeypatch.setattr(real_texts, name, value)
    return pretrained


@pytest.mark.parametrize("name", list(real_texts.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_texts, Job(name, 0, 1 if name == "lens" else 2), tmp_path, "cpu")["seconds"] >= 0


def test_a_shorter_text_is_the_beginning_of_a_longer_one(tiny):
    for way in ("greedy", *real_texts.WAYS):
        short, long = (real_texts.written(tiny, "1 2 3", way, samples=3, length=length) for length in (3, 6))
        assert len(short) == len(long) == (1 if way == "greedy" else 3)
        assert [row[:3] for row in long] == short


def test_a_text_goes_up_to_its_end():
    assert real_texts.up_to_the_end([5, 4, 2, 2], ends=(2,)) == [5, 4]
    assert real_texts.up_to_the_end([5, 4], ends=(2,)) == [5, 4]


def test_rounding_twice_in_the_same_blocks_is_rounding_once():
    numbers = torch.randn(4, 64, generator=torch.Generator().manual_seed(2))
    for bits, offset in ((8, False), (4, False), (4, True)):
        once = real_texts.in_fewer_bits(numbers, bits, offset)
        blocks, steps = once.view(-1, 32), 2**bits - (not offset)
        assert torch.allclose(real_texts.in_fewer_bits(once, bits, offset), once, atol=1e-5)
        assert max(len(block.unique()) for block in blocks) <= steps
        assert not torch.allclose(once, numbers, atol=1e-3)
    assert not torch.allclose(real_texts.other_blocks(once, 4), once, atol=1e-3)


def test_rounding_by_feature_has_blocks_of_neighbouring_tokens():
    numbers = torch.randn(1, 40, 3, generator=torch.Generator().manual_seed(2))
    found = real_texts.by_feature_in_fewer_bits(numbers, 4, offset=True)
    assert found.shape == numbers.shape
    assert torch.equal(found[0, :32].T, real_texts.in_fewer_bits(numbers[0, :32].T, 4, offset=True))
    wide = torch.cat([numbers[:, :, :2], 100 * numbers[:, :, 2:]], dim=2)
    assert torch.equal(real_texts.by_feature_in_fewer_bits(wide, 4, offset=True)[..., :2], found[..., :2])


def test_after_a_measurement_the_model_is_as_before(tiny):
    words = torch.arange(3, 23)[None]
    before = tiny.model(words)[0]
    cost, moved = real_texts.cost_of_weights(tiny.model, [words], bits=3)
    assert cost[0] != 0
    assert 0 < moved < 1
    assert real_texts.cost_of_cache(tiny.model, [words], bits=3, offset=True)[0] != 0
    assert torch.equal(tiny.model(words)[0], before)


def test_the_last_layer_read_early_is_the_model(tiny):
    words = torch.arange(3, 23)[None]
    nats = surprises(tiny.model(words)[0], words).mean().item()
    assert real_texts.read_early(tiny.model, words, [3])[3] == pytest.approx(nats, abs=1e-5)


def test_with_all_layers_global_the_text_is_read_as_usual(tiny):
    twice = real_texts.lists_around_texts(tiny, 2, seed=0)
    assert twice.shape == (2, 78)
    assert torch.equal(twice[:, :4], twice[:, -4:])
    copied, perplexity = real_texts.copied_and_perplexity(tiny.model, twice, (1, 2, 3))
    logits = tiny.model(twice)[0]
    assert torch.equal(copied, logits[:, -4:-1].argmax(dim=-1) == twice[:, -3:])
    assert perplexity == pytest.approx(surprises(logits, twice)[:, 67:73].mean().exp().item(), rel=1e-4)
    assert real_texts.copied_and_perplexity(tiny.model, twice, ())[1] != pytest.approx(perplexity, rel=1e-6)
