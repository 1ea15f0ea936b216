"""The benchmark runs, pairs what it compares, and compares the same thing."""

import time

import pytest

from attnbook.models import Transformer, TransformerConfig
from attnbook.training import shift_right

TINY = TransformerConfig(d_model=16, heads=2, d_ff=32, positions="sinusoidal")


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("transformer")


def test_both_models_are_of_one_size_but_for_torchs_biases_and_last_norms(benchmark):
    ours, theirs = Transformer(benchmark.WORDS, benchmark.WORDS, TINY), benchmark.TorchTransformer(TINY)
    assert [tuple(p.shape) for p in ours.embed_source.parameters()] == [
        tuple(p.shape) for p in theirs.embed_source.parameters()
    ]
    counts = [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)]
    assert abs(counts[0] - counts[1]) < 0.01 * counts[0]


def test_both_give_logits_of_one_shape_for_the_same_batch(benchmark):
    batch = benchmark.random_batch(2, 6, seed=0)
    models = Transformer(benchmark.WORDS, benchmark.WORDS, TINY), benchmark.TorchTransformer(TINY)
    shapes = {model(batch.source, batch.lengths, shift_right(batch.target))[0].shape for model in models}
    assert shapes == {(2, 6, benchmark.WORDS)}


def test_sentences_are_padded_behind_their_ends(benchmark):
    batch = benchmark.random_batch(4, 10, seed=1)
    for row, length in zip(batch.source, batch.lengths.tolist(), strict=True):
        assert bool((row[:length] > 0).all())
        assert bool((row[length:] == 0).all())


def test_a_ratio_comes_out_of_each_comparison(benchmark, capsys, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))  # each call takes one second
    assert benchmark.compare_training(TINY, batch=2, length=6, rounds=1) == pytest.approx(1.0)
    assert benchmark.compare_decoding(TINY, batch=2, length=4, rounds=1) == pytest.approx(1.0)
    assert capsys.readouterr().out.count("×") == 2
