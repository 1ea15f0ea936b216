"""Dense layers over positions: the same mixture for all images, from all positions, with attention's parameters."""

import pytest
import torch

from attnbook.models.sagan import FeatureMapAttention
from attnruns.shared.dense_positions import DensePositions


@pytest.mark.parametrize("channels", [32, 64])
def test_it_has_as_many_parameters_as_the_attention_that_it_replaces(channels):
    layers = DensePositions(channels, (4, 16)), FeatureMapAttention(channels)
    dense, attention = (sum(part.numel() for part in layer.parameters()) for layer in layers)
    assert dense == attention


def test_each_position_receives_from_all_by_weights_that_no_image_changes():
    torch.manual_seed(0)
    layer = DensePositions(8, (2, 2), gamma=0.5, normalised=False)
    x = torch.randn(3, 8, 2, 2)
    mixture = layer.spread.weight @ layer.gather.weight  # (N, N)
    value, output = (part.weight[:, :, 0, 0] for part in (layer.value, layer.output))
    slow = torch.einsum("oc,ji,cd,bdi->boj", output, mixture, value, x.flatten(2)).view_as(x)
    y, weights = layer.attended(x)
    torch.testing.assert_close(y, x + 0.5 * slow)
    torch.testing.assert_close(layer(x), y)
    assert weights is None
    assert mixture.abs().min() > 0


def test_with_gamma_zero_it_is_the_identity():
    x = torch.randn(2, 8, 2, 2)
    assert torch.equal(DensePositions(8, (2, 2))(x), x)


def test_a_map_that_leaves_no_room_is_refused():
    with pytest.raises(ValueError, match="multiple of 8 · 64, got 16 channels"):
        DensePositions(16, (4, 16))
