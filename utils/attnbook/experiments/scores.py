"""The score zoo: one small decoder, one task, nine scores."""

from functools import cache

from torch import nn

from attnbook.attention import MLP, Additive, Cosine, Dot, General, Location, LocationAware, ScaledDot, Score
from attnbook.data.batching import Task
from attnbook.data.numbers import number_lists
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.seq2seq import TRAINING, train_and_measure
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything

DIM = 64  # features of queries and keys: half of chapter 02's model, so that nine scores train in minutes
HIDDEN = 32
PLACES = 64  # that the location score can point at; the longest test list has fewer words


@cache
def task() -> Task:
    """Lists of 1 to 4 numbers, and 6 and 8 beyond, made once a process."""
    return number_lists(longest=4, longer=(6, 8))


def make_score(name: str, dim: int = DIM, hidden: int = HIDDEN) -> Score:
    """Build a score by the name it has in chapter 03, for queries and keys of ``dim`` features."""
    scores = {
        "dot": lambda: Dot(),
        "scaled_dot": lambda: ScaledDot(),
        "cosine": lambda: Cosine(),
        "cosine_beta": lambda: Cosine(beta=10.0, learn_beta=True),
        "general": lambda: General(dim, dim),
        "additive": lambda: Additive(dim, dim, hidden),
        "mlp": lambda: MLP(dim, dim, hidden),
        "location": lambda: Location(dim, PLACES),
        "location_aware": lambda: LocationAware(dim, dim, hidden),
    }
    return scores[name]()


def build(name: str) -> nn.Module:
    """The attentive model of chapter 02, at half its width, with another score."""
    sizes = len(task().source_vocabulary), len(task().target_vocabulary)
    return AttentionSeq2Seq(*sizes, hidden=DIM, score=make_score(name))


def run(job: Job) -> Outcome:
    """Train and measure one score."""
    seed_everything(job.seed)
    return Outcome(train_and_measure(build(job.model), task(), job))


NAMES = ("dot", "scaled_dot", "cosine", "cosine_beta", "general", "additive", "mlp", "location", "location_aware")
EXPERIMENT = Experiment(
    "scores",
    dict.fromkeys(NAMES, 800),
    run,
    {"task": "number_lists(longest=4, longer=(6, 8))", "hidden": DIM, **TRAINING},
)
