"""The benchmark pairs what it compares, and our side says what the model says when it reads all at once."""

import time
from pathlib import Path

import pytest
import torch

from attnbook.models.pretrained import load

TINY = Path(__file__).parents[1] / "attnbook/models/pretrained/made/llama"


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("pretrained")


def test_our_side_goes_on_from_what_it_has_read(benchmark):
    words = torch.tensor([[3, 14, 15, 9, 26]])
    read = benchmark.ours(TINY, torch.float32).read
    first, state = read(words[:, :4], None)
    second, _ = read(words[:, 4:], state)
    logits, _ = load(TINY).model(words)
    torch.testing.assert_close(torch.cat([first, second]), logits[0, 3:], rtol=0, atol=1e-5)


@pytest.mark.parametrize("clock, read", [("wall", "perf_counter"), ("processor", "process_time")])
def test_a_ratio_of_one_comes_out_where_both_take_as_long(benchmark, monkeypatch, clock, read):
    ticks = iter(range(1000))
    monkeypatch.setattr(time, read, lambda: float(next(ticks)))  # each pass takes one second
    side = benchmark.ours(TINY, torch.float32)
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor([[3, 14, 15, 9]]))
    found = benchmark.compare((side, side), length=4, tokens=2, rounds=2, clock=benchmark.CLOCKS[clock])
    assert found == {"prefill": (4.0, 4.0, 1.0), "decoding": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("asked", [["--halves"], ["--clock", "processor"]])
def test_what_only_the_processor_can_is_refused_on_a_card(benchmark, capsys, asked):
    with pytest.raises(SystemExit):
        benchmark.main(["--device", "cuda", *asked])
    assert "are for the CPU" in capsys.readouterr().err
