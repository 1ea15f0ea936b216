"""The layer that stacks are tried on reads from left to right, and says which input it wants."""

import pytest
import torch

from attnlabs import Draw
from attnlabs.fakes.layer import fake_layer


def test_an_output_depends_on_no_later_word():
    draw = Draw(0, 0)
    layer, x = fake_layer(draw, 3, 2), draw.normal(2, 4, 3)
    assert torch.allclose(layer(x)[:, :2], layer(x[:, :2]))
    assert not torch.allclose(layer(x)[:, 2:], layer(x[:, 2:]))


def test_an_input_of_another_width_is_refused_with_a_hint():
    draw = Draw(0, 0)
    with pytest.raises(ValueError, match=r"its input has shape \(2, 4, 5\); wanted \(B, T, 3\), joined"):
        fake_layer(draw, 3, 2, ", joined")(draw.normal(2, 4, 5))
