"""What the files of vision Transformers call the parts of ours: ViT and DINOv2, as transformers stores them.

Source: Dosovitskiy et al. 2021; Oquab et al. 2024, whose layer scale is that of Touvron et al. 2021.
"""

from collections.abc import Mapping
from math import isqrt

from torch import Tensor, cat, nn
from torch.nn.functional import interpolate

from attnbook.models.block import TransformerConfig
from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.renaming import Facts, State, refuse, renamed
from attnbook.models.vision import VisionTransformer

VIT = {
    **{f"attention.attention.{part}": f"self_attention.project_{part}" for part in ("query", "key", "value")},
    "attention.output.dense": "self_attention.project_output", "layernorm_before": "norm_self",
    "layernorm_after": "norm_feed_forward", "intermediate.dense": "feed_forward.widen",
    "output.dense": "feed_forward.narrow",
}  # fmt: skip
DINOV2 = VIT | {
    "norm1": "norm_self", "norm2": "norm_feed_forward",
    "mlp.fc1": "feed_forward.widen", "mlp.fc2": "feed_forward.narrow",
}  # fmt: skip
SCALES = {".attention.output.dense.": ".layer_scale1.", ".mlp.fc2.": ".layer_scale2."}  # of DINOv2, by matrix


def vit_config(facts: Facts) -> TransformerConfig:
    """Pre-norm, learned positions, GELU; DINOv2 says its inner width as a multiple of the outer one."""
    refuse(facts, hidden_act="gelu", qkv_bias=True, use_swiglu_ffn=False)
    width = facts["hidden_size"]
    return TransformerConfig(
        d_model=width, heads=facts["num_attention_heads"], layers=facts["num_hidden_layers"],
        d_ff=int(width * facts["mlp_ratio"]) if "mlp_ratio" in facts else facts["intermediate_size"],
        positions="learned", feed_forward="gelu", eps=facts["layer_norm_eps"], tied=False,
    )  # fmt: skip


def vit(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """A convolution cuts out and projects patches there, with a kernel ``(D, C, P, P)``; the pooler is not ours."""
    kept = {name.removeprefix("vit."): tensor for name, tensor in tensors.items()}
    return _patches(kept, VIT, {"classifier": "output"})


def dinov2(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """As a ViT; what scales the features after each sublayer is multiplied into the sublayer's last matrix and bias.

    Positions come from images of 518 pixels, and are interpolated for images of another size.
    """
    kept = {name.removeprefix("dinov2."): tensor for name, tensor in tensors.items()}
    for name in list(kept):
        for matrix, scale in SCALES.items():
            if matrix in name:
                factors = kept[f"{name.partition(matrix)[0]}{scale}lambda1"]  # (D,)
                kept[name] = (factors if name.endswith(".bias") else factors[:, None]) * kept[name]
    kept = {name: tensor for name, tensor in kept.items() if not name.endswith(".lambda1")}
    stored = kept["embeddings.position_embeddings"]
    kept["embeddings.position_embeddings"] = for_grid(stored, facts["image_size"] // facts["patch_size"])
    return _patches(kept, DINOV2, {})


def for_grid(positions: Tensor, side: int) -> Tensor:
    """Positions ``(1, 1 + N, D)`` for a grid of ``side`` patches, interpolated (bicubic) if the stored one is another.

    That of the class token stays. It is what transformers does whenever such a model reads an image.
    """
    stored = isqrt(positions.shape[1] - 1)
    if stored**2 != positions.shape[1] - 1:
        raise WeightsError(f"the positions are those of {positions.shape[1] - 1} patches, which make no square")
    if stored == side:
        return positions
    grid = positions[:, 1:].mT.unflatten(2, (stored, stored)).float()  # (1, D, S, S)
    grid = interpolate(grid, size=(side, side), mode="bicubic", align_corners=False)
    return cat([positions[:, :1], grid.flatten(2).mT.to(positions.dtype)], dim=1)


def _patches(kept: State, inside: Mapping[str, str], head: Mapping[str, str]) -> State:
    """What both share: token and positions have an axis for the batch, and the kernel becomes a matrix."""
    kept = {name: tensor for name, tensor in kept.items() if not name.startswith(("pooler.", "embeddings.mask_token"))}
    before = "embeddings."
    kept["class_token"] = kept.pop(f"{before}cls_token").flatten()  # (1, 1, D) -> (D,)
    kept["add_positions.vectors"] = kept.pop(f"{before}position_embeddings")[0]  # (1, 1 + N, D) -> (1 + N, D)
    kept["embed.weight"] = kept.pop(f"{before}patch_embeddings.projection.weight").flatten(1)  # (D, C · P · P)
    outside = {f"{before}patch_embeddings.projection": "embed", "layernorm": "blocks.last_norm", **head}
    return renamed(kept, outside, "encoder.layer.{}.", inside)


def of_patches(state: State, facts: Facts, config: TransformerConfig) -> nn.Module:
    """A vision Transformer; without a head where the file has none."""
    classes = len(state["output.weight"]) if "output.weight" in state else None
    return VisionTransformer(classes, config, facts["image_size"], facts["patch_size"], facts["num_channels"])
