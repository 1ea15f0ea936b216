"""The Llama of chapter 19's file, on each device and in half precision; its cells are read from the notebook."""

import copy
from pathlib import Path

import pytest
import torch

from coursekit.notebooks import read
from coursekit.standalone import code_of

CHAPTER = Path(__file__).parents[2] / "chapters" / "19_real_model.ipynb"


@pytest.fixture(scope="module")
def llama():
    """A small model with fixed weights, of the class that the file defines; its own test is left away."""
    names: dict = {}
    code = code_of(read(CHAPTER)).split("with torch.device")[0]
    exec(compile(code, str(CHAPTER), "exec"), names)  # the chapter's own cells
    torch.manual_seed(1)
    return names["Llama"](words=50, dim=32, layers=2, heads=4, groups=2, hidden=64).eval().requires_grad_(False)


IDS = torch.arange(24).view(2, 12)


def test_it_computes_on_every_device_what_it_computes_on_the_cpu(llama, device):
    wanted = llama(IDS)[0]
    moved = copy.deepcopy(llama).to(device)
    at_once, _ = moved(IDS.to(device))
    _, kept = moved(IDS[:, :7].to(device))
    rest, _ = moved(IDS[:, 7:].to(device), kept)
    assert at_once.device.type == device.type
    assert torch.allclose(at_once.cpu(), wanted, atol=1e-4)
    assert torch.allclose(rest.cpu(), wanted[:, 7:], atol=1e-4)


def test_in_half_precision_it_stays_there_and_its_cache_too(llama):
    wanted = llama(IDS)[0]
    logits, caches = copy.deepcopy(llama).to(torch.bfloat16)(IDS)
    assert logits.dtype == torch.bfloat16
    assert {part.dtype for cache in caches for part in cache} == {torch.bfloat16}
    assert (logits.float() - wanted).abs().max() < 0.05 * wanted.abs().max()
