"""How files of vision Transformers become ours; `test_load.py` holds whole models against `transformers`."""

import pytest
import torch

from attnbook.models.pretrained import WeightsError
from attnbook.models.pretrained.vision import dinov2, for_grid, vit_config

FACTS = {"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-6}


def test_a_scale_is_multiplied_into_the_matrix_and_the_bias_before_it():
    draws = torch.Generator().manual_seed(0)
    weight, bias, scale, x = (torch.randn(size, generator=draws) for size in ((4, 6), (4,), (4,), (5, 6)))
    block = "encoder.layer.0"
    found = dinov2(
        {
            f"{block}.mlp.fc2.weight": weight, f"{block}.mlp.fc2.bias": bias, f"{block}.layer_scale2.lambda1": scale,
            "embeddings.cls_token": torch.zeros(1, 1, 4), "embeddings.position_embeddings": torch.zeros(1, 2, 4),
            "embeddings.patch_embeddings.projection.weight": torch.zeros(4, 1, 2, 2),
        },
        {"image_size": 2, "patch_size": 2},
    )  # fmt: skip
    ours = [found[f"blocks.layers.0.feed_forward.narrow.{part}"] for part in ("weight", "bias")]
    torch.testing.assert_close(x @ ours[0].T + ours[1], (x @ weight.T + bias) * scale)
    assert not any("layer_scale" in name for name in found)


def test_the_inner_width_is_said_in_two_ways():
    assert vit_config(FACTS | {"intermediate_size": 7}).d_ff == 7
    assert vit_config(FACTS | {"mlp_ratio": 4}).d_ff == 16


def test_positions_of_another_grid_are_interpolated_and_the_class_token_keeps_its_own():
    row = torch.linspace(0, 1, 5)
    stored = torch.cat([torch.full((1, 1, 1), 9.0), row.repeat(5)[None, :, None]], dim=1)  # equal in each column
    found = for_grid(stored, 10)
    assert found.shape == (1, 101, 1)
    assert found[0, 0] == 9
    grid = found[0, 1:, 0].view(10, 10)
    torch.testing.assert_close(grid, grid[:1].expand(10, 10))
    assert (grid[0].diff() > 0).all()
    torch.testing.assert_close(grid[0, 4:6].mean(), torch.tensor(0.5))


def test_positions_of_the_same_grid_stay_as_they_are():
    stored = torch.randn(1, 10, 4, generator=torch.Generator().manual_seed(0))
    assert for_grid(stored, 3) is stored


def test_positions_that_make_no_square_are_refused():
    with pytest.raises(WeightsError, match="the positions are those of 6 patches, which make no square"):
        for_grid(torch.zeros(1, 7, 4), 2)
