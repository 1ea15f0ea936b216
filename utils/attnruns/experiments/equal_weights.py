"""Lists of numbers with equal weights: is the gain over one vector due to the weights, or to keeping all states?"""

from torch import nn

from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments import numbers
from attnruns.experiments.dates import Uniform
from attnruns.experiments.numbers import task
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

STEPS = {"uniform": numbers.STEPS["attention"]}
SCORES = {"uniform": Uniform}


def build(name: str) -> nn.Module:
    """A fresh model: that with attention of the experiment "numbers", but all its weights are equal."""
    sizes = len(task().source_vocabulary), len(task().target_vocabulary)
    return AttentionSeq2Seq(*sizes, hidden=numbers.RECIPES["attention"].hidden, score=chosen(SCORES, name)())


def run(job: Job) -> Outcome:
    """Train and measure one model, as in the experiment "numbers"."""
    seed_everything(job.seed)
    return Outcome(train_and_measure(build(job.model), task(), job))


EXPERIMENT = Experiment("equal_weights", STEPS, run, {"task": "number_lists()", **TRAINING})
