"""Chapter 13's copying machine learns a second task: which vector of a list followed the one that comes again?

The machine of the file is trained as in the chapter, and then goes on with lists of different vectors and a question
behind each. It stays on the CPU, as the file does.
"""

import time
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.models import NTM
from attnbook.models.ntm_addressing import circular_shift, content_weights, interpolate
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.ntm_file import as_package, build, code, read_without
from attnruns.shared.chapter_file import run_file
from attnruns.shared.memory import TEST_SEED
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"13_ntm": 1400}  # after the 500 of the file
FILE_STEPS = 500
BITS, END, START, NEXT = 8, 8, 9, 10  # channels of the input, as in the file
SHORTEST, LONGEST = 5, 20  # lists of the training; it begins with at most 8
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": 3e-3, "warmup": 0, "max_grad_norm": 1.0}
MOST_ROWS, TEST_ROWS = 64, (64, 128, 256)
LENGTHS, COUNT = (5, 10, 20, 40), 200  # of the tests: vectors per list, lists of each length
FURTHER = 3  # outputs that are asked for to see whether the machine goes on


class Questions(NamedTuple):
    """Lists of different vectors, each with a question: one of them comes again, together with the end mark.

    inputs (B, length + 2 + answers, 11) · answers (B, answers, 8), the vectors that followed, wanted at the end ·
    at (B,), the number of the vector that comes again; vector k comes in at step k + 1, the question at length + 1.
    """

    inputs: Tensor
    answers: Tensor
    at: Tensor


def questions(length: int, count: int, random: torch.Generator | None = None, answers: int = 1) -> Questions:
    """Draw ``count`` lists of ``length`` different vectors and a question for each."""
    numbers = torch.rand(count, 2**BITS, generator=random).argsort(dim=1)[:, :length]
    vectors = (numbers[..., None] >> torch.arange(BITS) & 1).float()  # (B, length, 8)
    at = torch.randint(length - answers, (count,), generator=random)
    lists = torch.arange(count)
    inputs = torch.zeros(count, length + 2 + answers, BITS + 3)
    inputs[:, 0, START] = 1
    inputs[:, 1 : length + 1, :BITS] = vectors
    inputs[:, length + 1, :BITS] = vectors[lists, at]
    inputs[:, length + 1, END] = 1
    inputs[:, length + 2 :, NEXT] = 1
    return Questions(inputs, vectors[lists[:, None], at[:, None] + 1 + torch.arange(answers)], at)


def learn(names: dict[str, Any], seed: int, steps: int) -> tuple[nn.Module, dict[str, Any]]:
    """Train a copy of the file's machine on questions, with the names that the file left.

    Returns:
        the trained machine, and how far the lists have grown, with a running mean of the wrong bits.
    """
    torch.manual_seed(seed)
    machine: nn.Module = names["Machine"]()
    machine.load_state_dict(names["machine"].state_dict())
    optimiser = torch.optim.AdamW(machine.parameters(), lr=TRAINING["learning_rate"], betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (steps - step) / (0.3 * steps)))
    longest, mean = 8, 8.0
    for _ in range(steps):
        length = int(torch.randint(SHORTEST, longest + 1, ()))
        inputs, answers, _ = questions(length, TRAINING["batch"])
        rows = int(torch.randint(length + 3, MOST_ROWS + 1, ()))
        logits = names["run"](machine, inputs, rows=rows)[0][:, -1:]
        optimiser.zero_grad()
        F.binary_cross_entropy_with_logits(logits, answers).backward()
        nn.utils.clip_grad_norm_(machine.parameters(), TRAINING["max_grad_norm"])
        optimiser.step()
        schedule.step()
        mean += 0.04 * (names["wrong"](logits.detach(), answers) - mean)
        if mean < 1 and longest < LONGEST:
            longest, mean = longest + 2, 1.5
    return machine, {"longest": longest, "wrong_bits": round(mean, 3)}


def wrong_bits(logits: Tensor, answers: Tensor) -> list[float]:
    """Wrong bits of each answer, means over the lists."""
    bits = logits[:, -answers.shape[1] :] > 0
    return [round(one, 3) for one in (bits != (answers > 0.5)).float().sum(dim=-1).mean(dim=0).tolist()]


