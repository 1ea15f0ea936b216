"""Right answers of lab 13 in other styles than the reference's."""

import math

import torch
import torch.nn.functional as F


def content_weights__loops(key, beta, memory):
    batch, rows, _ = memory.shape
    weights = []
    for b in range(batch):
        scores = []
        for n in range(rows):
            lengths = key[b].norm().clamp_min(1e-15) * memory[b, n].norm().clamp_min(1e-15)
            scores.append(beta[b, 0] * torch.dot(key[b], memory[b, n]) / lengths)
        weights.append(torch.softmax(torch.stack(scores), 0))
    return torch.stack(weights)


def content_weights__torch_cosine(key, beta, memory):
    return F.softmax(beta * F.cosine_similarity(memory, key.unsqueeze(1), dim=2), dim=1)


def content_weights__einsum_and_a_tiny_guard(key, beta, memory):
    lengths = key.norm(dim=1, keepdim=True) * memory.norm(dim=2)
    scores = beta * torch.einsum("bm,bnm->bn", key, memory) / (lengths + 1e-16)
    shares = (scores - scores.amax(1, keepdim=True)).exp()
    return shares / shares.sum(1, keepdim=True)


def content_weights__a_tiny_number_in_both(key, beta, memory):
    cosine = F.cosine_similarity((key + 1e-16).unsqueeze(1), memory + 1e-16, dim=-1)
    return torch.softmax(beta * cosine, -1)


def content_weights__without_dividing_by_zero(key, beta, memory):
    dots = torch.bmm(memory, key.unsqueeze(-1)).squeeze(-1)
    squares = key.square().sum(-1, keepdim=True) * memory.square().sum(-1)
    lengths = torch.where(squares > 0, squares, 1.0).sqrt()
    return (beta * torch.where(squares > 0, dots / lengths, 0.0)).softmax(-1)


def content_weights__added_to_each_length(key, beta, memory):
    rows = memory / (memory.norm(dim=-1, keepdim=True) + 1e-12)
    key = key / (key.norm(dim=-1, keepdim=True) + 1e-12)
    return (beta * (rows @ key[:, :, None])[:, :, 0]).softmax(-1)


def content_weights__added_to_the_product(key, beta, memory):
    lengths = key.norm(dim=-1, keepdim=True) * memory.norm(dim=-1)  # (B, N)
    return (beta * (memory @ key[:, :, None])[:, :, 0] / (lengths + 1e-12)).softmax(-1)


def content_weights__each_length_clamped(key, beta, memory):
    lengths = key.norm(dim=-1, keepdim=True).clamp_min(1e-12) * memory.norm(dim=-1).clamp_min(1e-12)
    return (beta * (memory @ key[:, :, None])[:, :, 0] / lengths).softmax(-1)


def content_weights__the_product_clamped(key, beta, memory):
    lengths = (key.norm(dim=-1, keepdim=True) * memory.norm(dim=-1)).clamp_min(1e-12)
    return (beta * (memory @ key[:, :, None])[:, :, 0] / lengths).softmax(-1)


def interpolate__lerp(content, previous, gate):
    return torch.lerp(previous, content, gate)


def interpolate__loops(content, previous, gate):
    return torch.stack([g * c + (1 - g) * p for c, p, g in zip(content, previous, gate, strict=True)])


def interpolate__step_towards(content, previous, gate):
    return previous + gate.view(-1, 1) * (content - previous)


def shift_weights__loops(weights, shift):
    rows = weights.shape[1]
    columns = []
    for i in range(rows):
        columns.append(sum(shift[:, move + 1] * weights[:, (i - move) % rows] for move in (-1, 0, 1)))
    return torch.stack(columns, 1)


def shift_weights__cat(weights, shift):
    before = torch.cat([weights[:, -1:], weights[:, :-1]], dim=1)
    after = torch.cat([weights[:, 1:], weights[:, :1]], dim=1)
    return torch.einsum("bks,bs->bk", torch.stack([after, weights, before], -1), shift)


def shift_weights__conv1d(weights, shift):
    around = torch.cat([weights[:, -1:], weights, weights[:, :1]], 1)  # (B, N + 2)
    return F.conv1d(around[None], shift.flip(1)[:, None], groups=len(weights))[0]


def shift_weights__index_arithmetic(weights, shift):
    place = torch.arange(weights.shape[1], device=weights.device)
    back, stay, forth = shift[:, 0:1], shift[:, 1:2], shift[:, 2:3]
    rows = len(place)
    return back * weights[:, (place + 1) % rows] + stay * weights + forth * weights[:, (place - 1) % rows]


def shift_weights__matrix(weights, shift):
    eye = torch.eye(weights.shape[1], dtype=weights.dtype, device=weights.device)
    moves = torch.stack([eye.roll(-1, 1), eye, eye.roll(1, 1)])  # (3, N, N)
    return torch.einsum("bj,sji,bs->bi", weights, moves, shift)


