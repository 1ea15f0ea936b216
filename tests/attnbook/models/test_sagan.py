"""SAGAN: attention between positions of a map equals a slow loop; what each network can and cannot reach."""

import pytest
import torch
from torch import nn

from attnbook.data.pictures.digit_pairs import digit_pairs
from attnbook.models.captioning import image_to_annotations
from attnbook.models.sagan import (
    SAGAN,
    FeatureMapAttention,
    ImageDiscriminator,
    ImageGenerator,
    annotations_to_map,
    feature_map_attention,
    gated_residual,
)


def slow_attention(x, W_q, W_k, W_v):
    """One image, one position after the other: equations 1 and 2 as they stand."""
    context, weights = [], []
    for image in x:
        positions = [image[:, i, j] for i in range(image.shape[1]) for j in range(image.shape[2])]
        rows = []
        for at in positions:
            scores = torch.stack([(W_k @ other) @ (W_q @ at) for other in positions])
            rows.append(scores.exp() / scores.exp().sum())
        weights.append(torch.stack(rows))
        summed = [sum(w * (W_v @ other) for w, other in zip(row, positions, strict=True)) for row in rows]
        context.append(torch.stack(summed, dim=1).view(-1, *image.shape[1:]))
    return torch.stack(context), torch.stack(weights)


def test_attention_over_a_map_is_the_slow_loop_over_positions_in_values_and_gradients():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 2, 3, dtype=torch.float64, requires_grad=True)
    layers = [nn.Conv2d(5, outputs, 1, bias=False, dtype=torch.float64) for outputs in (4, 4, 7)]
    matrices = [layer.weight.flatten(1) for layer in layers]
    fast, slow = feature_map_attention(x, *layers), slow_attention(x, *matrices)
    assert fast[0].shape == (2, 7, 2, 3)
    assert fast[1].shape == (2, 6, 6)
    wanted = [x, *(layer.weight for layer in layers)]
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-13)
        slope = torch.randn_like(one)
        gradients = (torch.autograd.grad((out * slope).sum(), wanted[:3], retain_graph=True) for out in (one, other))
        for here, there in zip(*gradients, strict=True):
            torch.testing.assert_close(here, there, rtol=1e-11, atol=1e-12)
    ours, theirs = (torch.autograd.grad(out[0].square().sum(), wanted) for out in (fast, slow))
    torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


def test_annotations_go_back_to_where_they_came_from():
    x = torch.randn(2, 3, 4, 5)
    assert torch.equal(annotations_to_map(image_to_annotations(x), (4, 5)), x)


@pytest.mark.parametrize("shape", [(2, 3), (2, 19, 3)])
def test_annotations_that_make_no_map_are_refused(shape):
    with pytest.raises(ValueError, match="4 · 5, D"):
        annotations_to_map(torch.zeros(shape), (4, 5))


def test_with_gamma_zero_the_layer_is_the_identity_and_only_gamma_gets_a_gradient():
    layer, x = FeatureMapAttention(8), torch.randn(2, 8, 3, 4, requires_grad=True)
    y = layer(x)
    assert torch.equal(y, x)
    slope = torch.randn_like(y)
    (y * slope).sum().backward()
    assert torch.equal(x.grad, slope)
    assert layer.gamma.grad.abs() > 0
    assert [part.out_channels for part in (layer.query, layer.key, layer.value, layer.output)] == [1, 1, 4, 8]
    convolutions = (layer.query, layer.key, layer.value, layer.output)
    assert all(part.parametrizations.weight.original.grad.count_nonzero() == 0 for part in convolutions)


def test_gamma_scales_what_is_added():
    x, o = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5)
    torch.testing.assert_close(gated_residual(x, o, torch.tensor(-0.5)), x - o / 2)
    layer, x = FeatureMapAttention(8, gamma=0.5).eval(), torch.randn(2, 8, 3, 4)
    context, weights = feature_map_attention(x, layer.query, layer.key, layer.value)
    y, same_weights = layer.attended(x)
    torch.testing.assert_close(y, x + 0.5 * layer.output(context))
    assert torch.equal(weights, same_weights)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 12))


