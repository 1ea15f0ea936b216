"""Each step of the addressing is its equation in Graves et al. 2014, one sum at a time; and no number breaks it."""

import math
from itertools import product

import pytest
import torch

from attnbook.attention import attend, cosine
from attnbook.models.ntm_addressing import (
    STEPS,
    Address,
    address,
    circular_shift,
    content_weights,
    erase_and_add,
    interpolate,
    read,
    sharpen,
)

B, H, N, M = 2, 3, 5, 4


@pytest.fixture
def memory(draw):
    return draw(B, N, M, seed=1)


@pytest.fixture
def weights(draw):
    return draw(B, H, N, seed=2).softmax(dim=-1)


@pytest.fixture
def emitted(draw):
    return Address(
        draw(B, H, M, seed=3),
        3 * draw(B, H, 1, seed=4).abs(),
        draw(B, H, 1, seed=5).sigmoid(),
        draw(B, H, 3, seed=6).softmax(dim=-1),
        1 + draw(B, H, 1, seed=7).abs(),
    )


def like(rows, tensor):
    return torch.tensor(rows, dtype=tensor.dtype, device=tensor.device)


def each_head(function, *tensors):
    """``function`` of the numbers of each head of each sequence, as nested lists."""
    lists = [tensor.tolist() for tensor in tensors]
    return [[function(*(part[b][h] for part in lists)) for h in range(H)] for b in range(B)]


def normalised(numbers):
    return [number / sum(numbers) for number in numbers]


def slow_content(key, beta, rows):
    """Equations 5 and 6."""

    def cosine(u, v):
        lengths = [math.sqrt(sum(x * x for x in vector)) for vector in (u, v)]
        return sum(x * y for x, y in zip(u, v, strict=True)) / (lengths[0] * lengths[1])

    return normalised([math.exp(beta[0] * cosine(key, row)) for row in rows])


def slow_interpolation(content, previous, gate):
    """Equation 7."""
    return [gate[0] * c + (1 - gate[0]) * p for c, p in zip(content, previous, strict=True)]


def slow_shift(weights, shift):
    """Equation 8; s(0), s(1), s(N − 1) are the probabilities of 0, +1, −1."""
    s = [0.0] * len(weights)
    for move, probability in zip((-1, 0, 1), shift, strict=True):
        s[move % len(s)] += probability
    return [sum(weights[j] * s[(i - j) % len(s)] for j in range(len(s))) for i in range(len(s))]


def slow_sharpening(weights, gamma):
    """Equation 9."""
    return normalised([w ** gamma[0] for w in weights])


def slow_address(emitted, previous, memory):
    """The four steps, for each head of each sequence."""
    rows = memory[:, None].expand(-1, H, -1, -1)  # (B, H, N, M)
    content = like(each_head(slow_content, emitted.key, emitted.beta, rows), memory)
    gated = like(each_head(slow_interpolation, content, previous, emitted.gate), memory)
    shifted = like(each_head(slow_shift, gated, emitted.shift), memory)
    return like(each_head(slow_sharpening, shifted, emitted.gamma), memory)


# --- the equations --------------------------------------------------------------------------------


def test_content_weights_are_equations_5_and_6(emitted, memory, close):
    rows = memory[:, None].expand(-1, H, -1, -1)
    wanted = like(each_head(slow_content, emitted.key, emitted.beta, rows), memory)
    close(content_weights(emitted.key, emitted.beta, memory), wanted)


def test_interpolation_is_equation_7_and_gate_1_means_content(emitted, weights, close):
    previous = weights.flip(1)
    wanted = like(each_head(slow_interpolation, weights, previous, emitted.gate), weights)
    close(interpolate(weights, previous, emitted.gate), wanted)
    assert torch.equal(interpolate(weights, previous, torch.ones_like(emitted.gate)), weights)


def test_the_shift_is_equation_8(emitted, weights, close):
    close(circular_shift(weights, emitted.shift), like(each_head(slow_shift, weights, emitted.shift), weights))


def test_a_shift_by_plus_1_moves_the_focus_to_the_next_row_and_around(draw):
    one_hot = torch.eye(N, device=draw(1).device)  # a row each: the focus is on row i
    forth = torch.tensor([0.0, 0.0, 1.0], device=one_hot.device).expand(N, 3)
    assert circular_shift(one_hot, forth).argmax(dim=-1).tolist() == [1, 2, 3, 4, 0]
    assert circular_shift(one_hot, forth.flip(-1)).argmax(dim=-1).tolist() == [4, 0, 1, 2, 3]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_small_circle_is_still_a_circle(rows, emitted, draw, close):
    weights = draw(B, H, rows).softmax(dim=-1)
    close(circular_shift(weights, emitted.shift), like(each_head(slow_shift, weights, emitted.shift), weights))


def test_sharpening_is_equation_9(emitted, weights, close):
    close(sharpen(weights, emitted.gamma), like(each_head(slow_sharpening, weights, emitted.gamma), weights))


def test_a_gamma_of_1_changes_nothing_and_a_large_one_leaves_the_largest(weights, close):
    ones = torch.ones_like(weights[..., :1])
    close(sharpen(weights, ones), weights)
    close(sharpen(weights, 1e4 * ones), (weights == weights.amax(-1, keepdim=True)).to(weights.dtype))


