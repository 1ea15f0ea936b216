"""Right answers of lab 3 in other styles than the reference's."""

import torch
from torch.nn import functional as F


def dot_score__einsum(query, key):
    return torch.einsum("bqd,bkd->bqk", query, key)


def general_score__einsum(query, key, W):
    return torch.einsum("bqd,de,bke->bqk", query, W, key)


def cosine_score__lengths(query, key, eps=1e-8):
    query_length, key_length = (x.pow(2).sum(-1).clamp(min=eps**2).sqrt() for x in (query, key))
    return torch.bmm(query, key.transpose(1, 2)) / query_length.unsqueeze(2) / key_length.unsqueeze(1)


def cosine_score__similarity(query, key, eps=1e-8):
    return F.cosine_similarity(query.unsqueeze(2), key.unsqueeze(1), dim=-1, eps=eps)


def cosine_score__where(query, key, eps=1e-8):
    query_length, key_length = (torch.linalg.vector_norm(x, dim=-1, keepdim=True) for x in (query, key))
    query_length, key_length = (torch.where(x < eps, eps, x) for x in (query_length, key_length))
    return query @ key.mT / (query_length @ key_length.mT)


def concat_score__split(query, key, W, v):
    dim = query.shape[-1]
    return torch.tanh((query @ W[:, :dim].T).unsqueeze(2) + (key @ W[:, dim:].T).unsqueeze(1)) @ v


def scaled_dot_attention__exp(query, key, value, mask=None):
    scores = torch.einsum("bqd,bkd->bqk", query, key) / query.size(-1) ** 0.5
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    least = torch.finfo(scores.dtype).min
    largest = scores.masked_fill(~mask, least).amax(-1, keepdim=True).detach()  # of the open places
    e = (scores - largest).masked_fill(~mask, -torch.inf).exp()
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.bmm(weights, value), weights


def scaled_dot_attention__root_of_a_tensor(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(1, 2)) / torch.sqrt(torch.tensor(query.shape[2]))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=2)
    weights = weights if mask is None else weights * mask
    return torch.matmul(weights, value), weights


def scaled_dot_attention__by_torch(query, key, value, mask=None):
    identity = torch.eye(key.shape[1], dtype=key.dtype, device=key.device).expand(len(key), -1, -1)
    weights = F.scaled_dot_product_attention(query, key, identity, attn_mask=mask)
    return weights @ value, weights


def scaled_dot_attention__infinity_hidden(query, key, value, mask=None):
    scores = (query / query.shape[-1] ** 0.5) @ key.mT
    weights = (scores if mask is None else torch.where(mask, scores, -torch.inf)).softmax(-1).nan_to_num(0.0)
    return weights @ value, weights


def padding_mask__table_of_rows(lengths, max_length):
    return torch.ones(max_length + 1, max_length, dtype=torch.bool, device=lengths.device).tril(-1)[lengths]


def padding_mask__cumsum(lengths, max_length):
    ones = torch.ones(len(lengths), max_length, dtype=torch.long, device=lengths.device)
    return ones.cumsum(1) <= lengths.unsqueeze(1)


def attention_entropy__logarithm_held(weights):
    return -(weights * weights.clamp_min(1e-20).detach().log()).sum(-1)  # the same through a softmax


def attention_entropy__only_the_positive(weights):
    found, positive = torch.zeros_like(weights), weights > 0
    found[positive] = weights[positive] * weights[positive].log()
    return -found.sum(-1)


def attention_entropy__small_number(weights):
    return -(weights * (weights + 1e-12).log()).sum(-1)