def test_what_does_not_fit_together_is_refused():
    x = torch.zeros(2, 3, 4, 5)
    with pytest.raises(ValueError, match="x and attended must have the same shape"):
        gated_residual(x, x[:, :2], torch.tensor(0.0))
    with pytest.raises(ValueError, match="gamma one number"):
        gated_residual(x, x, torch.zeros(3))
    with pytest.raises(ValueError, match="channels must be a multiple of 8, got 12"):
        FeatureMapAttention(12)
    with pytest.raises(ValueError, match="channels must be a multiple of 3, got 8"):
        FeatureMapAttention(8, value_reduction=3)
    with pytest.raises(ValueError, match="height and width must be multiples of 4, got 8 and 30"):
        ImageGenerator(width=30)
    with pytest.raises(ValueError, match="noise must have shape"):
        ImageGenerator()(torch.zeros(2, 16, 8, 2))
    with pytest.raises(ValueError, match="with even H and W"):
        ImageDiscriminator()(torch.zeros(2, 1, 8, 31))
    with pytest.raises(ValueError, match="features must have shape"):
        feature_map_attention(torch.zeros(2, 3, 4), *[nn.Identity()] * 3)


def test_shapes_sizes_and_ranges():
    generator, discriminator = ImageGenerator(), ImageDiscriminator()
    noise = generator.noise(3, 1)
    assert noise.shape == (3, 16, 2, 8)
    images = generator(noise)
    assert images.shape == (3, 1, 8, 32)
    assert 0 < images.min() < images.max() < 1
    assert discriminator(images).shape == (3,)
    assert generator.weights(noise).shape == discriminator.weights(images).shape == (3, 64, 64)
    assert ImageGenerator(attention=False).weights(noise) is None
    assert ImageDiscriminator(attention=False).weights(images) is None
    assert ImageGenerator(height=32)(ImageGenerator(height=32).noise(2)).shape == (2, 1, 32, 32)
    assert sum(p.numel() for p in generator.parameters()) == 20_594
    assert sum(p.numel() for p in discriminator.parameters()) == 102_946


def test_noise_and_samples_come_again_for_the_same_seed():
    model = SAGAN(ImageGenerator(), ImageDiscriminator()).eval()
    assert torch.equal(model.sample(3, 4), model.sample(3, 4))
    assert not torch.equal(model.sample(3, 4), model.sample(3, 5))
    assert torch.equal(model(model.generator.noise(3, 4)), model.sample(3, 4))


def test_gammas_are_told_by_network():
    both = SAGAN(ImageGenerator(gamma=0.25), ImageDiscriminator(attention=False))
    assert both.gammas() == {"generator": 0.25, "discriminator": None}


# ---- what a network can reach


def reached_columns(gradient):
    """The first and the last column of an image or map ``(..., W)`` whose gradient is not zero."""
    columns = gradient.abs().flatten(0, -2).sum(dim=0).nonzero()[:, 0]
    return columns[0].item(), columns[-1].item()


def test_without_attention_the_two_digits_of_an_image_depend_on_different_noise():
    torch.manual_seed(0)
    generator = ImageGenerator(attention=False).eval()
    noise = generator.noise(64).requires_grad_()
    image = generator(noise)
    left, right = (
        torch.autograd.grad(part.sum(), noise, retain_graph=True)[0] for part in (image[..., :8], image[..., 24:])
    )
    assert reached_columns(left) == (0, 3)
    assert reached_columns(right) == (4, 7)


def test_with_attention_a_digit_depends_on_all_noise():
    torch.manual_seed(0)
    generator = ImageGenerator(gamma=0.5).eval()
    noise = generator.noise(64).requires_grad_()
    [gradient] = torch.autograd.grad(generator(noise)[..., :8].sum(), noise)
    assert reached_columns(gradient) == (0, 7)


def test_without_attention_a_local_score_depends_on_fourteen_pixels():
    torch.manual_seed(0)
    discriminator = ImageDiscriminator(attention=False).eval()
    image = torch.rand(8, 1, 32, 64, requires_grad=True)
    score = discriminator.local_scores(image)[:, 8, 16].sum()
    [gradient] = torch.autograd.grad(score, image)
    first, last = reached_columns(gradient)
    assert last - first + 1 == 14
    first, last = reached_columns(gradient.mT)
    assert last - first + 1 == 14


@pytest.mark.parametrize("attention", [False, True])
def test_a_sum_of_local_scores_cannot_judge_whether_two_digits_agree(attention):
    """D(a, b) + D(c, d) = D(a, d) + D(c, b): what it says of one digit does not depend on the other."""
    torch.manual_seed(0)
    discriminator = ImageDiscriminator(attention, gamma=1.0).double().eval()
    images = digit_pairs(20, 1).image.double()
    one, other = images[:10], images[10:]
    swapped = [torch.cat([a[..., :16], b[..., 16:]], dim=-1) for a, b in ((one, other), (other, one))]
    with torch.no_grad():
        apart = discriminator(one) + discriminator(other) - discriminator(swapped[0]) - discriminator(swapped[1])
    assert (apart.abs().max() > 1e-7) if attention else (apart.abs().max() < 1e-12)