def test_a_read_is_equation_2(memory, weights, close):
    wanted = [[[sum(weights[b, h, i] * memory[b, i, m] for i in range(N)) for m in range(M)] for h in range(H)]
              for b in range(B)]  # fmt: skip
    close(read(memory, weights), like(wanted, memory))


def test_erase_and_add_are_equations_3_and_4(memory, weights, draw, close):
    erase, add = draw(B, M, seed=8).sigmoid(), draw(B, M, seed=9)
    w = weights[:, 0]
    wanted = [[[memory[b, i, m] * (1 - w[b, i] * erase[b, m]) + w[b, i] * add[b, m] for m in range(M)]
               for i in range(N)] for b in range(B)]  # fmt: skip
    before = memory.clone()
    close(erase_and_add(memory, w, erase, add), like(wanted, memory))
    assert torch.equal(memory, before)


def test_content_and_read_are_attend_with_the_heads_as_queries(emitted, memory, close):
    context, weights = attend(emitted.key, memory, memory, score=lambda query, key: emitted.beta * cosine(query, key))
    content = content_weights(emitted.key, emitted.beta, memory)
    close(content, weights)
    close(read(memory, content), context)


def test_several_heads_erase_in_turn_then_add_in_turn(memory, weights, draw, close):
    erase, add, wanted = draw(B, H, M, seed=8).sigmoid(), draw(B, H, M, seed=9), memory
    nothing = torch.zeros_like(add[:, 0])
    for h in range(H):
        wanted = erase_and_add(wanted, weights[:, h], erase[:, h], nothing)
    for h in range(H):
        wanted = erase_and_add(wanted, weights[:, h], nothing, add[:, h])
    close(erase_and_add(memory, weights, erase, add), wanted)
    close(erase_and_add(memory, weights.flip(1), erase.flip(1), add.flip(1)), wanted)


def test_all_four_steps_are_the_equations_one_after_the_other(emitted, weights, memory, close):
    close(address(emitted, weights, memory), slow_address(emitted, weights, memory))


# --- leaving out ----------------------------------------------------------------------------------


def test_a_step_left_out_is_one_that_does_nothing(emitted, weights, memory, close):
    neutral = {
        "content": emitted._replace(gate=torch.zeros_like(emitted.gate)),  # the gate never asks it
        "interpolation": emitted._replace(gate=torch.ones_like(emitted.gate)),
        "shift": emitted._replace(shift=torch.tensor([0.0, 1.0, 0.0]).to(emitted.shift).expand_as(emitted.shift)),
        "sharpening": emitted._replace(gamma=torch.ones_like(emitted.gamma)),
    }
    assert neutral.keys() == set(STEPS)
    whole = address(emitted, weights, memory)
    for step, changed in neutral.items():
        left = address(emitted, weights, memory, (step,))
        close(left, address(changed, weights, memory))
        assert not torch.allclose(left, whole)


def test_without_any_step_a_head_stays_where_it_was(emitted, weights, memory):
    assert torch.equal(address(emitted, weights, memory, STEPS), weights)


# --- shapes, gradients, sums ----------------------------------------------------------------------


def test_one_head_without_an_axis_of_heads_is_the_same(emitted, weights, memory, draw, close):
    key, beta, gate, shift, gamma = (part[:, 1] for part in emitted)
    w, e, a = weights[:, 1], draw(B, M, seed=8).sigmoid(), draw(B, M, seed=9)
    close(content_weights(key, beta, memory), content_weights(emitted.key, emitted.beta, memory)[:, 1])
    close(interpolate(w, w.flip(-1), gate), interpolate(weights, weights.flip(-1), emitted.gate)[:, 1])
    close(circular_shift(w, shift), circular_shift(weights, emitted.shift)[:, 1])
    close(sharpen(w, gamma), sharpen(weights, emitted.gamma)[:, 1])
    close(read(memory, w), read(memory, weights)[:, 1])
    close(erase_and_add(memory, w, e, a), erase_and_add(memory, w[:, None], e[:, None], a[:, None]))


def test_after_each_step_the_weights_sum_to_1_and_none_is_negative(emitted, weights, memory):
    content = content_weights(emitted.key, emitted.beta, memory)
    shifted = circular_shift(weights, emitted.shift)
    for found in (content, interpolate(content, weights, emitted.gate), shifted, sharpen(shifted, emitted.gamma)):
        assert found.shape == (B, H, N)
        assert bool((found >= 0).all())
        torch.testing.assert_close(found.sum(dim=-1), torch.ones_like(found[..., 0]))


def test_gradients_are_those_of_small_differences():
    generator = torch.Generator().manual_seed(0)
    key, beta, gate, shift, gamma, previous, memory, erase, add = (
        torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in [(B, H, M), (B, H, 1), (B, H, 1), (B, H, 3), (B, H, 1), (B, H, N), (B, N, M), (B, H, M), (B, H, M)]
    )

    def through_everything(key, beta, gate, shift, gamma, previous, memory, erase, add):
        emitted = Address(key, beta.exp(), gate.sigmoid(), shift.softmax(-1), 1 + gamma.exp())
        weights = address(emitted, previous.softmax(dim=-1), memory)
        written = erase_and_add(memory, weights, erase.sigmoid(), add)
        return read(written, weights), weights

    assert torch.autograd.gradcheck(through_everything, (key, beta, gate, shift, gamma, previous, memory, erase, add))


