"""The real DINOv2-small, where it is on this machine, against what onnxruntime computes (`made/make_onnx.py`)."""

from pathlib import Path

import pytest
import torch

from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import kept
from attnbook.models.pretrained.safetensors import read_safetensors

EXPECTED = Path(__file__).parent / "made" / "dinov2_small.expected.safetensors"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(kept("dinov2") is None, reason="DINOv2 is not here: python -m attnbook.pretrained dinov2"),
]


def waves(side):
    x = torch.arange(side) / side
    phase = torch.stack([7 * x[:, None] + 3 * x, 20 * x[:, None] * x])  # (2, S, S)
    return torch.stack([torch.sin((channel + 2) * phase) for channel in range(3)], dim=1)


def test_states_and_weights_are_those_of_onnxruntime():
    expected = read_safetensors(EXPECTED)
    states, seen = load(kept("dinov2")).model.encode(waves(224))
    torch.testing.assert_close(states[:, ::16, ::3], expected["states"], rtol=0, atol=1e-4)
    weights = torch.stack([one[:, :, 0, ::8] for one in seen])  # (L, B, H, 1 + N / 8)
    torch.testing.assert_close(weights, expected["weights"], rtol=0, atol=5e-5)
