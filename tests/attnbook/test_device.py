import pytest
import torch

from attnbook.device import available_devices, best_device


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
