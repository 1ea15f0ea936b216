"""Answers of lab 13 that are right on the small and tame, and wrong on what else may come."""

import torch
from torch.nn import functional as F


def content(key, beta, memory, limit=None, guard=None):
    cosine = (F.normalize(memory, dim=-1) @ F.normalize(key, dim=-1)[:, :, None])[:, :, 0]
    return ((beta if limit is None else beta.clamp(max=limit)) * cosine).softmax(-1)


def bounded_beta(key, beta, memory):
    return content(key, beta, memory, limit=50.0)


def exp_with_bounds(key, beta, memory):
    cosine = (F.normalize(memory, dim=-1) @ F.normalize(key, dim=-1)[:, :, None])[:, :, 0]
    shares = (beta * cosine).clamp(max=80).exp()
    return shares / shares.sum(-1, keepdim=True)


def zero_rows_get_nothing(key, beta, memory):
    closed = (memory == 0).all(-1) & (memory != 0).any(-1).any(-1, keepdim=True)
    scores = beta * F.cosine_similarity(memory, key[:, None], dim=-1)
    return scores.masked_fill(closed, -torch.inf).softmax(-1)


def single_precision(key, beta, memory):
    return content(key.float(), beta.float(), memory.float()).to(memory.dtype)


def squeezes(key, beta, memory):
    return (beta * (F.normalize(memory, dim=-1) @ F.normalize(key, dim=-1)[..., None]).squeeze()).softmax(-1)


def zeros_told_by_their_sum(key, beta, memory):
    cosine = F.cosine_similarity(key[:, None], memory, dim=-1, eps=1e-12)
    return (beta * torch.where(memory.sum(-1) == 0, 0.0, cosine)).softmax(-1)


def lengths_told_by_their_sum(key, beta, memory):
    lengths = torch.where(memory.sum(-1) == 0, 1.0, memory.norm(dim=-1))
    return (beta * (memory @ F.normalize(key, dim=-1)[:, :, None])[:, :, 0] / lengths).softmax(-1)


def zeros_told_by_any_feature(key, beta, memory):
    cosine = F.cosine_similarity(key[:, None], memory, dim=-1, eps=1e-12)
    return (beta * memory.ne(0).all(-1) * cosine).softmax(-1)


def zeros_told_by_the_first_feature(key, beta, memory):
    lengths = torch.where(memory[..., 0] == 0, 1.0, memory.norm(dim=-1))
    return (beta * (memory @ F.normalize(key, dim=-1)[:, :, None])[:, :, 0] / lengths).softmax(-1)


def eps_of_the_dtype_added(key, beta, memory):
    eps = torch.finfo(memory.dtype).eps
    rows, key = (part / (part.norm(dim=-1, keepdim=True) + eps) for part in (memory, key))
    return (beta * (rows @ key[:, :, None])[:, :, 0]).softmax(-1)


def moved(weights, shift):
    return shift[:, :1] * weights.roll(-1, 1) + shift[:, 1:2] * weights + shift[:, 2:] * weights.roll(1, 1)


def circle_for_small_memories_only(weights, shift):
    if weights.shape[1] < 12:
        return moved(weights, shift)
    after, before = F.pad(weights[:, 1:], (0, 1)), F.pad(weights[:, :-1], (1, 0))
    return shift[:, :1] * after + shift[:, 1:2] * weights + shift[:, 2:] * before


def two_rows_stay(weights, shift):
    return weights if weights.shape[1] == 2 else moved(weights, shift)


def hard_when_sharp(weights, shift):
    hard = F.one_hot(shift.argmax(-1), 3).to(shift.dtype)
    return moved(weights, torch.where(shift.amax(-1, keepdim=True) > 0.95, hard, shift))


def by_fourier(weights, shift):
    kernel = torch.zeros_like(weights)
    for place, part in ((-1, 0), (0, 1), (1, 2)):
        kernel[:, place % kernel.shape[1]] = kernel[:, place % kernel.shape[1]] + shift[:, part]
    return torch.fft.irfft(torch.fft.rfft(weights) * torch.fft.rfft(kernel), n=weights.shape[1])


def table_of_128_rows(weights, shift):
    rows = weights.shape[1]
    table = F.pad(weights, (0, 128))[:, :128]
    place = torch.arange(rows)
    before, after = table[:, ((place - 1) % rows) % 128], table[:, ((place + 1) % rows) % 128]
    return shift[:, :1] * after + shift[:, 1:2] * weights + shift[:, 2:] * before


def powers(weights, gamma, limit=None):
    gamma = gamma if limit is None else gamma.clamp(max=limit)
    raised = (weights / weights.amax(-1, keepdim=True)) ** gamma
    return raised / raised.sum(-1, keepdim=True)


def bounded_gamma(weights, gamma):
    return powers(weights, gamma, limit=100.0)


def loosely_bounded_gamma(weights, gamma):
    return powers(weights, gamma, limit=1000.0)


def bounded_in_log_space(weights, gamma):
    return (gamma.clamp(max=500) * weights.clamp_min(torch.finfo(weights.dtype).tiny).log()).softmax(-1)


def small_weights_dropped(weights, gamma):
    return powers(torch.where(weights < 1e-4, 0.0, weights), gamma)


def logs_from_a_floor(weights, gamma):
    return (gamma * weights.clamp_min(1e-7).log()).softmax(-1)


