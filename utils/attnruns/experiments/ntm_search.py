"""Whether the machines of Chapter 13's file search while they copy: stored machines, nothing is trained.

The read head's weights are made equal, or it lacks the search, and the wrong bits are counted. Shift and sharpening
leave equal weights as they are, so after this only the search can find a row. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM
from attnbook.modes import evaluating
from attnruns.experiments import ntm_file
from attnruns.shared.grid import LENGTHS, copying_grid
from attnruns.shared.memory import TEST_SEED, wrong_bits
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"13_ntm": 1}
LISTS, ROWS = 100, 256  # of each length; rows of the memory
LENGTH = 40  # vectors where the search is tested
EARLIER = (0, 5)  # how many steps before the end mark the weights are made equal


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


def searches(machine: NTM) -> dict[str, dict[str, float]]:
    """The share of wrong bits, and the read head's weight on row 0 before the end mark and at it.

    Returns:
        ``{what is done: figures}``: "nothing"; "equal 0" and "equal 5", the weights are made equal so many steps before
        the mark; "closed", the head lacks the search from the first vector up to the mark; "closed at the mark".
    """
    bits, mark = mark_phases(copy_batch(LENGTH, LISTS, TEST_SEED)), LENGTH + 1
    times: dict[str, Sequence[int]] = {"nothing": (), "closed": range(1, mark + 1), "closed at the mark": (mark,)}
    done = {name: ntm_file.read_without(machine, bits.inputs, ROWS, ("content",), at) for name, at in times.items()}
    done |= {f"equal {steps}": read_from_equal(machine, bits.inputs, ROWS, mark - steps) for steps in EARLIER}
    return {
        name: {
            "wrong": round(wrong_bits(logits, bits) / (8 * LENGTH), 4),
            "before": rounded_mean(weights[:, mark - 1, 0]), "at_mark": rounded_mean(weights[:, mark, 0]),
        }
        for name, (logits, weights) in done.items()
    }  # fmt: skip


def run(job: Job) -> Outcome:
    """Test one stored machine."""
    chosen(STEPS, job.model)
    start, machine = time.process_time(), ntm_file.trained(job.model, job.seed)
    grid = copying_grid(machine, mark_phases, LENGTHS, (ROWS,), LISTS)
    return Outcome({"grid": grid, "searches": searches(machine), "seconds": round(time.process_time() - start, 1)})


SETTINGS = {
    "task": "copies, phases marked", "batch": LISTS, "machines": "those of ntm_file, as they were kept",
    "grid": f"{LISTS} lists of each length on {ROWS} rows", "searches": f"{LENGTH} vectors on {ROWS} rows",
}  # fmt: skip
EXPERIMENT = Experiment("ntm_search", STEPS, run, SETTINGS, on_cpu=True)
