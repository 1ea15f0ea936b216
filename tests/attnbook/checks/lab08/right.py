"""Right answers of lab 8 in other styles than the reference's."""

import math

import torch
from torch.nn import functional as F


def split_heads__loops(x, heads):
    size = x.shape[2] // heads
    return torch.stack([x[:, :, h * size : (h + 1) * size] for h in range(heads)], dim=1)


def split_heads__chunk(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


def split_heads__view(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).permute(0, 2, 1, 3).contiguous()


def split_heads__turned_first(x, heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, heads, D // heads, T).transpose(2, 3)


def split_heads__unflatten(x, heads):
    return x.unflatten(-1, (heads, -1)).movedim(2, 1)


def merge_heads__cat(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


def merge_heads__contiguous_view(x):
    B, H, T, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, H * d)


def merge_heads__loops(x):
    return torch.stack([torch.stack([x[b, :, t].reshape(-1) for t in range(x.shape[2])]) for b in range(len(x))])


def merge_heads__einsum(x):
    return torch.einsum("bhtd->bthd", x).flatten(-2)


def multi_head_attention__loops(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    size = query.shape[-1] // heads
    contexts, every = [], []
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = (query @ W_q[:, part]) @ (key @ W_k[:, part]).transpose(1, 2) / math.sqrt(size)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        contexts.append(weights @ (value @ W_v[:, part]))
        every.append(weights)
    return torch.cat(contexts, dim=-1) @ W_o, torch.stack(every, dim=1)


def multi_head_attention__einsum(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    D = query.shape[-1]
    tables = (W.reshape(D, heads, D // heads) for W in (W_q, W_k, W_v))
    q, k, v = (torch.einsum("btd,dhe->bhte", x, W) for x, W in zip((query, key, value), tables, strict=True))
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * (D // heads) ** -0.5
    if mask is not None:
        scores = torch.where(mask.unsqueeze(1), scores, -torch.inf)
    e = (scores - scores.amax(-1, keepdim=True).detach().clamp(min=-1e30)).exp()
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    out_table = W_o.reshape(heads, D // heads, D)
    return torch.einsum("bhqk,bhke,hed->bqd", weights, v, out_table), weights


def multi_head_attention__folded(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    """Heads in the batch, as for bmm."""
    B, Tq, D = query.shape

    def fold(x):
        return x.view(B, -1, heads, D // heads).transpose(1, 2).reshape(B * heads, -1, D // heads)

    q, k, v = fold(query @ W_q), fold(key @ W_k), fold(value @ W_v)
    scores = torch.bmm(q, k.mT) / (D // heads) ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        closed = ~mask.expand(B, Tq, -1).repeat_interleave(heads, dim=0)
        weights = scores.masked_fill(closed, -torch.inf).softmax(-1).masked_fill(closed, 0)
    context = torch.bmm(weights, v).view(B, heads, Tq, -1).transpose(1, 2).reshape(B, Tq, D)
    return context @ W_o, weights.view(B, heads, Tq, -1)


def multi_head_attention__linear(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (
        F.linear(x, W.T).unflatten(-1, (heads, -1)).transpose(1, 2) for x, W in ((query, W_q), (key, W_k), (value, W_v))
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        some = mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~(mask | ~some).unsqueeze(1), float("-inf"))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * some.unsqueeze(1)
    return F.linear((weights @ v).transpose(1, 2).flatten(2), W_o.T), weights


def sinusoidal_positions__exp(length, dim):
    """As most programs on the web write it, in single precision."""
    table = torch.zeros(length, dim)
    places = torch.arange(0, length).unsqueeze(1)
    speed = torch.exp(torch.arange(0, dim, 2) * -(math.log(10000.0) / dim))
    table[:, 0::2] = torch.sin(places * speed)
    table[:, 1::2] = torch.cos(places * speed)
    return table


def sinusoidal_positions__loops(length, dim):
    rows = []
    for t in range(length):
        row = []
        for i in range(dim):
            angle = t / 10000 ** (2 * (i // 2) / dim)
            row.append(math.sin(angle) if i % 2 == 0 else math.cos(angle))
        rows.append(row)
    return torch.tensor(rows)


def sinusoidal_positions__where(length, dim):
    i = torch.arange(dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000.0 ** ((i - i % 2) / dim)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def sinusoidal_positions__phase(length, dim):
    """A cosine is a sine a quarter of a turn ahead."""
    i = torch.arange(dim, dtype=torch.float64)
    angle = torch.outer(torch.arange(length, dtype=torch.float64), 10000.0 ** (-2 * (i // 2) / dim))
    return (angle + (i % 2) * math.pi / 2).sin()


def add_positions__batch_axis(x, positions):
    return x + positions.to(dtype=x.dtype, device=x.device)[: x.size(1)].unsqueeze(0)


def add_positions__loops(x, positions):
    words = [x[:, t] + positions[t].to(x) for t in range(x.shape[1])]
    return torch.stack(words, dim=1)


def add_positions__type_as(x, positions):
    return (x + positions[None, : x.shape[1]].to(x.device)).to(x.dtype)


def relative_shift__loops(dim, offset):
    M = torch.zeros(dim, dim)
    for i in range(0, dim, 2):
        angle = offset / 10000 ** (i / dim)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1] = -math.sin(angle)
        M[i + 1, i] = math.sin(angle)
    return M


def relative_shift__diagonals(dim, offset):
    turn = (offset * 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)).repeat_interleave(2)
    sines = turn.sin()[:-1].clone()
    sines[1::2] = 0
    return turn.cos().diag() + sines.diag(-1) - sines.diag(1)


def relative_shift__power(dim, offset):
    """The generator of the rotation, and its exponential."""
    speed = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(offset * torch.block_diag(*(s * turn for s in speed)))


def relative_shift__complex(dim, offset):
    turn = torch.polar(
        torch.ones(dim // 2, dtype=torch.float64),
        offset * 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim),
    )
    M = torch.zeros(dim, dim, dtype=torch.float64)
    even = torch.arange(0, dim, 2)
    M[even, even], M[even + 1, even + 1] = turn.real, turn.real
    M[even, even + 1], M[even + 1, even] = -turn.imag, turn.imag
    return M
