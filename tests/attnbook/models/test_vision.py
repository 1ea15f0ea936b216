"""The vision Transformer: patches are cut as a strided convolution cuts them, and blocks read them without a mask."""

import pytest
import torch
from torch import nn
from torch_layers import copy_layer

from attnbook.models.block import TransformerConfig
from attnbook.models.vision import VisionTransformer, patches_to_tokens

B, C, SIDE, PATCH, D, CLASSES = 3, 2, 6, 2, 8, 5
T = 1 + (SIDE // PATCH) ** 2


def small(classes=CLASSES, **changes) -> VisionTransformer:
    torch.manual_seed(1)
    sizes = {"d_model": D, "heads": 2, "layers": 2, "d_ff": 12, "positions": "learned"} | changes
    model = VisionTransformer(classes, TransformerConfig(**sizes), SIDE, PATCH, C)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()


@pytest.fixture
def images(device, float64):
    return torch.randn(B, C, SIDE, SIDE, generator=torch.Generator().manual_seed(0)).to(device, float64)


# ---- patches


def test_patches_come_row_by_row_and_in_each_channel_after_channel():
    image = torch.arange(32).view(1, 2, 4, 4)
    tokens = patches_to_tokens(image, 2)
    assert tokens.shape == (1, 4, 8)
    assert tokens[0, 0].tolist() == [0, 1, 4, 5, 16, 17, 20, 21]
    assert tokens[0, 1].tolist() == [2, 3, 6, 7, 18, 19, 22, 23]


def test_a_projection_of_patches_is_a_convolution_with_a_stride(images):
    kernel = torch.randn(D, C, PATCH, PATCH, generator=torch.Generator().manual_seed(2)).to(images)
    images = images[:, :, :4]  # higher than wide would do as well
    tokens = patches_to_tokens(images, PATCH) @ kernel.flatten(1).T
    wanted = nn.functional.conv2d(images, kernel, stride=PATCH)
    torch.testing.assert_close(tokens, wanted.flatten(2).mT)


@pytest.mark.parametrize("shape, patch", [((1, 1, 6, 4), 4), ((1, 1, 4, 6), 4), ((1, 1, 4, 4), 0)])
def test_patches_that_do_not_fit_are_refused(shape, patch):
    with pytest.raises(ValueError, match=f"multiples of patch, got {shape[2]} × {shape[3]} pixels and {patch}"):
        patches_to_tokens(torch.zeros(shape), patch)


def test_images_have_four_axes():
    with pytest.raises(ValueError, match=r"images must have shape \(B, C, H, W\), got \(4, 4\)"):
        patches_to_tokens(torch.zeros(4, 4), 2)


# ---- the model


def test_it_equals_a_convolution_and_torchs_encoder(images, device, float64):
    model = small().to(device, float64)
    layer = nn.TransformerEncoderLayer(D, 2, 12, dropout=0.0, batch_first=True, norm_first=True)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device, float64)
    for ours, theirs in zip(model.blocks.layers, stack.layers, strict=True):
        copy_layer(ours, theirs)
    kernel = model.embed.weight.view(D, C, PATCH, PATCH)
    x = nn.functional.conv2d(images, kernel, model.embed.bias, stride=PATCH).flatten(2).mT
    x = torch.cat([model.class_token.expand(B, 1, D), x], dim=1) + model.add_positions.vectors
    wanted = model.output(model.blocks.last_norm(stack(x))[:, 0])
    torch.testing.assert_close(model(images)[0], wanted)


def test_shapes_are_those_of_the_other_models(images, device, float64):
    model = small().to(device, float64)
    logits, weights = model(images)
    maps = model.maps(images)
    assert logits.shape == (B, CLASSES)
    assert [tuple(layer.shape) for layer in maps] == [(B, 2, T, T)] * 2
    torch.testing.assert_close(weights, maps[-1].mean(dim=1))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


def test_fused_attention_computes_the_same_and_shows_no_weights(images, device, float64):
    shown, fused = (small(fused=one).to(device, float64) for one in (False, True))
    torch.testing.assert_close(fused(images)[0], shown(images)[0])
    assert fused(images)[1] is None
    assert fused.maps(images) == [None, None]


def test_positions_alone_tell_the_patches_apart():
    """Without them the class token reads a set of patches: their order changes nothing."""
    model = small()
    images = torch.randn(B, C, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    mirrored = images.unflatten(3, (-1, PATCH)).flip(3).flatten(3)  # the columns of patches in reverse order
    assert not torch.allclose(model(mirrored)[0], model(images)[0])
    nn.init.zeros_(model.add_positions.vectors)
    torch.testing.assert_close(model(mirrored)[0], model(images)[0])


def test_the_class_token_alone_is_classified():
    model, images = small(), torch.randn(B, C, SIDE, SIDE)
    torch.testing.assert_close(model(images)[0], model.output(model.encode(images)[0][:, 0]))
    assert small(classes=None)(images)[0].shape == (B, D)


def test_maps_are_those_of_evaluation(images):
    model = small(dropout=0.5).double().train()
    same = model.maps(images.cpu().double()), model.maps(images.cpu().double())
    assert all(torch.equal(one, other) for one, other in zip(*same, strict=True))
    assert model.training


def test_every_parameter_has_a_gradient():
    model = small()
    model(torch.randn(B, C, SIDE, SIDE))[0].square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"side": 7}, "side must be a multiple of patch, got 7 and 2"),
        ({"patch": 0}, "side must be a multiple of patch, got 8 and 0"),
        ({"config": TransformerConfig()}, "positions must be learned, one vector per patch, got 'rotary'"),
    ],
)
def test_what_is_no_vision_transformer_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        VisionTransformer(CLASSES, **arguments)


@pytest.mark.parametrize("shape", [(0, C, SIDE, SIDE), (B, C, SIDE, SIDE + PATCH), (B, 1, SIDE, SIDE), (C, SIDE, SIDE)])
def test_images_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"images must have shape \(B, 2, 6, 6\) with B > 0, got"):
        small()(torch.zeros(shape))