# --- numbers that break things --------------------------------------------------------------------

ROWS = {
    "zeros": torch.zeros(N, M),
    "one row written": torch.zeros(N, M).index_fill_(0, torch.tensor([2]), 1.0),
    "almost nothing": torch.full((N, M), 1e-30),
    "all alike": torch.full((N, M), 1e-6),
    "huge": torch.linspace(-1e15, 1e15, N * M).view(N, M),
}
PREVIOUS = {
    "one row": torch.eye(N)[0],
    "all alike": torch.full((N,), 1 / N),
    "all but nothing elsewhere": torch.tensor([1.0, 1e-38, 1e-45, 0.0, 0.0]),
    "two alike": torch.tensor([0.5, 0.5, 0.0, 0.0, 0.0]),
}


SAID = list(product([0.0, 1.0, 1e6], [1.0, 50.0, 1e6], [0.0, 1e-30, 1.0, 1e15], [0.0, 1.0]))  # beta, gamma, key, gate


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("where", PREVIOUS)
def test_no_number_makes_weights_or_gradients_infinite_in_float32(rows, where, device):
    """All that a controller may say is a row of one batch, each with a memory of its own."""
    beta, gamma, key, gate = (part[:, None] for part in torch.tensor(SAID, device=device).unbind(dim=1))  # (S, 1) each
    told = key * torch.linspace(-1, 1, M, device=device), beta, gate, torch.tensor([0.0, 0.0, 1.0]).to(key), gamma
    emitted = [part.expand(len(SAID), 1, -1) if part.dim() == 1 else part[:, None] for part in told]
    emitted = [part.detach().clone().requires_grad_() for part in emitted]  # (S, 1, ...)
    previous = PREVIOUS[where].to(device).repeat(len(SAID), 1, 1).requires_grad_()  # (S, 1, N)
    memory = ROWS[rows].to(device).repeat(len(SAID), 1, 1).requires_grad_()  # (S, N, M)
    ones = torch.ones(len(SAID), 1, M, device=device)
    weights = address(Address(*emitted), previous, memory)
    written = erase_and_add(memory, weights, ones, ones)
    total = (weights * torch.arange(N, device=device)).sum() + read(written, weights).sum()
    gradients = torch.autograd.grad(total, [*emitted, previous, memory])
    for part in (weights, written, *gradients):
        fine = part.isfinite().flatten(1).all(dim=1).tolist()
        assert [f"beta, gamma, key, gate: {said}" for said, one in zip(SAID, fine, strict=True) if not one] == []
    torch.testing.assert_close(weights.sum(dim=-1), ones[..., 0])


def test_sharpening_keeps_zero_at_zero_even_without_power():
    weights = torch.tensor([[0.75, 0.25, 0.0]], requires_grad=True)
    sharp = sharpen(weights, torch.ones(1, 1))
    torch.testing.assert_close(sharp, torch.tensor([[0.75, 0.25, 0.0]]), rtol=1e-6, atol=1e-30)


# --- bad input ------------------------------------------------------------------------------------


def test_shapes_that_do_not_fit_are_refused():
    w, memory = torch.full((B, N), 1 / N), torch.ones(B, N, M)
    key, column = torch.ones(B, M), torch.ones(B, 1)
    bad = [
        (r"memory must have shape \(B, N, M\), got \(5, 4\)", content_weights, key, column, memory[0]),
        (r"key must have 2 axes, or 3 with heads, and the batch", content_weights, key[:1], column[:1], memory),
        (r"beta must have shape \(2, 1\), got \(2,\)", content_weights, key, column[:, 0], memory),
        (r"key has 3 features but a row of memory has 4", content_weights, key[:, :3], column, memory),
        (r"previous must have shape \(2, 5\), got \(2, 4\)", interpolate, w, w[:, :4], column),
        (r"gate must have shape \(2, 1\), got \(2,\)", interpolate, w, w, column[:, 0]),
        (r"shift must have shape \(2, 3\), got \(2, 5\)", circular_shift, w, torch.ones(B, 5)),
        (r"gamma must have shape \(2, 1\), got \(1, 1\)", sharpen, w, column[:1]),
        (r"weights are over 4 rows but memory has 5", read, memory, w[:, :4]),
        (r"weights must have 2 axes", read, memory, w[0]),
        (r"weights are over 4 rows but memory has 5", erase_and_add, memory, w[:, :4], key, key),
        (r"erase must have shape \(2, 4\), got \(2, 3\)", erase_and_add, memory, w, key[:, :3], key),
        (r"add must have shape \(2, 4\), got \(4,\)", erase_and_add, memory, w, key, key[0]),
    ]
    for message, function, *arguments in bad:
        with pytest.raises(ValueError, match=message):
            function(*arguments)