def sharpen__softmax_of_logs(weights, gamma):
    return torch.softmax(gamma * weights.clamp_min(torch.finfo(weights.dtype).tiny).log(), -1)


def sharpen__loops(weights, gamma):
    rows = []
    for w, g in zip(weights, gamma[:, 0], strict=True):
        powers = torch.stack([(x / w.max()) ** g for x in w])
        rows.append(powers / powers.sum())
    return torch.stack(rows)


def sharpen__logs_with_a_small_number(weights, gamma):
    logs = gamma * torch.log(weights + 1e-16)
    powers = torch.exp(logs - logs.max(dim=1, keepdim=True).values)
    return F.normalize(powers, p=1, dim=1)


def sharpen__log_of_a_little_more(weights, gamma):
    return torch.softmax(gamma * torch.log(weights + 1e-12), -1)


def erase_and_add__loops(memory, weights, erase, add):
    batch, rows, _ = memory.shape
    return torch.stack(
        [
            torch.stack([memory[b, n] * (1 - weights[b, n] * erase[b]) + weights[b, n] * add[b] for n in range(rows)])
            for b in range(batch)
        ]
    )


def erase_and_add__einsum(memory, weights, erase, add):
    return memory * (1 - torch.einsum("bn,bm->bnm", weights, erase)) + torch.einsum("bn,bm->bnm", weights, add)


def erase_and_add__outer_products(memory, weights, erase, add):
    w = weights.unsqueeze(-1)
    return memory - memory * torch.bmm(w, erase.unsqueeze(1)) + torch.bmm(w, add.unsqueeze(1))


def erase_and_add__own_copy(memory, weights, erase, add):
    new = memory.clone()
    for n in range(memory.shape[1]):
        w = weights[:, n : n + 1]
        new[:, n] = memory[:, n] * (1 - w * erase) + w * add
    return new


def read__loops(memory, weights):
    return torch.stack(
        [sum(w * row for w, row in zip(ws, rows, strict=True)) for ws, rows in zip(weights, memory, strict=True)]
    )


def read__einsum(memory, weights):
    return torch.einsum("bn,bnm->bm", weights, memory)


def read__product_and_sum(memory, weights):
    return (memory * weights.unsqueeze(-1)).sum(dim=1)


def _focus(orders, previous, memory):
    weights = interpolate__lerp(content_weights__torch_cosine(orders.key, orders.beta, memory), previous, orders.gate)
    return sharpen__softmax_of_logs(shift_weights__cat(weights, orders.shift), orders.gamma)


def ntm_step__fields_of_the_orders(x, state, machine):
    h = machine.controller(x, state[1])
    reader = _focus(machine.read_head(h), state[2], state[0])
    writer = _focus(machine.write_head(h), state[3], state[0])
    tape = erase_and_add__outer_products(state[0], writer, *machine.writing(h))
    vector = read__einsum(tape, reader)
    return machine.output(h, vector), (tape, vector, reader, writer)


def ntm_step__guards_that_are_added(x, state, machine):
    def look(orders, previous):
        key, beta, gate, shift, gamma = orders
        mixed = interpolate__lerp(content_weights__added_to_each_length(key, beta, state[0]), previous, gate)
        return sharpen__logs_with_a_small_number(shift_weights__cat(mixed, shift), gamma)

    hidden = machine.controller(x, state[1])
    reader, writer = look(machine.read_head(hidden), state[2]), look(machine.write_head(hidden), state[3])
    tape = erase_and_add__einsum(state[0], writer, *machine.writing(hidden))
    return machine.output(hidden, read__einsum(tape, reader)), (tape, read__einsum(tape, reader), reader, writer)


def ntm_step__both_heads_at_once(x, state, machine):
    """The heads side by side in the batch, (2 · B, …); the state as a list."""
    memory, last, *before = state
    hidden = machine.controller(x, last)
    told = [torch.cat(pair) for pair in zip(machine.read_head(hidden), machine.write_head(hidden), strict=True)]
    key, beta, gate, shift, gamma = told
    w = content_weights__without_dividing_by_zero(key, beta, torch.cat([memory, memory]))
    w = shift_weights__index_arithmetic(interpolate__step_towards(w, torch.cat(before), gate), shift)
    reader, writer = sharpen__logs_with_a_small_number(w, gamma).chunk(2)
    erase, add = machine.writing(hidden)
    memory = erase_and_add__einsum(memory, writer, erase, add)
    last = read__product_and_sum(memory, reader)
    return machine.output(hidden, last), [memory, last, reader, writer]


def ntm_step__loops(x, state, machine):
    rows = [
        ntm_step__fields_of_the_orders(x[b : b + 1], [part[b : b + 1] for part in state], machine)
        for b in range(math.prod(x.shape[:1]))
    ]
    outputs, states = zip(*rows, strict=True)
    return torch.cat(outputs), tuple(torch.cat(parts) for parts in zip(*states, strict=True))
