"""Lab 13: one time step of the whole machine."""

import torch

from misread.exercise import About, Exercise

from ..fakes.machine import fake_machine, loud_machine
from .content import content_weights
from .moving import circular_shift, interpolate
from .sharpening import sharpen
from .tape import erase_and_add, read


def ntm_step(x, state, machine):
    """One time step: x (B, I), (memory, last_read, read_weights, write_weights) -> output (B, O), new state."""
    memory, last_read, read_weights, write_weights = state
    hidden = machine.controller(x, last_read)  # (B, D)

    def address(previous, instructions):
        key, beta, gate, shift, gamma = instructions
        weights = content_weights(key, beta, memory)  # (B, N)
        weights = interpolate(weights, previous, gate)  # (B, N)
        weights = circular_shift(weights, shift)  # (B, N)
        return sharpen(weights, gamma)  # (B, N)

    new_read_weights = address(read_weights, machine.read_head(hidden))
    new_write_weights = address(write_weights, machine.write_head(hidden))
    erase, add = machine.writing(hidden)  # (B, M) each
    new_memory = erase_and_add(memory, new_write_weights, erase, add)  # (B, N, M)
    now_read = read(new_memory, new_read_weights)  # (B, M)
    output = machine.output(hidden, now_read)  # (B, O)
    return output, (new_memory, now_read, new_read_weights, new_write_weights)


def _machines(draw):
    batch, rows, width, inputs, hidden = draw.sizes(5)
    for B, N, M, D in (
        (batch, rows + 1, width, hidden), (3, 3, 3, 3), (1, rows + 1, width, hidden), (2, 2, 3, 4), (3, 1, width, 4),
        (2, 30, 3, 5),
    ):  # fmt: skip
        yield _calm(lambda B=B, N=N, M=M, D=D: _drawn(draw, B, N, M, D, inputs))
    first, moved = torch.eye(4, dtype=torch.float64)[torch.tensor([[0, 0], [1, 3]])]  # (2, 4) each
    low = torch.full((2, 4, 3), 1e-2, dtype=torch.float64)  # beside the lab's 1e-6 a guard of 1e-12 shows in the slopes
    yield _calm(lambda: (draw.normal(2, 2), (low, low[:, 0], first, first), fake_machine(draw, 2, 4, 3, 2)))
    yield _calm(lambda: (draw.normal(2, 2), (*_state(draw, 2, 4, 3)[:2], first, moved), fake_machine(draw, 2, 4, 3, 2)))
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


def _drawn(draw, batch, rows, width, hidden, inputs):
    machine = fake_machine(draw, inputs, hidden, width, inputs + 1 if width != 3 else width)
    return draw.normal(batch, inputs), _state(draw, batch, rows, width), machine


def _state(draw, batch, rows, width):
    weights = [(2 * draw.normal(batch, rows)).softmax(-1) for _ in range(2)]
    return 2 * draw.normal(batch, rows, width), draw.normal(batch, width), *weights


def _calm(draw_one):
    """Inputs beside whose vectors and weights a guard of 1e-12 against zero is nothing, in the slopes, too."""
    while True:
        args = draw_one()
        lengths, weights = zip(*_looks(*args), strict=True)
        if min(lengths) > 1e-2 and min(weights) > 1e-6:
            return args


def _looks(x, state, machine):
    """Of each head, the smallest length of a row or a key, and the smallest weight before the sharpening."""
    memory, last_read, *before = state
    hidden = machine.controller(x, last_read)
    for previous, orders in zip(before, (machine.read_head(hidden), machine.write_head(hidden)), strict=True):
        key, beta, gate, shift, _ = orders
        moved = circular_shift(interpolate(content_weights(key, beta, memory), previous, gate), shift)
        yield min(memory.norm(dim=-1).min(), key.norm(dim=-1).min()), moved.min()


def _is_right(index):
    return lambda result, *args: torch.allclose(result[1][index], ntm_step(*args)[1][index], atol=1e-6)


def _writes_with_the_new_weights(result, x, state, machine):
    """Judged only where both heads are right, so that its words are true."""
    memory, last_read, _, _ = state
    orders = machine.writing(machine.controller(x, last_read))
    heads = _is_right(2)(result, x, state, machine) and _is_right(3)(result, x, state, machine)
    return not heads or torch.allclose(result[1][0], erase_and_add(memory, result[1][3], *orders), atol=1e-6)


