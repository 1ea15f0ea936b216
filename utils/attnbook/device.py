"""Where to compute: a GPU when there is one, else the CPU; the notebooks need no edit."""

import os

import torch
from torch import Tensor, nn

VARIABLE = "ATTNBOOK_DEVICE"


def best_device() -> torch.device:
    """Return the device to compute on: cuda before mps before cpu, or what ``ATTNBOOK_DEVICE`` says.

    The variable may also name a kind that is not looked for, such as ``xpu``, where torch has such a device.

    Returns:
        ``torch.device``. Give it to ``model.to(...)`` and ``batch.to(...)``.

    Raises:
        ValueError: if ``ATTNBOOK_DEVICE`` names no device, or one that isn't there.
    """
    wish = os.environ.get(VARIABLE, "").strip()
    if not wish:
        return available_devices()[0]
    try:
        device = torch.device(wish)
    except RuntimeError:
        raise ValueError(f"{VARIABLE} is {wish!r}, which names no device; use cpu, cuda, cuda:1 or mps") from None
    if not _is_there(device):
        there = ", ".join(map(str, available_devices()))
        raise ValueError(f"{VARIABLE} is {wish!r}, but there is no such device here; there is: {there}")
    return device


def available_devices() -> list[torch.device]:
    """Return a device of each kind that is there, best first; the CPU always comes last."""
    return [device for device in map(torch.device, ("cuda", "mps", "cpu")) if _is_there(device)]


def device_of(model: nn.Module) -> torch.device:
    """Return where a model's parameters are, so that what it reads can be moved there: ``batch.to(device_of(model))``.

    It is the CPU for a model without parameters, such as one that only counts.
    """
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


def on_cpu(tensor: Tensor) -> bool:
    """Whether the numbers of ``tensor`` can be looked at without waiting.

    To read a number on another device, the program waits until the device has done all that it was asked before. What
    looks at values only to refuse them asks this first: data are made on the CPU, and there wrong ones are found.
    """
    return tensor.device.type == "cpu"


def _is_there(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    if device.type == "mps":
        return torch.backends.mps.is_available() and not device.index
    if device.type != "cpu":  # a kind that the book doesn't look for by itself: torch has at most one of them
        other = torch.accelerator.current_accelerator()
        return other is not None and other.type == device.type and not device.index
    return not device.index
