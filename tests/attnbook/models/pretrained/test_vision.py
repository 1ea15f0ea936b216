"""How files of vision Transformers become ours; `test_load.py` holds whole models against `transformers`."""

import torch

from attnbook.models.pretrained.vision import dinov2, vit_config

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
        {},
    )  # fmt: skip
    ours = [found[f"blocks.layers.0.feed_forward.narrow.{part}"] for part in ("weight", "bias")]
    torch.testing.assert_close(x @ ours[0].T + ours[1], (x @ weight.T + bias) * scale)
    assert not any("layer_scale" in name for name in found)


def test_the_inner_width_is_said_in_two_ways():
    assert vit_config(FACTS | {"intermediate_size": 7}).d_ff == 7
    assert vit_config(FACTS | {"mlp_ratio": 4}).d_ff == 16