NTM_STEP = Exercise(
    ntm_step,
    cases=_machines,
    returns=("output", "state"),
    parts={"state": ("memory", "last_read", "read_weights", "write_weights")},
    about=About(points=4, minutes=27, difficulty=4, read_again="The whole machine"),
)

must = NTM_STEP.properties
must(
    "weights sum to one", lambda result, *args: all(((result[1][i].sum(-1) - 1).abs() < 1e-5).all() for i in (2, 3))
).says("""
    The third and the fourth entry of the state are the weights of the two heads, and each row of them must sum to
    1.""")
must("the weights of the write head", _is_right(3)).says("""
    The weights of the write head, the fourth entry of the new state, are wrong. They are computed by content (from the
    memory *before* it is written), interpolate (with the head's *own* weights of the step before), shift and sharpen,
    in this order, with the instructions of `machine.write_head(hidden)`.""")
must("the weights of the read head", _is_right(2)).says("""
    The weights of the read head, the third entry of the new state, are wrong. They are computed in the same four steps
    from the same memory, the one *before* it is written, but with the read head's own weights of the step before and
    the instructions of `machine.read_head(hidden)`.""")
must("the new memory", _writes_with_the_new_weights).says("""
    The weights of both heads are right, but the new memory is wrong. The old memory must be erased and added to with
    the *new* weights of the write head and the vectors of `machine.writing(hidden)`.""")
must("the vector that is read", _is_right(1)).says("""
    The second entry of the new state is wrong. It must be what the *new* weights of the read head read from the *new*
    memory.""")
must(
    "the output",
    lambda result, x, state, machine: torch.allclose(
        result[0], machine.output(machine.controller(x, state[1]), result[1][1])
    ),
).says("""
    The new state is right, but the output is wrong. It must be `machine.output(hidden, …)` with the vector that is read
    in *this* step.""")

_WRITTEN, _RETURN = "erase_and_add(memory, new_write_weights, erase, add)", "return output, (new_memory, now_read, "

wrong = NTM_STEP.mistakes
wrong(
    "sharpened before the shift",
    {
        "circular_shift(weights, shift)": "weights",
        "return sharpen(weights, gamma)": "return circular_shift(sharpen(weights, gamma), shift)",
    },
).says("""
    You sharpened the weights before the shift. The shift spreads the weights over neighbouring rows, so the sharpening
    must come after it to undo this.""")
wrong("shift left out", {"circular_shift(weights, shift)": "weights"}).says("""
    You left out the shift, so that no head can move from one row to the next. Call `circular_shift` after
    `interpolate`.""")
wrong("sharpening left out", {"return sharpen(weights, gamma)": "return weights"}).says("""
    You left out the sharpening. Each shift spreads the weights a little more, until they cover the whole memory.""")
_MIXED, _MOVED = "interpolate(weights, previous, gate)  # (B, N)", "circular_shift(weights, shift)"
_TWO = f"{_MIXED}\n        weights = {_MOVED}"
wrong("shift before the interpolation", {_TWO: f"interpolate({_MOVED}, previous, gate)"}).says("""
    You moved the weights by content before you mixed them with the previous weights, so the previous weights do not
    move. The order is content, interpolate, shift, sharpen.""")
wrong("the controller reads anew", {"controller(x, last_read)": "controller(x, read(memory, read_weights))"}).says("""
    You gave the controller a fresh read of the memory. It receives `last_read`, the vector that was read in the step
    before, which is part of the state.""")
wrong("interpolation left out", {"interpolate(weights, previous, gate)": "weights"}).says("""
    You left out the interpolation, so that each head uses its weights by content only. Without its weights of the step
    before, a head cannot move from the row where it was.""")
wrong("content left out", {"content_weights(key, beta, memory)": "previous"}).says("""
    You did not use the weights by content. Each head first computes `content_weights(key, beta, memory)`, and then
    `interpolate` mixes them with the head's previous weights.""")
wrong("gate the wrong way round", {"(weights, previous, gate)": "(previous, weights, gate)"}).says("""
    You called `interpolate` with the previous weights first. It takes the weights by content first:
    interpolate(content, previous, gate).""")
wrong("both go on from the read head's position", {"address(write_weights,": "address(read_weights,"}).says("""
    Both of your heads start from the weights of the *read head* in the step before. The write head must start from its
    own weights, `write_weights`.""")
wrong("write head goes on from the new read weights", {"address(write_weights,": "address(new_read_weights,"}).says("""
    Your write head starts from the *new* weights of the read head. It must start from the weights that it had itself in
    the step before, `write_weights` of the state.""")
