"""Lab 13: one time step of the whole machine."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..fakes.machine import fake_machine, loud_machine
from .content import content_weights
from .moving import interpolate, shift_weights
from .sharpening import sharpen
from .tape import erase_and_add, read


def ntm_step(x, state, machine):
    memory, last_read, read_weights, write_weights = state
    hidden = machine.controller(x, last_read)  # (B, D)

    def look(previous, orders):
        key, beta, gate, shift, gamma = orders
        weights = content_weights(key, beta, memory)  # (B, N)
        weights = interpolate(weights, previous, gate)  # (B, N)
        weights = shift_weights(weights, shift)  # (B, N)
        return sharpen(weights, gamma)  # (B, N)

    new_read_weights = look(read_weights, machine.read_head(hidden))
    new_write_weights = look(write_weights, machine.write_head(hidden))
    erase, add = machine.writing(hidden)  # (B, M) each
    new_memory = erase_and_add(memory, new_write_weights, erase, add)  # (B, N, M)
    now_read = read(new_memory, new_read_weights)  # (B, M)
    output = machine.output(hidden, now_read)  # (B, O)
    return output, (new_memory, now_read, new_read_weights, new_write_weights)


def _machines(draw):
    batch, rows, width, inputs, hidden = draw.sizes(5)
    for B, N, M, D in (
        (batch, rows + 1, width, hidden), (3, 3, 3, 3), (1, rows + 1, width, hidden), (2, 2, 3, 4), (3, 1, 2, 4),
        (2, 30, 3, 5),
    ):  # fmt: skip
        machine = fake_machine(draw, inputs, D, M, inputs + 1 if M != 3 else M)
        yield draw.normal(B, inputs), _state(draw, B, N, M), machine
    memory, last_read, *_ = _state(draw, 2, 4, 3)
    first = torch.eye(4, dtype=torch.float64)[[0, 0]]  # (2, 4)
    memory = torch.full_like(memory, 1e-3)  # the lab's 1e-6 has slopes of a million, where a guard of 1e-12 shows
    yield draw.normal(2, 2), (memory, memory[:, 0], first, first), fake_machine(draw, 2, 4, 3, 2)  # the first step
    moved = torch.eye(4, dtype=torch.float64)[[1, 3]]
    yield draw.normal(2, 2), (draw.normal(2, 4, 3), last_read, first, moved), fake_machine(draw, 2, 4, 3, 2)
    if draw.number == 1:
        yield from _extremes(draw)


def _extremes(draw):
    """What the parts bear must be borne by a step that does their work itself."""
    x, state = draw.uniform(2, 2, low=1.0, high=2.0), _state(draw, 2, 4, 3)
    yield x, (50 * state[0], *state[1:]), fake_machine(draw, 2, 4, 3, 2)  # what is added has no bounds
    yield x, (0 * state[0], *state[1:]), loud_machine(draw, 2, 4, 3, 2, beta=-2000.0)  # β = 0: zeros have no slope
    yield x, state, loud_machine(draw, 2, 4, 3, 2, beta=1000.0)
    alike, even = draw.normal(2, 1, 3).repeat(1, 128, 1), torch.full((2, 128), 1 / 128, dtype=torch.float64)
    yield x, (alike, state[1], even, even.clone()), loud_machine(draw, 2, 4, 3, 2, gamma=300.0)


def _state(draw, batch, rows, width):
    weights = [(2 * draw.normal(batch, rows)).softmax(-1) for _ in range(2)]
    return 2 * draw.normal(batch, rows, width), draw.normal(batch, width), *weights


def _as_wanted(place):
    return lambda result, *args: torch.allclose(result[1][place], ntm_step(*args)[1][place], atol=1e-6)


def _writes_where_it_looks(result, x, state, machine):
    memory, last_read, _, _ = state
    orders = machine.writing(machine.controller(x, last_read))
    return torch.allclose(result[1][0], erase_and_add(memory, result[1][3], *orders), atol=1e-6)


NTM_STEP = Exercise(
    ntm_step,
    cases=_machines,
    returns=("output", "state"),
    properties=[
        Property(
            "weights sum to one",
            "The third and the fourth part of the state are the weights of the two heads: each row must sum to 1.",
            lambda result, *args: all(((result[1][i].sum(-1) - 1).abs() < 1e-5).all() for i in (2, 3)),
        ),
        Property(
            "the write head looks where it is told",
            "The write head's weights are wrong. In order: content (both heads look at the memory *before* it is "
            "written), interpolate (with *its* weights of the step before), shift, sharpen, all with the orders of "
            "`machine.write_head(hidden)`. Put these *new* weights into the new state, fourth.",
            _as_wanted(3),
        ),
        Property(
            "the read head looks where it is told",
            "The read head's weights are wrong; the write head's are right. It takes the same four steps in the same "
            "memory, with *its* weights of the step before and the orders of `machine.read_head(hidden)`. Put these "
            "*new* weights into the new state, third.",
            _as_wanted(2),
        ),
        Property(
            "writes where the write head looks",
            "Both heads look at the right rows, but the memory is wrong. It is erased and added to with the *new* "
            "weights of the write head, by the orders of `machine.writing(hidden)`.",
            _writes_where_it_looks,
        ),
        Property(
            "reads what stands there now",
            "Heads and memory are right, but what is read is not: read the *new* memory with the *new* weights of the "
            "read head.",
            _as_wanted(1),
        ),
        Property(
            "says what it reads now",
            "The state is right, the output is not: `machine.output(hidden, …)` with what is read *now*.",
            lambda result, x, state, machine: torch.allclose(
                result[0], machine.output(machine.controller(x, state[1]), result[1][1])
            ),
        ),
    ],
)

_WRITTEN, _RETURN = "erase_and_add(memory, new_write_weights, erase, add)", "return output, (new_memory, now_read, "

wrong = NTM_STEP.mistakes
wrong(
    "sharpened before the shift",
    {
        "shift_weights(weights, shift)": "weights",
        "return sharpen(weights, gamma)": "return shift_weights(sharpen(weights, gamma), shift)",
    },
).says("""
    You sharpened before the shift. The shift is what blurs, so sharpening comes last and takes the blur away.""")
wrong("shift left out", {"shift_weights(weights, shift)": "weights"}).says("""
    Your heads never shift. Then they can't step from row to row: after interpolate comes shift_weights.""")
