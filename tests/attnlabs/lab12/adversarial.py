"""Answers that came near to passing: slips that no list of mistakes foresees."""

import torch
import torch.nn.functional as F


def maximum_of_the_first_block(score_blocks, value_blocks):
    largest, total, summed = None, 0.0, 0.0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        largest = scores.amax(dim=-1, keepdim=True) if largest is None else largest
        parts = (scores - largest).exp()
        total, summed = total + parts.sum(dim=-1, keepdim=True), summed + parts @ values
    return summed / total


def copies_in_a_list(score_blocks, value_blocks):
    return torch.cat([s.clone() for s in score_blocks], -1).softmax(-1) @ torch.cat(
        [v.clone() for v in value_blocks], 1
    )


def copies_for_a_second_pass(score_blocks, value_blocks):
    copies = [scores * 1 for scores in score_blocks]
    largest, total, summed = torch.cat([s.amax(-1, keepdim=True) for s in copies], -1).amax(-1, keepdim=True), 0.0, 0.0
    for scores, values in zip(copies, value_blocks, strict=True):
        parts = (scores - largest).exp()
        total, summed = total + parts.sum(-1, keepdim=True), summed + parts @ values
    return summed / total


def maximum_of_finite_scores_and_0(score_blocks, value_blocks):
    largest, total, summed = -float("inf"), 0.0, 0.0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        higher = scores.masked_fill(scores.isinf(), 0.0).amax(dim=-1, keepdim=True).clamp(min=largest)
        shrink, parts = (largest - higher).exp(), (scores - higher).exp()
        total, summed = total * shrink + parts.sum(-1, keepdim=True), summed * shrink + parts @ values
        largest = higher
    return summed / total


def in_place(score_blocks, value_blocks):
    largest, total, summed = -float("inf"), 0.0, 0.0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        higher = scores.amax(dim=-1, keepdim=True).clamp(min=largest)
        scores -= higher  # the block belongs to the caller
        shrink, parts = (largest - higher).exp(), scores.exp()
        total, summed = total * shrink + parts.sum(-1, keepdim=True), summed * shrink + parts @ values
        largest = higher
    return summed / total


def window_from_zero(query, key, value, radius):
    rows = []
    for i in range(query.shape[1]):
        near = slice(i - radius, i + radius + 1)  # a negative start counts from the end
        scores = torch.einsum("bd,bkd->bk", query[:, i], key[:, near]) / query.shape[2] ** 0.5
        rows.append(torch.einsum("bk,bkd->bd", scores.softmax(-1), value[:, near]))
    return torch.stack(rows, dim=1)


def every_key_in_a_loop(query, key, value, radius):
    at = torch.arange(query.shape[1], device=query.device)
    rows = [
        F.scaled_dot_product_attention(query[:, i : i + 1], key, value, attn_mask=((at - i).abs() <= radius)[None])
        for i in range(query.shape[1])
    ]
    return torch.cat(rows, dim=1)


def half_of_each(states, memory, length):
    if memory is None:
        return states[:, max(states.shape[1] - length, 0) :].detach()
    return torch.cat([memory[:, -(length // 2) :], states[:, -(length - length // 2) :]], dim=1).detach()


def cut_from_its_own_graph(states, memory, length):
    known = states.detach_() if memory is None else torch.cat([memory.detach_(), states.detach_()], dim=1)
    return known[:, max(known.shape[1] - length, 0) :]


def oldest_overwritten(states, memory, length):
    if memory is None or length < states.shape[1] + memory.shape[1]:
        known = states if memory is None else torch.cat([memory, states], dim=1)
        return known[:, max(known.shape[1] - length, 0) :].detach()
    kept = torch.cat([memory, states], dim=1).detach()
    memory.zero_()  # it belongs to the caller
    return kept


def absolute_distance(query, key, distance, content_bias, distance_bias):
    keys, queries = key.shape[1], query.shape[1]
    back = (torch.arange(queries)[:, None] + keys - queries - torch.arange(keys)).abs()
    far = ((query + distance_bias)[:, :, None] * distance[back]).sum(-1)
    return ((query + content_bias) @ key.mT + far) / query.shape[-1] ** 0.5


def closer_than_the_kth(query, keys, next_tokens, k, temperature, vocabulary):
    distances = torch.cdist(query, keys).square()
    limit = distances.kthvalue(k, dim=-1, keepdim=True).values
    weights = (-distances / temperature).masked_fill(distances >= limit, -1e30).softmax(-1)
    return torch.zeros(len(query), vocabulary).to(weights).scatter_add(1, next_tokens.expand(len(query), -1), weights)


def memory_where_it_has_votes(model, memory, weight):
    return torch.where(memory > 0, weight * memory + (1 - weight) * model, model)


WRONG = {
    "online_softmax_sum": [
        maximum_of_the_first_block,
        in_place,
        copies_in_a_list,
        copies_for_a_second_pass,
        maximum_of_finite_scores_and_0,
    ],
    "window_attention": [window_from_zero, every_key_in_a_loop],
    "segment_memory": [half_of_each, cut_from_its_own_graph, oldest_overwritten],
    "relative_scores": [absolute_distance],
    "knn_probabilities": [closer_than_the_kth],
    "mix_probabilities": [memory_where_it_has_votes],
}

NAMED = {
    in_place: "writes into the blocks",
    copies_in_a_list: "all blocks joined",
    copies_for_a_second_pass: "all blocks joined",
    oldest_overwritten: "changes its input",
    every_key_in_a_loop: "all keys, query by query",
}
