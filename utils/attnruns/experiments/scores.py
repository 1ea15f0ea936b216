"""The score zoo: one small decoder, one task, nine scores."""

from functools import cache

from torch import nn

from attnbook.attention import MLP, Additive, Cosine, Dot, General, Location, LocationAware, ScaledDot, Score
from attnbook.data.batching import Task
from attnbook.data.symbols.numbers import number_lists
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

HIDDEN = 64  # features of queries and keys: half of chapter 02's model, so that nine scores train in minutes
SCORE_HIDDEN = 32
PLACES = 64  # that the location score can point at; the longest test list has fewer words


@cache
def task() -> Task:
    """Lists of 1 to 4 numbers, and 6 and 8 beyond, made once a process."""
    return number_lists(longest=4, longer=(6, 8))


def make_score(name: str, hidden: int = HIDDEN, score_hidden: int = SCORE_HIDDEN) -> Score:
    """A score by the name it has in chapter 03, for queries and keys of ``hidden`` features.

    Raises:
        ValueError: if there is none of that name.
    """
    scores = {
        "dot": lambda: Dot(),
        "scaled_dot": lambda: ScaledDot(),
        "cosine": lambda: Cosine(),
        "cosine_beta": lambda: Cosine(beta=10.0, learn_beta=True),
        "general": lambda: General(hidden, hidden),
        "additive": lambda: Additive(hidden, hidden, score_hidden),
        "mlp": lambda: MLP(hidden, hidden, score_hidden),
        "location": lambda: Location(hidden, PLACES),
        "location_aware": lambda: LocationAware(hidden, hidden, score_hidden),
    }
    return chosen(scores, name)()


def build(name: str) -> nn.Module:
    """The attentive model of chapter 02, at half its width, with another score."""
    sizes = len(task().source_vocabulary), len(task().target_vocabulary)
    return AttentionSeq2Seq(*sizes, hidden=HIDDEN, score=make_score(name))


def run(job: Job) -> Outcome:
    """Train and measure one score."""
    seed_everything(job.seed)
    return Outcome(train_and_measure(build(job.model), task(), job))


NAMES = ("dot", "scaled_dot", "cosine", "cosine_beta", "general", "additive", "mlp", "location", "location_aware")
EXPERIMENT = Experiment(
    "scores",
    dict.fromkeys(NAMES, 800),
    run,
    {"task": "number_lists(longest=4, longer=(6, 8))", "hidden": HIDDEN, **TRAINING},
)