@evaluating
def tests(machine: NTM) -> dict[str, dict[str, float]]:
    """Wrong bits of 8 by the vectors of a list and the rows."""
    found: dict[str, dict[str, float]] = {}
    for length in LENGTHS:
        inputs, answers, _ = questions(length, COUNT, generator(TEST_SEED))
        found[str(length)] = {str(rows): wrong_bits(machine(inputs, rows)[0], answers)[0] for rows in TEST_ROWS}
    return found


class Search(NamedTuple):
    """The read head at the question: weights (B, N) after content, interpolation, shift, and those it ends with.

    ``written`` (B,) is the row that held the vector of the question when it came in first: the write head's.
    """

    found: Tensor
    mixed: Tensor
    moved: Tensor
    ends: Tensor
    written: Tensor


@evaluating
def search(machine: NTM, asked: Questions, rows: int) -> Search:
    """What the four steps of addressing do to the read head when the question comes."""
    question, lists = asked.inputs.shape[1] - 1 - asked.answers.shape[1], torch.arange(len(asked.at))
    state, before = machine.initial_state(len(asked.at), rows), None
    for x in asked.inputs[:, : question + 1].unbind(dim=1):
        before, (_, state) = state, machine.step(x, state)
    assert before is not None
    record = machine.record(asked.inputs, rows)
    asks = record.address
    key, beta, gate, shift = (field[:, question, :1] for field in (asks.key, asks.beta, asks.gate, asks.shift))
    found = content_weights(key, beta, before.memory)
    mixed = interpolate(found, before.weights[:, :1], gate)
    moved = circular_shift(mixed, shift)
    written = record.weights[lists, asked.at + 1, 1].argmax(dim=-1)
    return Search(found[:, 0], mixed[:, 0], moved[:, 0], record.weights[:, question, 0], written)


@evaluating
def way(machine: NTM, length: int = 10, rows: int = 64) -> dict[str, Any]:
    """Where the read head is at the question and after it, and what is left if it lacks the search at the question.

    "own" is the row of the vector that comes again, "behind" the row of the one that followed it.
    """
    asked = questions(length, COUNT, generator(TEST_SEED + 1), FURTHER)
    of, lists = search(machine, asked, rows), torch.arange(COUNT)
    places = {"own": of.written, "behind": (of.written + 1) % rows}
    logits, history = read_without(machine, asked.inputs, rows, (), ())
    without, _ = read_without(machine, asked.inputs, rows, ("content",), (length + 1,))
    again = (of.written[:, None] + 1 + torch.arange(FURTHER)) % rows  # (B, 3): from the question on
    steps = history[:, length + 1 : length + 1 + FURTHER].argmax(dim=-1)  # (B, 3)
    return {
        "found": {name: rounded_mean(of.found.argmax(dim=-1) == place) for name, place in places.items()},
        "ends": {name: rounded_mean(of.ends.argmax(dim=-1) == place) for name, place in places.items()},
        "weight": {name: rounded_mean(of.ends[lists, place]) for name, place in places.items()},
        "goes_on": [rounded_mean(one) for one in (steps == again).unbind(dim=1)],
        "wrong_bits": wrong_bits(logits, asked.answers), "without_search": wrong_bits(without, asked.answers),
    }  # fmt: skip


def run(job: Job) -> Outcome:
    """Run the file, let its machine learn the questions, and test it."""
    chosen(STEPS, job.model)
    names, seconds = run_file(code(job.model, job.seed, FILE_STEPS if job.steps == STEPS[job.model] else job.steps))
    started = time.process_time()
    learned, training = learn(names, job.seed, job.steps)
    seconds = round(seconds + time.process_time() - started, 1)  # of the processor, for both trainings
    machine = as_package(learned)
    found = {"training": training, "tests": tests(machine), "way": way(machine), "seconds": seconds}
    return Outcome(found, machine)


SETTINGS = {
    "task": f"lists of {SHORTEST} to {LONGEST} different vectors, "
    "one comes again with the end mark, the next is wanted",
    **TRAINING, "betas": (0.9, 0.95), "before": f"the chapter's file, {FILE_STEPS} steps",
    "training_rows": f"length + 3 to {MOST_ROWS}", "test_rows": TEST_ROWS, "lists": COUNT, "state": "the last one",
    "way": f"10 vectors on 64 rows, {FURTHER} outputs",
}  # fmt: skip
EXPERIMENT = Experiment("ntm_question", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
