"""Chapter 1's translator in one file with smaller states and longer trainings: what more steps and more room bring.

What is trained is the file itself, as it stands in the chapter, on lists of one or two numbers. It stays on the CPU, as
the file does.
"""

import random
from collections.abc import Mapping
from typing import Any

from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "01_seq2seq"
# D, the numbers in the state, and the trainings: steps, each with a schedule of its own.
TRAININGS = {8: (500, 2000, 8000), 16: (500, 2000, 8000), 64: (500, 2000)}
LONGEST = 2  # numbers in a list
COUNT = 300  # test lists of each length
# Of the models in the record: (D, steps).
MODELS = {f"{size}_for_{steps}": (size, steps) for size, trainings in TRAININGS.items() for steps in trainings}
STEPS = {name: steps for name, (_, steps) in MODELS.items()}


def code(name: str, seed: int, steps: int) -> str:
    """The file up to the end of its training, with a state of another size, this seed and so many steps."""
    size, _ = chosen(MODELS, name)
    return on_short_lists({"hidden=64": f"hidden={size}"}, seed, steps)


def on_short_lists(replaced: Mapping[str, str], seed: int, steps: int) -> str:
    """The file up to the end of its training, on lists of at most ``LONGEST`` numbers; ``replaced`` says what else."""
    common = {
        "torch.manual_seed(0)": "torch.manual_seed({seed})",
        "STEPS, draw = 700, random.Random(0)": "STEPS, draw = {steps}, random.Random({seed})",
        "draw.randint(1, 4)": f"draw.randint(1, {LONGEST})",
    }
    return file_of(CHAPTER, {**common, **replaced}, seed, steps, without=("alone-answer",))


def exact_matches(names: Mapping[str, Any], longest: int = LONGEST) -> dict[str, float]:
    """For each length up to ``longest``, the share of test lists that the trained file translates without a mistake."""
    draw = random.Random("test lists")
    shares = {}
    for length in range(1, longest + 1):
        lists = [names["random_list"](draw, length) for _ in range(COUNT)]
        wanted = [" , ".join(map(names["german"], numbers)) for numbers in lists]
        right = sum(one == other for one, other in zip(names["translate"](lists), wanted, strict=True))
        shares[str(length)] = round(right / COUNT, 4)
    return shares


def run(job: Job) -> Outcome:
    """Train the file with one size of the state, for one number of steps."""
    return measured(code(job.model, job.seed, job.steps))


def measured(text: str) -> Outcome:
    """What a file has learned when it has run."""
    names, spent = run_file(text)
    return Outcome({"exact_match": exact_matches(names), "loss": round(names["loss"].item(), 4), "seconds": spent})


SETTINGS = {
    "task": f"lists of one to {LONGEST} numbers below 1,000, English to German", "embedding": 32, "test_lists": COUNT,
    "batch": 64, "learning_rate": 8e-3,
    "warmup": {str(steps): steps * 3 // 10 for steps in TRAININGS[8]}, "max_grad_norm": 1.0,
}  # fmt: skip
EXPERIMENT = Experiment("state_sizes", STEPS, run, SETTINGS, on_cpu=True)
