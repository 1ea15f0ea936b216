import pytest
import torch

from attnbook.attention import banded_attention, hard_attend, local_window_mask, padding_mask
from attnbook.data.points.geometry import check_positions
from attnbook.device import available_devices, best_device, on_cpu
from attnbook.models.pointer import mask_visited
from attnbook.models.pointer_generator import copy_or_generate
from attnbook.training.losses import sequence_loss


@pytest.fixture
def machine(monkeypatch):
    """Pretend to be a machine with so many CUDA devices, with or without mps."""

    def pretend(cuda: int, mps: bool):
        monkeypatch.delenv("ATTNBOOK_DEVICE", raising=False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        return monkeypatch

    return pretend


@pytest.mark.parametrize("cuda, mps, best", [(1, True, "cuda"), (0, True, "mps"), (0, False, "cpu")])
def test_cuda_comes_before_mps_before_cpu(machine, cuda, mps, best):
    machine(cuda, mps)
    assert best_device() == torch.device(best)


def test_the_cpu_is_always_there_and_comes_last(machine):
    machine(2, True)
    assert list(map(str, available_devices())) == ["cuda", "mps", "cpu"]
    machine(0, False)
    assert list(map(str, available_devices())) == ["cpu"]


@pytest.mark.parametrize("wish", ["cpu", "cuda", "cuda:1", " mps "])
def test_the_variable_overrides(machine, wish):
    machine(2, True).setenv("ATTNBOOK_DEVICE", wish)
    assert best_device() == torch.device(wish.strip())


def test_an_empty_variable_is_none(machine):
    machine(0, False).setenv("ATTNBOOK_DEVICE", "")
    assert best_device() == torch.device("cpu")


@pytest.mark.parametrize("wish", ["cuda", "mps", "meta", "cpu:1"])
def test_a_device_that_is_not_there_is_named_with_those_that_are(machine, wish):
    machine(0, False).setenv("ATTNBOOK_DEVICE", wish)
    with pytest.raises(ValueError, match=f"ATTNBOOK_DEVICE is '{wish}', but there is no such device.*: cpu"):
        best_device()


def test_a_second_gpu_is_not_there_when_there_is_one(machine):
    machine(1, False).setenv("ATTNBOOK_DEVICE", "cuda:1")
    with pytest.raises(ValueError, match="there is: cuda, cpu"):
        best_device()


def test_a_word_that_names_no_device_is_refused(machine):
    machine(1, True).setenv("ATTNBOOK_DEVICE", "gpu")
    with pytest.raises(ValueError, match="'gpu', which names no device; use cpu, cuda"):
        best_device()


def test_another_kind_of_device_is_taken_where_torch_has_it_and_never_unasked(machine, monkeypatch):
    machine(0, False).setenv("ATTNBOOK_DEVICE", "xpu")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("xpu"))
    assert best_device() == torch.device("xpu")
    assert list(map(str, available_devices())) == ["cpu"]
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("mtia"))
    with pytest.raises(ValueError, match="'xpu', but there is no such device"):
        best_device()


def test_a_tensor_can_live_on_the_best_device():
    device = best_device()
    assert torch.ones(2, device=device).device.type == device.type


def test_numbers_can_be_looked_at_on_the_cpu_and_nowhere_else(device):
    assert on_cpu(torch.ones(2))
    assert on_cpu(torch.ones(2, device=device)) == (device.type == "cpu")


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor with a shape and no numbers: to read one is an error."""
    return torch.empty(shape, dtype=dtype, device="meta")


def whole(*shape: int) -> torch.Tensor:
    return numbers(*shape, dtype=torch.long)


X = numbers(2, 5, 4)
CALLS = {
    "lengths": lambda: padding_mask(whole(2), 5),
    "a window": lambda: local_window_mask(numbers(2), whole(2), 2, max_length=5),
    "global positions": lambda: banded_attention(X, X, X, radius=1, everywhere=whole(2)),
    "hard attention": lambda: hard_attend(X, X, X, numbers(2, 1, 5, dtype=torch.bool), sample=False),
    "chosen positions": lambda: mask_visited(numbers(2, 5, dtype=torch.bool), whole(2)),
    "copied words": lambda: copy_or_generate(numbers(2), numbers(2, 7), numbers(2, 5), whole(2, 5), 9),
    "a target": lambda: sequence_loss(numbers(2, 5, 7), whole(2, 5)),
    "a tour": lambda: check_positions("tour", whole(2, 5), numbers(2, 5, 2), 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_refuses_wrong_values_does_not_wait_for_a_device_to_see_them(name):
    CALLS[name]()
    with pytest.raises(RuntimeError, match="meta"):
        bool(numbers())  # so that the test would notice
