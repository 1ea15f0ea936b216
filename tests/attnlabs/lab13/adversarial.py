"""Answers of lab 13 that are right on the small and tame, and wrong on what else may come."""

import torch
from torch.nn import functional as F


def cosines(key, memory):
    return F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-12)


def content(key, beta, memory):
    return (beta * cosines(key, memory)).softmax(-1)


def zeros_told_by_their_sum(key, beta, memory):
    lengths = torch.where(memory.sum(-1) == 0, 1.0, memory.norm(dim=-1))
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


def by_fourier(weights, shift):
    kernel = torch.zeros_like(weights)
    for place, part in ((-1, 0), (0, 1), (1, 2)):
        kernel[:, place % kernel.shape[1]] = kernel[:, place % kernel.shape[1]] + shift[:, part]
    return torch.fft.irfft(torch.fft.rfft(weights) * torch.fft.rfft(kernel), n=weights.shape[1])


def table_of_128_rows(weights, shift):
    rows = weights.shape[1]
    table, place = F.pad(weights, (0, 128))[:, :128], torch.arange(rows)
    before, after = table[:, ((place - 1) % rows) % 128], table[:, ((place + 1) % rows) % 128]
    return shift[:, :1] * after + shift[:, 1:2] * weights + shift[:, 2:] * before


def powers(weights, gamma):
    raised = (weights / weights.amax(-1, keepdim=True)) ** gamma
    return raised / raised.sum(-1, keepdim=True)


def by_logs(weights, gamma):
    return (gamma * weights.log()).softmax(-1)


def written(memory, weights, erase, add):
    return memory * (1 - weights[:, :, None] * erase[:, None]) + weights[:, :, None] * add[:, None]


def seen(memory, weights):
    return (weights[:, :, None] * memory).sum(1)


def step_with(found=content, shifted=moved, sharpened=powers, writing=written, reading=seen, first=lambda state: state):
    def ntm_step(x, state, machine):
        memory, last, *before = first(state)

        def address(previous, orders):
            key, beta, gate, shift, gamma = orders
            return sharpened(shifted(torch.lerp(previous, found(key, beta, memory), gate), shift), gamma)

        hidden = machine.controller(x, last)
        reader, writer = address(before[0], machine.read_head(hidden)), address(before[1], machine.write_head(hidden))
        memory = writing(memory, writer, *machine.writing(hidden))
        last = reading(memory, reader)
        return machine.output(hidden, last), (memory, last, reader, writer)

    return ntm_step


def with_plain_exp(key, beta, memory):
    shares = (beta * cosines(key, memory)).exp()
    return shares / shares.sum(-1, keepdim=True)


def reads_the_strongest_when_sharp(memory, weights):
    hard = F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)
    return seen(memory, torch.where(weights.amax(-1, keepdim=True) > 0.999, hard, weights.detach()))


WRONG = {
    "content_weights": {
        "single precision": lambda *args: content(*(part.float() for part in args)).to(args[2].dtype),
        "squeezes": lambda key, beta, memory: (beta * cosines(key, memory).squeeze()).softmax(-1),
        "zeros told by their sum": zeros_told_by_their_sum,
        "eps of the dtype added": eps_of_the_dtype_added,
    },
    "circular_shift": {
        "two rows stay": lambda weights, shift: weights if weights.shape[1] == 2 else moved(weights, shift),
        "by Fourier": by_fourier,
        "table of 128 rows": table_of_128_rows,
    },
    "sharpen": {
        "bounded γ": lambda weights, gamma: powers(weights, gamma.clamp(max=1000.0)),
        "tiny for double only": lambda weights, gamma: by_logs(weights.clamp_min(1e-300), gamma),
        "logs from a floor": lambda weights, gamma: by_logs(weights.clamp_min(1e-7), gamma),
    },
    "ntm_step": {
        "a single sequence never moves": step_with(shifted=lambda w, s: w if len(w) == 1 else moved(w, s)),
        "on a line": step_with(shifted=circle_for_small_memories_only),
        "plain exp": step_with(found=with_plain_exp),
        "bounded memory": step_with(writing=lambda *args: written(*args).clamp(-10, 10)),
        "reads the strongest when sharp": step_with(reading=reads_the_strongest_when_sharp),
        "writes in place": step_with(writing=lambda memory, *args: memory.copy_(written(memory, *args))),
        "single precision": step_with(first=lambda state: tuple(part.float().double() for part in state)),
        "old memory without gradient": step_with(first=lambda state: (state[0].detach(), *state[1:])),
    },
}
RIGHT = {
    "content_weights": content,
    "circular_shift": moved,
    "sharpen": powers,
    "ntm_step": step_with(),
    "erase_and_add": written,
    "read": seen,
}
