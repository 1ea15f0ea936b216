"""Answers of lab 16 that came near to passing: slips that no list of mistakes foresees."""

import torch
import torch.nn.functional as F


def square_maps_assumed(x, W_q, W_k, W_v):
    columns = x.flatten(2)
    weights = ((W_q @ columns).mT @ (W_k @ columns)).softmax(-1)
    side = x.shape[-1]
    return (W_v @ columns @ weights.mT).view(len(x), len(W_v), side, -1), weights


def keys_of_the_first_image(x, W_q, W_k, W_v):
    columns = x.flatten(2)
    weights = ((W_q @ columns).mT @ (W_k @ columns[:1])).softmax(-1)
    return (W_v @ columns @ weights.mT).view(len(x), -1, *x.shape[2:]), weights


def gamma_at_most_one(x, attended, gamma):
    return x + gamma.clamp(-1, 1) * attended


def nothing_below_zero_gamma(x, attended, gamma):
    return x + gamma * attended if gamma >= 0 else x - gamma * attended


def length_of_u_used(weight, u):
    matrix = weight.flatten(1)
    v = F.normalize(matrix.detach().T @ u, dim=0)
    new = F.normalize(matrix.detach() @ v, dim=0)
    return weight / (new @ matrix @ v * u.norm()), new


def first_kernel_position_only(weight, u):
    matrix = weight.reshape(*weight.shape[:2], -1)[..., 0]
    v = F.normalize(matrix.detach().T @ u, dim=0)
    new = F.normalize(matrix.detach() @ v, dim=0)
    return weight / (new @ matrix @ v), new


def gradient_in_the_new_u(weight, u):
    matrix = weight.flatten(1)
    v = F.normalize(matrix.detach().T @ u.detach(), dim=0)
    new = F.normalize(matrix @ v, dim=0)
    return weight / (new.detach() @ matrix @ v), new


def cut_off_at_two(real, fake):
    return (1 - real).clamp(0, 2).mean() + (1 + fake).clamp(0, 2).mean(), -fake.mean()


def generator_ignores_high_scores(real, fake):
    return (1 - real).relu().mean() + (1 + fake).relu().mean(), -fake.clamp(max=3).mean()


def classes_of_the_left_side_up_to_its_largest(left, right):
    classes = torch.arange(int(left.max()))
    shares = [(side[:, None] == classes).double().mean(0) for side in (left, right)]
    return (left == right).double().mean().item(), (shares[0] * shares[1]).sum().item()


def unbiased_chance(left, right):
    """Without the pairs themselves."""
    every = (left[:, None] == right).double()
    count = len(left)
    return every.diagonal().mean().item(), ((every.sum() - every.trace()) / max(count * (count - 1), 1)).item()


def patches_of_square_images_only(images, patch):
    count = images.shape[-1] // patch
    grid = images.unflatten(3, (count, patch)).unflatten(2, (-1, patch))[:, :, :count]
    return grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def patches_in_a_winding_order(images, patch):
    """Every other row of patches from right to left."""
    grid = images.unfold(2, patch, patch).unfold(3, patch, patch).clone()  # (B, C, H/P, W/P, P, P)
    grid[:, :, 1::2] = grid[:, :, 1::2].flip(3)
    return grid.flatten(2, 3).transpose(1, 2).flatten(2)


WRONG = {
    "feature_map_attention": [square_maps_assumed, keys_of_the_first_image],
    "gated_residual": [gamma_at_most_one, nothing_below_zero_gamma],
    "spectral_norm_step": [length_of_u_used, first_kernel_position_only, gradient_in_the_new_u],
    "hinge_losses": [cut_off_at_two, generator_ignores_high_scores],
    "agreement_and_chance": [classes_of_the_left_side_up_to_its_largest, unbiased_chance],
    "patches_to_tokens": [patches_of_square_images_only, patches_in_a_winding_order],
}
NAMED = {gradient_in_the_new_u: "σ as a constant, or u not"}