wrong("both heads get the read head's orders", {"machine.write_head": "machine.read_head"}).says("""
    You gave both heads the instructions of the read head. The write head has instructions of its own:
    machine.write_head(hidden).""")
_HEADS = "read_weights, machine.read_head(hidden))\n    new_write_weights = address(write_weights, machine.write_head("
_OTHER_HEAD = (
    "write_weights, machine.write_head(hidden))\n    new_write_weights = address(read_weights, machine.read_head("
)
_OTHER_ORDERS = (
    "read_weights, machine.write_head(hidden))\n    new_write_weights = address(write_weights, machine.read_head("
)
wrong("heads exchanged", {_HEADS: _OTHER_HEAD}).says("""
    You exchanged the two heads. The new weights of the read head go on from `read_weights` with the instructions of
    `machine.read_head(hidden)`, and those of the write head from `write_weights` with `machine.write_head(hidden)`.""")
wrong("orders exchanged", {_HEADS: _OTHER_ORDERS}).says("""
    You exchanged the instructions of the two heads. The read head goes on from `read_weights` with
    `machine.read_head(hidden)`, and the write head from `write_weights` with `machine.write_head(hidden)`.""")
_FIND = "    new_read_weights = address(read_weights, machine.read_head(hidden))"
wrong(
    "read head searches the new memory",
    {
        "address(previous, instructions)": "address(previous, instructions, memory=memory)",
        f"{_FIND}\n    new_write": "    new_write",
        "    now_read =": f"{_FIND.replace('(hidden)', '(hidden), new_memory')}\n    now_read =",
    },
).says("""
    You computed the weights of the read head from the memory after the write. Both heads compute their weights from the
    memory as it was before. Only the reading itself uses the new memory.""")
wrong("read before the write", {"read(new_memory,": "read(memory,"}).says("""
    You read from the memory as it was before the write. In this machine the write comes first, so read from the new
    memory.""")
_READ = "read(new_memory, new_read_weights)"
wrong("read with the write head's weights", {_READ: _READ.replace("new_read_w", "new_write_w")}).says("""
    You read with the weights of the *write head*. Each head has weights of its own, so read with the new weights of the
    read head.""")
wrong("read with the old weights", {_READ: _READ.replace("new_read_w", "read_w")}).says("""
    You read with the weights that the read head had in the step before. Read with its new weights.""")
wrong("written with the read head's weights", {_WRITTEN: _WRITTEN.replace("write_w", "read_w")}).says("""
    You wrote with the weights of the *read head*. Each head has weights of its own, so write with the weights of the
    write head.""")
wrong("written with the old weights", {_WRITTEN: _WRITTEN.replace("new_", "")}).says("""
    You wrote with the weights that the write head had in the step before. Write with its new weights.""")
wrong("erase and add swapped", {"erase, add = machine": "add, erase = machine"}).says("""
    You exchanged erase and add. `machine.writing` returns the pair (erase, add), and `erase_and_add` takes them in the
    same order.""")
wrong("output from what was read last", {"output(hidden, now_read)": "output(hidden, last_read)"}).says("""
    You gave `machine.output` the vector that was read in the step before. The output of this step depends on the vector
    that is read in *this* step.""")
wrong("memory not carried on", {_RETURN: _RETURN.replace("new_", "")}).says("""
    You put the *old* memory into the new state, so that everything written in this step is lost. Put the new memory
    there.""")
wrong("last read not carried on", {"(new_memory, now_read": "(new_memory, last_read"}).says("""
    You put the *old* `last_read` into the new state. The second entry of the new state is the vector that was read in
    this step.""")
wrong("weights not carried on", {f"{_RETURN}new_read_weights, new_w": f"{_RETURN}read_weights, w"}).says("""
    You put the *old* weights of the heads into the new state, so that no head ever moves on. Put the new weights of
    both heads there.""")
wrong(
    "heads swapped in the state", {_RETURN + "new_read_weights, new_write": _RETURN + "new_write_weights, new_read"}
).says("""
    You returned the weights in the order (write, read). The state is (memory, last_read, read_weights,
    write_weights).""")
wrong(
    "results swapped",
    {
        "return output, (": "return (",
        "new_read_weights, new_write_weights)": "new_read_weights, new_write_weights), output",
    },
).says("""
    You returned the state first. The exercise asks for the pair (output, state), with the output first.""")
