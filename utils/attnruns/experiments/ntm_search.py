"""What the machines of Chapter 13's file use their search for while they copy: stored machines, nothing is trained.

The read head lacks the search while it waits or at the end mark, or its search finds all rows alike while it waits, or
its weights are made equal, and it is looked up on which row the head is at the mark. Shift and sharpening leave equal
weights as they are, so after this only the search can find a row. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Collection

import torch
from torch import Tensor

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM
from attnbook.models.ntm_addressing import address, read
from attnbook.modes import evaluating
from attnruns.experiments import ntm_file
from attnruns.shared.grid import LENGTHS
from attnruns.shared.memory import TEST_SEED
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"13_ntm": 1}
LISTS, ROWS = 200, 256  # of each length; rows of the memory
LENGTH = 40  # vectors where the weights are made equal
EARLIER = (0, 1, 2, 5, 39)  # how many steps before the end mark
SLIPS = 10  # a copy may come so many vectors too early or too late


@evaluating
def read_from_equal(machine: NTM, inputs: Tensor, rows: int, at: int) -> tuple[Tensor, Tensor]:
    """Logits ``(B, T, 8)`` and the read head's weights ``(B, T, N)``, if these are set to ``1 / N`` before a step."""
    state, outputs, history = machine.initial_state(len(inputs), rows), [], []
    for number, x in enumerate(inputs.unbind(dim=1)):
        if number == at:
            equal = torch.full_like(state.weights[:, :1], 1 / rows)
            state = state._replace(weights=torch.cat([equal, state.weights[:, 1:]], dim=1))
        logits, state = machine.step(x, state)
        outputs.append(logits)
        history.append(state.weights[:, 0])
    return torch.stack(outputs, dim=1), torch.stack(history, dim=1)


@evaluating
def read_alike(machine: NTM, inputs: Tensor, rows: int, at: Collection[int]) -> tuple[Tensor, Tensor]:
    """As :func:`read_from_equal`, but the search gives each row ``1 / N`` at some times; the gate mixes as before."""
    state, outputs, history = machine.initial_state(len(inputs), rows), [], []
    for number, x in enumerate(inputs.unbind(dim=1)):
        before = state
        logits, state = machine.step(x, before)
        if number in at:
            hidden = machine.controller.hidden(state.controller)  # (B, D)
            emitted = machine.address(hidden)
            blind = address(emitted._replace(beta=torch.zeros_like(emitted.beta)), before.weights, before.memory)
            weights = torch.cat([blind[:, :1], state.weights[:, 1:]], dim=1)  # (B, 2, N)
            state = state._replace(weights=weights, reads=read(state.memory, weights[:, :1]))
            logits = machine.output(torch.cat([hidden, state.reads[:, 0]], dim=-1))
        outputs.append(logits)
        history.append(state.weights[:, 0])
    return torch.stack(outputs, dim=1), torch.stack(history, dim=1)


def slipped(bits: Tensor, wanted: Tensor, most: int = SLIPS) -> Tensor:
    """The share of wrong bits of each list, ``(B,)``, if its copy may begin too early or too late.

    ``bits`` and ``wanted``, ``(B, L, 8)``, are compared at all shifts by up to ``most`` vectors, but by less than half
    of the list; the least share counts.
    """
    length = wanted.shape[1]
    most = min(most, (length - 1) // 2)
    shares = []
    for late in range(-most, most + 1):
        given = bits[:, max(0, late) : length + min(0, late)]
        expected = wanted[:, max(0, -late) : length - max(0, late)]
        shares.append((given != expected).float().mean(dim=(1, 2)))
    return torch.stack(shares).amin(dim=0)


def figures(logits: Tensor, weights: Tensor, wanted: Tensor) -> dict[str, float]:
    """Of copies of ``wanted``, ``(B, L, 8)``: what went wrong, and where the read head was.

    Returns:
        "wrong", the share of wrong bits, and "slipped", that share if a copy may come too early or too late; "off", the
        share of the lists at whose end mark the head is on another row than 0; its mean weight on row 0 "before" the
        mark and "at_mark".
    """
    length = wanted.shape[1]
    mark, bits = length + 1, logits[:, length + 2 :] > 0
    return {
        "wrong": rounded_mean(bits != wanted), "slipped": rounded_mean(slipped(bits, wanted)),
        "off": rounded_mean(weights[:, mark].argmax(dim=-1) != 0),
        "before": rounded_mean(weights[:, mark - 1, 0]), "at_mark": rounded_mean(weights[:, mark, 0]),
    }  # fmt: skip


def lists_of(length: int) -> tuple[Tensor, Tensor]:
    """Inputs ``(B, 2 · length + 2, 11)``, with the end mark at ``length + 1``, and the bits that are wanted."""
    bits = mark_phases(copy_batch(length, LISTS, TEST_SEED))
    return bits.inputs, bits.target[:, length + 2 :] > 0.5


def without_search(machine: NTM, length: int) -> dict[str, dict[str, float]]:
    """The figures if nothing is changed, if the read head lacks the search while it waits or at the mark, and if its
    search finds all rows "alike" while it waits.
    """
    inputs, wanted = lists_of(length)
    times: dict[str, Collection[int]] = {"nothing": (), "waiting": range(1, length + 1), "mark": (length + 1,)}
    done = {name: ntm_file.read_without(machine, inputs, ROWS, ("content",), at) for name, at in times.items()}
    done["alike"] = read_alike(machine, inputs, ROWS, times["waiting"])
    return {name: figures(logits, weights, wanted) for name, (logits, weights) in done.items()}


def from_equal(machine: NTM) -> dict[str, dict[str, float]]:
    """The figures if the read head's weights are made equal so many steps before the mark."""
    inputs, wanted = lists_of(LENGTH)
    return {
        str(steps): figures(*read_from_equal(machine, inputs, ROWS, LENGTH + 1 - steps), wanted) for steps in EARLIER
    }


def run(job: Job) -> Outcome:
    """Test one stored machine."""
    chosen(STEPS, job.model)
    start, machine = time.process_time(), ntm_file.trained(job.model, job.seed)
    by_length = {str(length): without_search(machine, length) for length in LENGTHS}
    found = {"by_length": by_length, "equal": from_equal(machine)}
    return Outcome(found | {"seconds": round(time.process_time() - start, 1)})


SETTINGS = {
    "task": "copies, phases marked", "batch": LISTS, "machines": "those of ntm_file, as they were kept",
    "by_length": f"{LISTS} lists of each length on {ROWS} rows",
    "waiting": "from the first vector to the last, as 'alike'",
    "equal": f"{LENGTH} vectors on {ROWS} rows", "slips": f"up to {SLIPS} vectors",
}  # fmt: skip
EXPERIMENT = Experiment("ntm_search", STEPS, run, SETTINGS, on_cpu=True)
