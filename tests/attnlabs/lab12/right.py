"""Right answers of lab 12 in other styles than the reference's."""

import torch
import torch.nn.functional as F


def online_softmax_sum__mean_and_log(score_blocks, value_blocks):
    """The context of what came so far, and the logarithm of its total, which is what FlashAttention keeps."""
    values_left = iter(value_blocks)
    log = context = None
    for scores in score_blocks:
        here, new_log = scores.softmax(-1).nan_to_num() @ next(values_left), scores.logsumexp(-1, keepdim=True)
        if log is None:
            log, context = new_log, here
        else:
            both = torch.logaddexp(log, new_log)
            context = context * (log - both).exp() + here * (new_log - both).exp()
            log = both
    return context


def window_attention__unfold(query, key, value, radius):
    keys = F.pad(key, (0, 0, radius, radius)).unfold(1, 2 * radius + 1, 1)
    values = F.pad(value, (0, 0, radius, radius)).unfold(1, 2 * radius + 1, 1)
    there = F.pad(torch.ones_like(key[0, :, 0]), (radius, radius)).unfold(0, 2 * radius + 1, 1).bool()
    scores = torch.einsum("btd,btdw->btw", query, keys) * query.shape[-1] ** -0.5
    return torch.einsum("btw,btdw->btd", torch.where(there, scores, -torch.inf).softmax(-1), values)


def segment_memory__no_grad(states, memory, length):
    with torch.no_grad():
        both = torch.cat([states[:, :0] if memory is None else memory, states], dim=1)
        return both[:, max(both.size(1) - length, 0) :].clone()


def relative_scores__paper(query, key, distance, content_bias, distance_bias):
    """The shift of the paper's appendix B: pad by one column, and read the rows anew."""
    (batch, queries, dim), keys = query.shape, key.shape[1]
    far = torch.einsum("bqd,kd->bqk", query + distance_bias, distance.flip(0))
    far = F.pad(far, (1, 0)).reshape(batch, keys + 1, queries)[:, 1:].reshape(batch, queries, keys)
    scores = (torch.einsum("bqd,bkd->bqk", query + content_bias, key) + far) / dim**0.5
    open_keys = torch.ones(queries, keys, device=query.device).tril(keys - queries).bool()
    return scores.masked_fill(~open_keys, float("-inf"))


def knn_probabilities__cdist(query, keys, next_tokens, k, temperature, vocabulary):
    nearest, which = torch.topk(-(torch.cdist(query, keys) ** 2), k)
    weights = torch.softmax(nearest / temperature, dim=1)
    return torch.einsum("bk,bkv->bv", weights, F.one_hot(next_tokens[which], vocabulary).to(weights.dtype))


def mix_probabilities__difference(model, memory, weight):
    return model + weight * (memory - model)
