"""Right answers of lab 13 in other styles than the reference's."""

import torch
import torch.nn.functional as F


def content_weights__without_dividing_by_zero(key, beta, memory):
    dots = torch.bmm(memory, key.unsqueeze(-1)).squeeze(-1)
    squares = key.square().sum(-1, keepdim=True) * memory.square().sum(-1)
    lengths = torch.where(squares > 0, squares, 1.0).sqrt()
    return (beta * torch.where(squares > 0, dots / lengths, 0.0)).softmax(-1)


def content_weights__added_to_each_length(key, beta, memory):
    rows = memory / (memory.norm(dim=-1, keepdim=True) + 1e-12)
    key = key / (key.norm(dim=-1, keepdim=True) + 1e-12)
    return (beta * (rows @ key[:, :, None])[:, :, 0]).softmax(-1)


def interpolate__lerp(content, previous, gate):
    return torch.lerp(previous, content, gate)


def interpolate__divided_by_its_sum(content, previous, gate):
    mixed = gate * content + (1 - gate) * previous
    return mixed / mixed.sum(-1, keepdim=True)


def circular_shift__divided_by_its_sum(weights, shift):
    moved = circular_shift__cat(weights, shift)
    return moved / moved.sum(-1, keepdim=True)


def circular_shift__cat(weights, shift):
    before = torch.cat([weights[:, -1:], weights[:, :-1]], dim=1)
    after = torch.cat([weights[:, 1:], weights[:, :1]], dim=1)
    return torch.einsum("bks,bs->bk", torch.stack([after, weights, before], -1), shift)


def sharpen__softmax_of_logs(weights, gamma):
    return torch.softmax(gamma * weights.clamp_min(torch.finfo(weights.dtype).tiny).log(), -1)


def sharpen__logs_with_a_small_number(weights, gamma):
    logs = gamma * torch.log(weights + 1e-12)
    powers = torch.exp(logs - logs.max(dim=1, keepdim=True).values)
    return F.normalize(powers, p=1, dim=1)


def erase_and_add__einsum(memory, weights, erase, add):
    return memory * (1 - torch.einsum("bn,bm->bnm", weights, erase)) + torch.einsum("bn,bm->bnm", weights, add)


def erase_and_add__own_copy(memory, weights, erase, add):
    new = memory.clone()
    for n in range(memory.shape[1]):
        w = weights[:, n : n + 1]
        new[:, n] = memory[:, n] * (1 - w * erase) + w * add
    return new


def read__divided_by_the_sum(memory, weights):
    return (weights[:, :, None] * memory).sum(1) / weights.sum(1, keepdim=True)


def read__einsum(memory, weights):
    return torch.einsum("bn,bnm->bm", weights, memory)


def ntm_step__fields_and_guards_that_are_added(x, state, machine):
    def address(orders, previous):
        content = content_weights__added_to_each_length(orders.key, orders.beta, state[0])
        shifted = circular_shift__cat(interpolate__lerp(content, previous, orders.gate), orders.shift)
        return sharpen__logs_with_a_small_number(shifted, orders.gamma)

    hidden = machine.controller(x, state[1])
    reader, writer = address(machine.read_head(hidden), state[2]), address(machine.write_head(hidden), state[3])
    tape = erase_and_add__einsum(state[0], writer, *machine.writing(hidden))
    return machine.output(hidden, read__einsum(tape, reader)), (tape, read__einsum(tape, reader), reader, writer)


def ntm_step__both_heads_at_once(x, state, machine):
    """The heads side by side in the batch, (2 · B, …); the state as a list."""
    memory, last, *before = state
    hidden = machine.controller(x, last)
    told = [torch.cat(pair) for pair in zip(machine.read_head(hidden), machine.write_head(hidden), strict=True)]
    key, beta, gate, shift, gamma = told
    w = content_weights__without_dividing_by_zero(key, beta, torch.cat([memory, memory]))
    w = circular_shift__cat(interpolate__lerp(w, torch.cat(before), gate), shift)
    reader, writer = sharpen__softmax_of_logs(w, gamma).chunk(2)
    erase, add = machine.writing(hidden)
    memory = erase_and_add__einsum(memory, writer, erase, add)
    last = read__einsum(memory, reader)
    return machine.output(hidden, last), [memory, last, reader, writer]
