"""Right answers of lab 16 in other styles than the reference's."""

import itertools

import torch
import torch.nn.functional as F


def feature_map_attention__convolutions(x, W_q, W_k, W_v):
    """As SAGAN's authors write it: 1×1 convolutions, and a softmax over the keys."""
    B, _, height, width = x.shape
    query, key, value = (F.conv2d(x, W[:, :, None, None]).view(B, len(W), -1) for W in (W_q, W_k, W_v))
    weights = torch.bmm(query.transpose(1, 2), key).softmax(2)
    return torch.bmm(value, weights.transpose(1, 2)).view(B, len(W_v), height, width), weights


def feature_map_attention__values_last(x, W_q, W_k, W_v):
    """The mean of the positions first, and W_v afterwards: the same, because both are linear."""
    columns = x.flatten(2)
    weights = ((W_q @ columns).mT @ (W_k @ columns)).softmax(-1)
    return (W_v @ (columns @ weights.mT)).view(len(x), -1, *x.shape[2:]), weights


def gated_residual__addcmul(x, attended, gamma):
    return torch.addcmul(x, attended, gamma)


def spectral_norm_step__outer(weight, u):
    """σ as the sum over all entries of W times u vᵀ, Miyato's gradient."""
    kernel = weight.detach().view(len(weight), -1)
    v = torch.einsum("om,o->m", kernel, u.detach())
    v = v.div(v.square().sum().sqrt())
    new = F.normalize(kernel @ v, dim=-1)
    sigma = (torch.outer(new, v).view_as(weight) * weight).sum()
    return weight / sigma, new


def spectral_norm_step__length(weight, u):
    """σ as the length of W v, whose gradient is the same while v is a constant."""
    matrix = weight.flatten(1)
    with torch.no_grad():
        v = F.normalize(matrix.T @ u, dim=0)
    sigma = (matrix @ v).norm()
    return weight / sigma, (matrix @ v / sigma).detach()


def hinge_losses__minimum(real, fake):
    """As SAGAN's equation 4."""
    zero = real.new_zeros(())
    return -torch.minimum(zero, real - 1).mean() - torch.minimum(zero, -1 - fake).mean(), -fake.mean()


def agreement_and_chance__counter(left, right):
    left, right = left.tolist(), right.tolist()
    chance = sum(left.count(digit) * right.count(digit) for digit in set(left)) / len(left) ** 2
    return sum(a == b for a, b in zip(left, right, strict=True)) / len(left), chance


def agreement_and_chance__bincount(left, right):
    most = int(max(left.max(), right.max())) + 1
    shares = [torch.bincount(side, minlength=most) / len(side) for side in (left, right)]
    return (left == right).float().mean(), shares[0] @ shares[1]


def patches_to_tokens__loops(images, patch):
    rows, columns = (range(0, side, patch) for side in images.shape[2:])
    tiles = [images[:, :, r : r + patch, c : c + patch].flatten(1) for r in rows for c in columns]
    return torch.stack(tiles, dim=1)


def patches_to_tokens__unfold(images, patch):
    return F.unfold(images, patch, stride=patch).mT


def patches_to_tokens__pixel_by_pixel(images, patch):
    """Six loops, each number written by itself: slow, also on the way back."""
    batch, channels, height, width = images.shape
    columns = width // patch
    tokens = images.new_zeros(batch, height // patch * columns, channels * patch**2)
    for n, token in itertools.product(range(batch), range(tokens.shape[1])):
        top, left = token // columns * patch, token % columns * patch
        for number, (c, i, j) in enumerate(itertools.product(range(channels), range(patch), range(patch))):
            tokens[n, token, number] = images[n, c, top + i, left + j]
    return tokens
