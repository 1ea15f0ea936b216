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


def divided_by_the_last_size_of_the_queries(x, W_q, W_k, W_v):
    """With queries (B, A, N) this is the root of N."""
    columns = x.flatten(2)
    query = W_q @ columns
    weights = (query.mT @ (W_k @ columns) / query.shape[-1] ** 0.5).softmax(-1)
    return (W_v @ columns @ weights.mT).unflatten(2, x.shape[2:]), weights


def one_list_of_positions(x, W_q, W_k, W_v):
    batch, channels, height, width = x.shape
    positions = x.permute(0, 2, 3, 1).reshape(-1, channels)
    weights = (positions @ W_q.T @ (positions @ W_k.T).T).softmax(-1)
    return (weights @ (positions @ W_v.T)).reshape(batch, height, width, -1).permute(0, 3, 1, 2), weights


def gamma_as_a_new_parameter(x, attended, gamma):
    return x + torch.nn.Parameter(gamma) * attended


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


def _step(matrix, u):
    with torch.no_grad():
        v = F.normalize(matrix.T @ u, dim=0)
        return F.normalize(matrix @ v, dim=0), v


def three_steps(weight, u):
    matrix = weight.flatten(1)
    for _ in range(3):
        u, v = _step(matrix, u)
    return weight / (u @ matrix @ v), u


def weight_detached(weight, u):
    matrix = weight.flatten(1)
    u, v = _step(matrix, u)
    return weight.detach() / (u @ matrix @ v), u


def sigma_with_u_before_its_division(weight, u):
    matrix = weight.flatten(1)
    new, v = _step(matrix, u)
    return weight / (matrix @ v @ matrix @ v), new


def length_of_the_new_v(weight, u):
    matrix = weight.flatten(1)
    new, _ = _step(matrix, u)
    return weight / (matrix.T @ new).norm(), new


def cut_off_at_two(real, fake):
    return (1 - real).clamp(0, 2).mean() + (1 + fake).clamp(0, 2).mean(), -fake.mean()


def generator_ignores_high_scores(real, fake):
    return (1 - real).relu().mean() + (1 + fake).relu().mean(), -fake.clamp(max=3).mean()


def minimax(real, fake):
    return (1 - real).relu().mean() + (1 + fake).relu().mean(), -F.relu(fake + 1).mean()


def probabilities(real, fake):
    real, fake = torch.sigmoid(real), torch.sigmoid(fake)
    return (1 - real).clamp(min=0).mean() + (1 + fake).clamp(min=0).mean(), -fake.mean()


def chance_rounded(left, right):
    return _shares(left, right)[0].item(), round(_shares(left, right)[1].item(), 2)


def both_rounded(left, right):
    return tuple(round(share.item(), 2) for share in _shares(left, right))


def every_pair_of_digits(left, right):
    p_left, p_right = (torch.bincount(side, minlength=10).double() / len(side) for side in (left, right))
    return (left == right).double().mean(), torch.outer(p_left, p_right).sum()


def _shares(left, right):
    return (left == right).double().mean(), (left[:, None] == right).double().mean()


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


def range_that_ends_a_patch_early(images, patch):
    height, width = images.shape[2:]
    tokens = []
    for row in range(height // patch - 1):
        for column in range(width // patch - 1):
            top, left = row * patch, column * patch
            tokens.append(images[:, :, top : top + patch, left : left + patch].flatten(1))
    return torch.stack(tokens, dim=1)


def size_of_a_token_without_channels(images, patch):
    tiles = images.unfold(2, patch, patch).unfold(3, patch, patch).permute(0, 2, 3, 1, 4, 5)
    return tiles.reshape(len(images), -1, patch * patch)


def patches_in_a_winding_order(images, patch):
    """Every other row of patches from right to left."""
    grid = images.unfold(2, patch, patch).unfold(3, patch, patch).clone()  # (B, C, H/P, W/P, P, P)
    grid[:, :, 1::2] = grid[:, :, 1::2].flip(3)
    return grid.flatten(2, 3).transpose(1, 2).flatten(2)


WRONG = {
    "feature_map_attention": [
        square_maps_assumed,
        keys_of_the_first_image,
        divided_by_the_last_size_of_the_queries,
        one_list_of_positions,
    ],
    "gated_residual": [gamma_at_most_one, nothing_below_zero_gamma, gamma_as_a_new_parameter],
    "spectral_norm_step": [
        length_of_u_used,
        first_kernel_position_only,
        gradient_in_the_new_u,
        three_steps,
        weight_detached,
        sigma_with_u_before_its_division,
        length_of_the_new_v,
    ],
    "hinge_losses": [cut_off_at_two, generator_ignores_high_scores, minimax, probabilities],
    "agreement_and_chance": [
        classes_of_the_left_side_up_to_its_largest,
        unbiased_chance,
        chance_rounded,
        both_rounded,
        every_pair_of_digits,
    ],
    "patches_to_tokens": [
        patches_of_square_images_only,
        patches_in_a_winding_order,
        range_that_ends_a_patch_early,
        size_of_a_token_without_channels,
    ],
}
NAMED = {
    divided_by_the_last_size_of_the_queries: "scaled by the positions",
    one_list_of_positions: "all images in one list",
    gamma_as_a_new_parameter: "no gradient at γ",
    gradient_in_the_new_u: "σ as a constant, or u not",
    weight_detached: "σ as a constant, or u not",
    sigma_with_u_before_its_division: "divided by σ²",
    length_of_the_new_v: "v once more from the new u",
    minimax: "minus the discriminator's hinge for the generator",
    probabilities: "probabilities instead of scores",
    both_rounded: "rounded to two digits",
    every_pair_of_digits: "all pairs of digits",
    range_that_ends_a_patch_early: "the last row and column of patches left out",
    size_of_a_token_without_channels: "the channels left out of a token's size",
}