def a_little_added(weights, gamma):
    return powers(weights + 1e-8, gamma)


def log_of_a_little_more(weights, gamma):
    return (gamma * (weights + 1e-8).log()).softmax(-1)


def tiny_for_double_only(weights, gamma):
    return (gamma * weights.clamp_min(1e-300).log()).softmax(-1)


def guard_of_a_thousandth(weights, gamma):
    return (gamma * (weights + 1e-3).log()).softmax(-1)


def largest_of_the_batch(weights, gamma):
    raised = (weights / weights.amax()) ** gamma
    return raised / raised.sum(-1, keepdim=True).clamp_min(1e-30)


def look(orders, previous, memory, sharpened=powers, shifted=moved):
    key, beta, gate, shift, gamma = orders
    return sharpened(shifted(torch.lerp(previous, content(key, beta, memory), gate), shift), gamma)


def written(memory, weights, erase, add):
    return memory * (1 - weights[:, :, None] * erase[:, None]) + weights[:, :, None] * add[:, None]


def seen(memory, weights):
    return (weights[:, :, None] * memory).sum(1)


def step_with(looking=look, writing=written, reading=seen, first=lambda state: state):
    def ntm_step(x, state, machine):
        memory, last, reader, writer = first(state)
        hidden = machine.controller(x, last)
        reader = looking(machine.read_head(hidden), reader, memory)
        writer = looking(machine.write_head(hidden), writer, memory)
        memory = writing(memory, writer, *machine.writing(hidden))
        last = reading(memory, reader)
        return machine.output(hidden, last), (memory, last, reader, writer)

    return ntm_step


def look_without_moves(orders, previous, memory):
    return look(orders, previous, memory, shifted=lambda w, s: w if len(w) == 1 else moved(w, s))


def look_on_a_line(orders, previous, memory):
    return look(orders, previous, memory, shifted=circle_for_small_memories_only)


def look_normalised_over_all(orders, previous, memory):
    def sharpened(weights, gamma):
        raised = weights**gamma
        return raised / (raised.sum(-1, keepdim=True) + 1e-4)

    return look(orders, previous, memory, sharpened=sharpened)


def look_without_a_guard(orders, previous, memory):
    key, beta, gate, shift, gamma = orders
    lengths = key.norm(dim=-1, keepdim=True) * memory.norm(dim=-1)
    weights = (beta * (memory @ key[:, :, None])[:, :, 0] / lengths).softmax(-1)
    return powers(moved(torch.lerp(previous, weights, gate), shift), gamma)


def look_with_plain_powers(orders, previous, memory):
    return look(orders, previous, memory, sharpened=lambda w, g: w**g / (w**g).sum(-1, keepdim=True))


def look_with_plain_exp(orders, previous, memory):
    key, beta, gate, shift, gamma = orders
    shares = (beta * F.cosine_similarity(key[:, None], memory, dim=-1, eps=1e-12)).exp()
    weights = shares / shares.sum(-1, keepdim=True)
    return powers(moved(torch.lerp(previous, weights, gate), shift), gamma)


def bounded_memory(memory, weights, erase, add):
    return written(memory, weights, erase, add).clamp(-10, 10)


def reads_the_strongest_when_sharp(memory, weights):
    sharp = weights.amax(-1, keepdim=True) > 0.999
    hard = F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)
    return seen(memory, torch.where(sharp, hard, weights.detach()))


def writes_twice(memory, weights, erase, add):
    return written(written(memory, weights, erase, add), weights, 0 * erase, 0.01 * add)


def writes_in_place(memory, weights, erase, add):
    memory[:] = written(memory, weights, erase, add)
    return memory


def normalises_what_came(state):
    return (*state[:2], *(part.softmax(-1) for part in state[2:]))


WRONG = {
    "content_weights": (
        bounded_beta,
        exp_with_bounds,
        zero_rows_get_nothing,
        single_precision,
        squeezes,
        zeros_told_by_their_sum,
        lengths_told_by_their_sum,
        zeros_told_by_any_feature,
        zeros_told_by_the_first_feature,
        eps_of_the_dtype_added,
    ),
    "shift_weights": (circle_for_small_memories_only, two_rows_stay, hard_when_sharp, by_fourier, table_of_128_rows),
    "sharpen": (
        bounded_gamma,
        tiny_for_double_only,
        guard_of_a_thousandth,
        largest_of_the_batch,
        loosely_bounded_gamma,
        bounded_in_log_space,
        small_weights_dropped,
        logs_from_a_floor,
        a_little_added,
        log_of_a_little_more,
    ),
    "ntm_step": tuple(
        step_with(**change)
        for change in (
            {"looking": look_without_moves},
            {"looking": look_on_a_line},
            {"looking": look_normalised_over_all},
            {"looking": look_without_a_guard},
            {"looking": look_with_plain_powers},
            {"looking": look_with_plain_exp},
            {"writing": bounded_memory},
            {"reading": reads_the_strongest_when_sharp},
            {"writing": writes_twice},
            {"writing": writes_in_place},
            {"first": normalises_what_came},
            {"first": lambda state: tuple(part.float().double() for part in state)},
            {"first": lambda state: (state[0].detach(), *state[1:])},
        )
    ),
}
RIGHT = {
    "content_weights": content,
    "shift_weights": moved,
    "sharpen": powers,
    "ntm_step": step_with(),
    "erase_and_add": written,
    "read": seen,
}