wrong("sharpening left out", {"return sharpen(weights, gamma)": "return weights"}).says("""
    You did not sharpen. Each shift blurs the focus a little more, until it lies over the whole memory.""")
wrong("interpolation left out", {"interpolate(weights, previous, gate)": "weights"}).says("""
    You go by content alone. Without the old weights a head does not know where it was: interpolate.""")
wrong("gate the wrong way round", {"(weights, previous, gate)": "(previous, weights, gate)"}).says("""
    You called interpolate with the old weights first. Content comes first: interpolate(content, previous, gate).""")
wrong("both go on from the read head's place", {"look(write_weights,": "look(read_weights,"}).says("""
    Both heads went on from where the *read head* was. Each has its own weights of the step before.""")
wrong("both heads get the read head's orders", {"machine.write_head": "machine.read_head"}).says("""
    You gave both heads the orders of the read head. The write head has its own: machine.write_head(hidden).""")
wrong("read before the write", {"read(new_memory,": "read(memory,"}).says("""
    You read from the memory as it was. In this machine the write comes first: read what stands there now.""")
wrong("written with the read head's weights", {_WRITTEN: _WRITTEN.replace("write_w", "read_w")}).says("""
    You wrote where the *read head* looks. Each head has its own place: write with the write head's weights.""")
wrong("written with the old weights", {_WRITTEN: _WRITTEN.replace("new_", "")}).says("""
    You wrote where the write head was a step before. It has moved: write with its new weights.""")
wrong("erase and add swapped", {"erase, add = machine": "add, erase = machine"}).says("""
    You exchanged erase and add. machine.writing gives (erase, add), and erase_and_add takes them so.""")
wrong("output from what was read last", {"output(hidden, now_read)": "output(hidden, last_read)"}).says("""
    You gave machine.output what was read a step before. The answer depends on what is read *now*.""")
wrong("memory not carried on", {_RETURN: _RETURN.replace("new_", "")}).says("""
    You put the *old* memory into the new state, so that all that was written is lost. Carry the new one on.""")
wrong(
    "heads swapped in the state", {_RETURN + "new_read_weights, new_write": _RETURN + "new_write_weights, new_read"}
).says("""
    You returned the weights in the order (write, read). The state is (memory, read, read weights, write weights).""")
wrong(
    "results swapped",
    {
        "return output, (": "return (",
        "new_read_weights, new_write_weights)": "new_read_weights, new_write_weights), output",
    },
).says("""
    You returned the state first. Wanted are (output, state).""")
