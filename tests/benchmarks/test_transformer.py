"""The benchmark runs, pairs what it compares, and compares the same thing."""

import time

import pytest
import torch

from attnbook.data import shift_right
from attnbook.models import Transformer, TransformerConfig
from attnruns.experiments import translate

TINY = TransformerConfig(d_model=16, heads=2, d_ff=32, positions="sinusoidal")


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("transformer")


@pytest.fixture
def tiny(benchmark):
    return benchmark.Size(TINY, batch=2, length=6, words=50)


def test_both_models_are_of_one_size_but_for_torchs_biases_and_last_norms(benchmark):
    ours, theirs = Transformer(1000, 1000, TINY), benchmark.TorchTransformer(TINY, 1000)
    assert [tuple(p.shape) for p in ours.embed_source.parameters()] == [
        tuple(p.shape) for p in theirs.embed_source.parameters()
    ]
    counts = [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)]
    assert abs(counts[0] - counts[1]) < 0.01 * counts[0]


def test_both_give_logits_of_one_shape_for_the_same_batch(benchmark, tiny, device):
    batch = benchmark.random_batch(tiny, seed=0).to(device)
    models = Transformer(50, 50, TINY).to(device), benchmark.TorchTransformer(TINY, 50).to(device)
    shapes = {model(batch.source, batch.lengths, shift_right(batch.target))[0].shape for model in models}
    assert shapes == {(2, 6, 50)}


def test_sentences_are_padded_behind_their_ends(benchmark, tiny):
    batch = benchmark.random_batch(tiny._replace(batch=4, length=10), seed=1)
    assert batch.source.shape == (4, 10)
    assert batch.source.max() < 50
    for row, length in zip(batch.source, batch.lengths.tolist(), strict=True):
        assert bool((row[:length] > 0).all())
        assert bool((row[length:] == 0).all())


def test_a_ratio_comes_out_of_each_comparison(benchmark, tiny, capsys, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))  # each call takes one second
    assert benchmark.compare_training(tiny, rounds=1) == pytest.approx(1.0)
    assert benchmark.compare_decoding(tiny, rounds=1) == pytest.approx(1.0)
    training, decoding = capsys.readouterr().out.splitlines()
    assert training.startswith("training  D=16 2+2 layers, B=2, T=6: ours ")
    assert decoding == "decoding  D=16 2+2 layers, B=2, 6 words: 12 words/s, 1.0 × with the cache"


def test_one_size_is_that_of_the_translators_and_their_batches(benchmark):
    config, batch, length, words = benchmark.TRANSLATION
    assert batch * length == translate.BATCH
    trained = translate.RECIPES["transformer_de_en"].build((words, words))
    ours = Transformer(words, words, config)
    assert [p.shape for p in ours.parameters()] == [p.shape for p in trained.parameters()]
    assert config.dropout == translate.RECIPES["transformer_de_en"].dropout
    assert benchmark.TRANSLATION in benchmark.TRAININGS
    assert benchmark.TRANSLATION in benchmark.DECODINGS


def test_the_command_compares_each_size_where_it_is_told(benchmark, monkeypatch):
    asked = []
    for name in ("compare_training", "compare_decoding"):
        monkeypatch.setattr(benchmark, name, lambda *arguments, name=name: asked.append((name, *arguments)))
    benchmark.main(["--rounds", "7", "--device", "cuda"])
    assert asked == [
        *(("compare_training", size, 7, "cuda") for size in benchmark.TRAININGS),
        *(("compare_decoding", size, 3, "cuda") for size in benchmark.DECODINGS),
    ]
    assert torch.get_num_threads() == 1
