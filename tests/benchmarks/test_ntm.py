"""The benchmark runs, pairs what it compares, and compares the same thing."""

import time

import pytest
import torch

from attnbook.data import copy_batch
from attnbook.models import NTMConfig
from attnbook.models.ntm import CONTROLLERS


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("ntm")


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_all_machines_say_the_same(benchmark, controller):
    model = benchmark.fresh(NTMConfig(3, 2, 8, 4, read_heads=2, write_heads=2, controller=controller))
    inputs = copy_batch(3, 2, bits=2).inputs
    expected = model(inputs, rows=5)[0]
    for other in [benchmark.ByHand(model), *(benchmark.Plain(model, loops) for loops in benchmark.LOOPS)]:
        torch.testing.assert_close(other(inputs, rows=5)[0], expected, rtol=1e-4, atol=1e-4)


def test_a_ratio_comes_out_of_each_comparison(benchmark, capsys, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))  # each call takes one second
    ratios = benchmark.compare(NTMConfig(hidden=8, width=4), batch=2, length=2, rows=5, rounds=2)
    assert ratios == {ours: {loops: pytest.approx(1.0) for loops in benchmark.LOOPS} for ours in ("model", "by hand")}
    assert capsys.readouterr().out.count("×") == 4
