"""The experiment that takes times and memory of attention: every figure where it belongs, on any device."""

import pytest
import torch

from attnbook.attention import attend, causal_mask, window_mask
from attnruns.experiments import attention_cost
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Short sequences, on the CPU: what is tested is not the machine."""
    monkeypatch.setattr(attention_cost, "LENGTHS", (64, 128, 256))
    monkeypatch.setattr(attention_cost, "best_device", lambda: torch.device("cpu"))


@pytest.mark.parametrize("name", attention_cost.ATTENTIONS)
def test_a_run_has_time_and_memory_by_length(name):
    figures = attention_cost.run(Job(name, 0, 1)).figures
    for way in ("forwards", "both_ways"):
        assert list(figures[f"bytes_{way}"]) == list(figures[f"milliseconds_{way}"]) == ["64", "128", "256"]
        assert all(number > 0 for number in figures[f"bytes_{way}"].values())
    assert figures["device"] == "cpu"
    assert figures["seconds"] >= 0
    assert figures.get("largest_difference", 0) < 1e-12


CAUSAL = ("causal", "attend_in_blocks", "attend_in_window")


@pytest.mark.parametrize("name", attention_cost.ATTENTIONS)
def test_what_is_timed_is_what_its_mask_says(name, device, dtype, close):
    inputs = [torch.randn(1, 300, 64, dtype=dtype, device=device) for _ in range(3)]
    mask = causal_mask(300, device) if name in CAUSAL else None
    if name == "attend_in_window":
        mask = mask & window_mask(300, attention_cost.WINDOW - 1, device)
    close(attention_cost.ATTENTIONS[name](*inputs), attend(*inputs, mask=mask)[0])


def test_the_functions_of_the_chapter_are_measured_as_they_stand_there():
    assert {"add", "attend_in_blocks", "attend_in_window"} <= attention_cost.shown().keys()
    assert not {"texts", "train", "models"} & attention_cost.shown().keys()  # nothing is trained


def test_memory_of_the_whole_grows_with_the_square_and_of_a_window_with_the_length():
    cpu = torch.device("cpu")
    grows = {
        name: attention_cost.measure(name, 1024, 1, cpu)["bytes_forwards"]
        / attention_cost.measure(name, 512, 1, cpu)["bytes_forwards"]
        for name in ("whole", "attend_in_window")
    }
    assert grows["whole"] > 3
    assert grows["attend_in_window"] < 2.2


def test_memory_and_time_are_taken_on_a_gpu_too(device):
    if device.type == "card":
        pytest.skip("the pretended card keeps no record of its memory")
    call = lambda: torch.ones(1000, device=device) + 1  # noqa: E731
    assert attention_cost.peak_on(device, call) >= 8000
    assert attention_cost.seconds_on(device, 2, call) >= 0
