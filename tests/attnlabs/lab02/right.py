"""Right answers of lab 2 in other styles than the reference's."""

from fractions import Fraction

import torch


def masked_softmax__loops(scores, mask):
    mask = mask.expand(scores.shape)
    flat, open_places = scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, scores.shape[-1])
    rows = []
    for row, open_row in zip(flat, open_places, strict=True):
        if not open_row.any():
            rows.append(torch.zeros_like(row))
            continue
        e = torch.where(open_row, (row - row[open_row].max()).clamp(max=0).exp(), torch.zeros_like(row))
        rows.append(e / e.sum())
    return torch.stack(rows).reshape(scores.shape)


def masked_softmax__largest_subtracted(scores, mask):
    open_scores = scores.masked_fill(~mask, -1e30)
    e = (open_scores - open_scores.max(-1, keepdim=True).values.detach()).exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-12)


def masked_softmax__log_sum_exp(scores, mask):
    open_scores = scores.masked_fill(~mask, -torch.inf)
    return (open_scores - open_scores.logsumexp(-1, keepdim=True)).exp().masked_fill(~mask, 0)


def masked_softmax__quotient(scores, mask):
    open_scores = torch.where(mask, scores, -torch.inf)
    e = (open_scores - open_scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)).exp()
    total = e.sum(-1, keepdim=True)
    return torch.where(total > 0, e / total, 0.0)


def additive_score__loops(query, key, W_q, W_k, v):
    rows = [
        [[v @ torch.tanh(W_q @ q + W_k @ k) for k in keys] for q in queries]
        for queries, keys in zip(query, key, strict=True)
    ]
    return torch.stack([torch.stack([torch.stack(row) for row in sentence]) for sentence in rows])


def additive_score__einsum(query, key, W_q, W_k, v):
    q = torch.einsum("bqd,ad->bqa", query, W_q)
    k = torch.einsum("bkd,ad->bka", key, W_k)
    return torch.einsum("bqka,a->bqk", torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)), v)


def weight_sum__loops(weights, value):
    return torch.stack(
        [
            torch.stack([sum(w * v for w, v in zip(row, values, strict=True)) for row in rows])
            for rows, values in zip(weights, value, strict=True)
        ]
    )


def weight_sum__einsum(weights, value):
    return torch.einsum("bqk,bkd->bqd", weights, value)


def weight_sum__normalised_again(weights, value):
    """The weights sum to 1 or are all 0, so this changes nothing: nor does it along any way back that they allow."""
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9) @ value


def attention_backward__jacobian(weights, value, grad_context):
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    grad_weights = torch.bmm(grad_context, value.transpose(1, 2))
    return torch.einsum("bqij,bqj->bqi", jacobian, grad_weights), torch.bmm(weights.transpose(1, 2), grad_context)


def attention_backward__loops(weights, value, grad_context):
    grad_scores, grad_value = torch.zeros_like(weights), torch.zeros_like(value)
    for b in range(len(weights)):
        for i in range(weights.shape[1]):
            slope = value[b] @ grad_context[b, i]
            for j in range(weights.shape[2]):
                grad_value[b, j] += weights[b, i, j] * grad_context[b, i]
                grad_scores[b, i, j] = weights[b, i, j] * (slope[j] - weights[b, i] @ slope)
    return grad_scores, grad_value


def decoder_step__loops(embedded, state, annotations, mask, score, cell):
    contexts, rows = [], []
    for b in range(len(state)):
        scores = score(state[b][None, None], annotations[b][None])[0, 0]
        weights = torch.zeros_like(scores)
        weights[mask[b]] = scores[mask[b]].softmax(0)
        contexts.append(weights @ annotations[b])
        rows.append(weights)
    context = torch.stack(contexts)
    return cell(torch.cat((embedded, context), 1), state), context, torch.stack(rows)


def decoder_step__einsum(embedded, state, annotations, mask, score, cell):
    scores = score(state.unsqueeze(1), annotations).squeeze(1).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(1).masked_fill(~mask, 0)
    context = torch.einsum("bk,bkd->bd", weights, annotations)
    return cell(torch.hstack([embedded, context]), state), context, weights


def alignment_error_rate__fraction(sure, possible, predicted):
    links = len(predicted) + len(sure)
    return Fraction(len(predicted - possible) + len(sure - predicted), links) if links else Fraction(0)


def alignment_error_rate__counted(sure, possible, predicted):
    found = sum(link in sure for link in predicted) + sum(link in possible for link in predicted)
    return 1.0 - found / (len(sure) + len(predicted)) if sure or predicted else 0.0


def alignment_error_rate__lists(sure, possible, predicted):
    a, s, p = list(predicted), list(sure), list(possible)
    hits = len([x for x in a if x in s]) + len([x for x in a if x in p])
    return (len(a) + len(s) - hits) / (len(a) + len(s) or 1)
