"""A pretended graphics card for torch: a device named ``card``, in ordinary memory, with a GPU's strictness.

:func:`put_in` makes it known to torch. Do so before the first ``backward()`` of the process, because torch counts its
devices then. :func:`why_not` says what is amiss on a machine that cannot have it.

It imitates what CUDA refuses and a CPU allows (``card.cpp`` says what), so that tests on a machine without a graphics
card find what a reader's card would find. It does not imitate asynchrony, TF32, the order of equal numbers in ``sort``
and ``topk``, memory statistics, sparse tensors, ``torch.cuda.*``, nor what stands behind ``device.type == "cuda"``.
Source: torch 2.13's own code and messages; no run on a real card.
"""

import contextlib
import re
import shutil
import sys
import types
from functools import cache
from pathlib import Path

import torch
import torchgen

from . import build

NAME = "card"
MADE_FOR = "2.13."  # it uses torch's inside, which may change with each version


@cache
def why_not() -> str:
    """Why no card can be had here, or nothing; builds it."""
    if not sys.platform.startswith("linux"):
        return "the pretended card has been tried on Linux only"
    if not torch.__version__.startswith(MADE_FOR):
        return f"the pretended card is made for torch {MADE_FOR}*, and this is {torch.__version__}"
    if shutil.which(build.COMPILER) is None:
        return f"the pretended card needs a C++ compiler, and there is no {build.COMPILER}"
    try:
        build.library()
    except build.NotBuilt as error:
        return str(error)
    return ""


@cache
def put_in() -> None:
    """Build the card where that has not been done, and make it known to torch; once per process.

    Raises:
        RuntimeError: if no card can be had here, with the reason.
    """
    if reason := why_not():
        raise RuntimeError(reason)
    torch.ops.load_library(str(build.library()))
    torch.ops.card.start()
    torch.ops.card.allow_scalars(_lenient_operations())
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, _module())
    torch.utils.generate_methods_for_privateuse1_backend()
    _let_parameters_move()


def is_in() -> bool:
    """Whether this process has the card."""
    return put_in.cache_info().currsize > 0


@contextlib.contextmanager
def without_float64():
    """In this block the card refuses float64, as Apple's graphics chips do."""
    torch.ops.card.allow_float64(False)
    try:
        yield
    finally:
        torch.ops.card.allow_float64(True)


def calls() -> int:
    """How many operations the card has computed in this process."""
    return torch.ops.card.calls()


def _lenient_operations() -> list[str]:
    """The operations whose CUDA kernels check the devices themselves, from torch's own list."""
    text = (Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml").read_text(encoding="utf-8")
    blocks = re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]
    return [block[: block.index("(")] for block in blocks if "device_check: NoCheck" in block]


class _Chosen(contextlib.nullcontext):
    """``with torch.card.device(0):``; there is one card only."""

    def __init__(self, device: object = None) -> None:
        super().__init__(device)


def _module() -> types.ModuleType:
    """``torch.card``, with what torch asks of such a module, as of ``torch.cuda``."""
    module = types.ModuleType(f"torch.{NAME}")
    module.is_available = module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.device = _Chosen
    module.set_device = module.synchronize = module._lazy_init = lambda device=None: None
    module.manual_seed = module.manual_seed_all = torch.ops.card.manual_seed
    module.get_rng_state = lambda device=NAME: torch.ops.card.get_state()
    module.set_rng_state = lambda state, device=NAME: torch.ops.card.set_state(state)
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    return module


def _let_parameters_move() -> None:
    """Let ``parameter.data = ...`` lead from one device to the other, which torch allows CUDA and no device of ours."""
    data = torch._C.TensorBase.data

    def put(tensor, other):
        if {tensor.device.type, other.device.type} == {"cpu", NAME}:
            torch.ops.card.set_data(tensor, other)
        else:
            data.__set__(tensor, other)

    torch.Tensor.data = property(data.__get__, put)
