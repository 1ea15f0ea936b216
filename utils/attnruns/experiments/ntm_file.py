"""Chapter 13's copying machine in one file, with other seeds: wrong bits, and how its read head finds row 0.

What is trained is the file itself, as it stands in the chapter, with another seed. It stays on the CPU, as the file
does.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM, NTMConfig
from attnbook.models.ntm_addressing import read
from attnbook.modes import evaluating
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.grid import COUNT, LENGTHS, copying_grid
from attnruns.shared.memory import TEST_SEED, wrong_bits
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"13_ntm": 500}
ROWS = (128, 256)  # of the tests
LOOP_LENGTH, LOOP_ROWS = 30, 64  # vectors and rows where the heads are watched
# Steps of addressing that the read head lacks, and whether at the end mark only, or from the first vector up to it.
LEFT_OUT = {
    "nothing": ((), True),
    "content": (("content",), False),
    "content at the mark": (("content",), True),
    "sharpening at the mark": (("sharpening",), True),
}
# What is replaced in the file by what the job has.
REPLACED = {
    "torch.manual_seed(3)": "torch.manual_seed({seed})",
    "STEPS_OF_TRAINING = 500": "STEPS_OF_TRAINING = {steps}",
}


def code(name: str, seed: int, steps: int) -> str:
    """The file of the chapter up to the end of its training, with this seed and so many steps."""
    chosen(STEPS, name)
    return file_of(name, REPLACED, seed, steps, without=("live-test",))


def build(name: str) -> NTM:
    """The package's NTM of the size that the file has."""
    chosen(STEPS, name)
    return NTM(NTMConfig(inputs=11, outputs=8))


def as_package(machine: nn.Module) -> NTM:
    """The package's NTM with the parameters of a ``Machine`` of the file."""
    parts: Any = machine
    package = build("13_ntm")
    package.controller.layer.load_state_dict(parts.controller.state_dict())  # type: ignore[union-attr]
    package.address.layer.load_state_dict(parts.to_address.state_dict())
    package.erase_and_add.load_state_dict(parts.to_erase_and_add.state_dict())
    package.output.load_state_dict(parts.output.state_dict())
    return package


@evaluating
def heads_of_loop(machine: NTM) -> dict[str, Any]:
    """How the heads move while ``LOOP_LENGTH`` vectors are written and read, means over sequences and steps.

    Returns:
        for "write" and "read" the gate, the shift (back, stay, forward), and "moves", the shares of the steps in which
        the head moves by one row, back and forward; and "ahead": at output k, the share of the read heads on the row
        of vector k + 1.
    """
    length = LOOP_LENGTH
    record = machine.record(mark_phases(copy_batch(length, COUNT, TEST_SEED)).inputs, LOOP_ROWS)
    rows = record.weights.argmax(dim=-1)  # (B, T, 2): read, write
    found: dict[str, Any] = {}
    # Vectors come in at steps 1 to length, outputs are wanted from step length + 2 on.
    for name, head, steps in (("write", 1, slice(2, length + 1)), ("read", 0, slice(length + 3, 2 * length + 2))):
        before = slice(steps.start - 1, steps.stop - 1)
        moved = (rows[:, steps, head] - rows[:, before, head]) % LOOP_ROWS
        moves = [rounded_mean(moved == by) for by in (LOOP_ROWS - 1, 1)]
        shift = [rounded_mean(part) for part in record.address.shift[:, steps, head].unbind(dim=-1)]
        found[name] = {"moves": moves, "gate": rounded_mean(record.address.gate[:, steps, head]), "shift": shift}
    written, at_output = rows[:, 2 : length + 1, 1], rows[:, length + 2 : 2 * length + 1, 0]
    return found | {"ahead": rounded_mean(at_output == written)}


@evaluating
def read_without(
    machine: NTM, inputs: Tensor, rows: int, left_out: tuple[str, ...], at: Collection[int]
) -> tuple[Tensor, Tensor]:
    """Logits ``(B, T, 8)`` and the read head's weights ``(B, T, N)``, if it lacks steps of addressing at some times."""
    whole, state, outputs, history = machine.config, machine.initial_state(len(inputs), rows), [], []
    for number, x in enumerate(inputs.unbind(dim=1)):
        before = state
        logits, state = machine.step(x, before)
        if number in at and left_out:
            machine.config = replace(whole, without=left_out)
            _, reduced = machine.step(x, before)
            machine.config = whole
            weights = torch.cat([reduced.weights[:, :1], state.weights[:, 1:]], dim=1)  # (B, 2, N)
            state = state._replace(weights=weights, reads=read(state.memory, weights[:, :1]))
            logits = machine.output(torch.cat([state.controller, state.reads[:, 0]], dim=-1))  # (B, 8), of what is read
        outputs.append(logits)
        history.append(state.weights[:, 0])
    return torch.stack(outputs, dim=1), torch.stack(history, dim=1)


def way_back(machine: NTM, length: int = 40, rows: int = 256) -> dict[str, dict[str, float]]:
    """For each of ``LEFT_OUT``: wrong bits, and the read head's weight on row 0 before and at the end mark."""
    bits, mark = mark_phases(copy_batch(length, COUNT, TEST_SEED)), length + 1
    found = {}
    for name, (left_out, only_at_mark) in LEFT_OUT.items():
        at: Sequence[int] = (mark,) if only_at_mark else range(1, mark + 1)
        logits, weights = read_without(machine, bits.inputs, rows, left_out, at)
        row_0 = {"before": rounded_mean(weights[:, mark - 1, 0]), "at_mark": rounded_mean(weights[:, mark, 0])}
        found[name] = {"wrong_bits": round(wrong_bits(logits, bits), 3)} | row_0
    return found


def run(job: Job) -> Outcome:
    """Run the file, and test the machine that it trains."""
    names, seconds = run_file(code(job.model, job.seed, job.steps))
    machine = as_package(names["machine"])
    training = {"longest": names["longest"], "wrong_bits": round(names["mean"], 3)}  # at the end, a running mean
    grid = copying_grid(machine, mark_phases, LENGTHS, ROWS)
    found = {"training": training, "grid": grid, "heads": heads_of_loop(machine), "way_back": way_back(machine)}
    return Outcome(found | {"seconds": seconds}, machine)  # of the processor, for the training


SETTINGS = {
    "task": "copies of 1 to 20 vectors, phases marked", "batch": 16, "learning_rate": 3e-3, "warmup": 0,
    "max_grad_norm": 1.0, "betas": (0.9, 0.95),
    "training_rows": "length + 3 to 64", "test_rows": ROWS, "sequences": COUNT, "state": "the last one",
    "heads": f"{LOOP_LENGTH} vectors on {LOOP_ROWS} rows", "way_back": "40 vectors on 256 rows",
}  # fmt: skip
EXPERIMENT = Experiment("ntm_file", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
