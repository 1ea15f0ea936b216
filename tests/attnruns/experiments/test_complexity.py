"""Costs of a layer: counted, against formulae; memory and time, against what one knows."""

import pytest
import torch

from attnruns.experiments import complexity
from attnruns.shared.runner import Job

COUNTED = ["bare", "self_attention", "window", "rnn", "convolution"]


@pytest.mark.parametrize("kind", COUNTED)
@pytest.mark.parametrize(("n", "d"), [(40, 8), (64, 16)])
def test_torch_counts_the_multiplications_of_the_formula(kind, n, d):
    layer, x = complexity.LAYERS[kind](d), torch.randn(1, n, d)
    assert complexity.multiplications(lambda: layer(x)) == complexity.formula(kind, n, d)


@pytest.mark.parametrize("kind", sorted(set(complexity.LAYERS) - set(COUNTED)))
def test_what_torch_cannot_count_has_the_formula(kind):
    assert complexity.measure(kind, 20, 8, repeats=1)["multiplications"] == complexity.formula(kind, 20, 8)


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of bare, .*got 'gru'"):
        complexity.formula("gru", 8, 8)


def test_peak_memory_is_what_lives_at_once():
    def call():
        first = torch.ones(1000)  # 4000 bytes
        second = first + 1  # 8000
        del first
        return second + 1  # 8000 again

    assert 8000 <= complexity.peak_bytes(call) < 8100  # a scalar may have its few bytes
    assert complexity.peak_bytes(call) == complexity.peak_bytes(call)


def test_attention_holds_all_scores_and_a_window_does_not():
    n = 256
    costs = {kind: complexity.measure(kind, n, 8, repeats=1)["bytes"] for kind in ("bare", "bare_fused", "window")}
    assert costs["bare"] >= 2 * 4 * n * n  # scores and weights
    assert max(costs["bare_fused"], costs["window"]) < 4 * n * n


def test_an_exponent_is_the_slope_of_the_logarithms():
    assert complexity.exponent({"10": 300, "20": 1200, "40": 4800}) == pytest.approx(2)
    assert complexity.exponent({1: 100, 10: 5, 100: 50}, smallest=10) == pytest.approx(1)
    with pytest.raises(ValueError, match="points must hold at least 2 with x >= 50, got 1"):
        complexity.exponent({1: 1, 100: 2}, smallest=50)


def test_a_crossover_lies_where_the_curves_meet():
    square, line = {str(n): n * n for n in (64, 256, 1024)}, {str(n): 128 * n for n in (64, 256, 1024)}
    assert complexity.crossover(square, line) == pytest.approx(128)
    assert complexity.crossover(line, line) is None
    assert complexity.crossover({"1": 9, "2": 9}, {"1": 1, "2": 1}) is None


def test_a_run_holds_three_measures_at_each_size(monkeypatch):
    monkeypatch.setattr(complexity, "SIZES", {"by_n": [(16, 8), (32, 8)], "by_d": [(16, 4)]})
    figures = complexity.run(Job("window", 0, 2)).figures
    assert figures["bytes_by_n"].keys() == {"16", "32"}
    assert figures["milliseconds_by_d"].keys() == {"4"}
    assert figures["multiplications_by_d"] == {"4": complexity.formula("window", 16, 4)}
    assert figures["seconds"] >= 0
