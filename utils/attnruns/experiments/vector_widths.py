"""Chapter 1's file with the same two networks and a narrower vector between them, at two lengths of training.

The control, k = 64, has the two further layers and nothing narrow.

What is trained is the file itself, as it stands in the chapter, on lists of one or two numbers. Two linear layers stand
after the encoder: from the 64 numbers of its state to ``k``, and back to 64. It stays on the CPU, as the file does.
"""

from attnruns.experiments.state_sizes import COUNT, LONGEST, measured, on_short_lists
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE = 64  # D, the numbers in the state of either network
# k, the numbers that pass, and the trainings: steps, each with a schedule of its own.
TRAININGS = dict.fromkeys((2, 4, 8, 16, SIZE), (1500, 4500))
# Of the models in the record: (k, steps).
MODELS = {f"{width}_for_{steps}": (width, steps) for width, trainings in TRAININGS.items() for steps in trainings}
STEPS = {name: steps for name, (_, steps) in MODELS.items()}
LAYER = "self.rnn = nn.GRU(embedding, hidden, batch_first=True)\n"
LAST = "states[torch.arange(len(source)), lengths - 1]"


def code(name: str, seed: int, steps: int) -> str:
    """The file up to the end of its training, with a vector of another width, this seed and so many steps."""
    width, _ = chosen(MODELS, name)
    narrow = f"self.narrow = nn.Sequential(nn.Linear(hidden, {width}), nn.Linear({width}, hidden))"
    return on_short_lists({LAYER: f"{LAYER}        {narrow}\n", LAST: f"self.narrow({LAST})"}, seed, steps)


def run(job: Job) -> Outcome:
    """Train the file with one width of the vector, for one number of steps."""
    return measured(code(job.model, job.seed, job.steps))


SETTINGS = {
    "task": f"lists of one to {LONGEST} numbers below 1,000, English to German", "embedding": 32, "hidden": SIZE,
    "test_lists": COUNT, "batch": 64, "learning_rate": 8e-3,
    "warmup": {str(steps): steps * 3 // 10 for steps in TRAININGS[2]}, "max_grad_norm": 1.0,
}  # fmt: skip
EXPERIMENT = Experiment("vector_widths", STEPS, run, SETTINGS, on_cpu=True)
