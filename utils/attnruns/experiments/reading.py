"""Two readers on sentences with a distant subject: an LSTM, and one with attention to all its states (chapter 07)."""

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Example, Task
from attnbook.data.symbols.agreement import agreement_sentences, attractors, other_number, subject_and_verb
from attnbook.measure.evaluation import groups_by_size
from attnbook.models import LSTMN, LSTMLanguageModel
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import language_model_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

STEPS = {"lstm": 1200, "lstmn": 1200}
KINDS = {"lstm": LSTMLanguageModel, "lstmn": LSTMN}
TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 6e-3, "warmup": 100, "max_grad_norm": 1.0}
VALIDATE_EVERY = 100  # steps between two looks at the verbs of the validation sentences
KEEP = {"lstm", "lstmn"}


@cache
def task() -> Task:
    """The task, made once a process."""
    return agreement_sentences()


def build(name: str, other: Task | None = None) -> nn.Module:
    """A reader with states of 64 features and word vectors of 32. Raises ValueError for a name that there is not."""
    return chosen(KINDS, name)(len((task() if other is None else other).source_vocabulary))


class AtTheVerb(NamedTuple):
    """What a reader does when it is about to read the verb, sentence by sentence; its last word is the one before.

    Fields:
        right: ``(B,)`` bool, whether the verb in its right number is likelier than in the wrong one.
        share: ``(B,)``, weight on the subject; ``None`` for a reader without attention. NaN where the subject is the
            last word itself, which is not yet past.
        even: ``(B,)``, the weight that the subject would have if all positions had the same.
        top: ``(B,)`` bool, whether no position has more weight than the subject.
    """

    right: Tensor
    share: Tensor | None = None
    even: Tensor | None = None
    top: Tensor | None = None


@evaluating
def at_the_verb(model: nn.Module, task: Task, examples: list[Example]) -> AtTheVerb:
    """Let ``model`` read ``examples`` and watch it at the verb. After Linzen et al. 2016."""
    target = task.collate(examples).target.to(next(model.parameters()).device)
    logits, weights = model(shift_right(target))  # row t has read t words, and guesses word t
    subject, verb = torch.tensor([subject_and_verb(example) for example in examples]).to(target.device).T  # (B,) each
    rows = torch.arange(len(examples), device=target.device)
    verbs = [example.source[position] for example, position in zip(examples, verb.tolist(), strict=True)]
    wrong = torch.tensor(task.target_vocabulary.encode(map(other_number, verbs)), device=target.device)
    scores = logits[rows, verb]  # (B, V)
    right = scores[rows, target[rows, verb]] > scores[rows, wrong]
    if weights is None:
        return AtTheVerb(right)
    weights = weights[rows, verb]  # (B, T), over the positions of the start symbol and of all words but the last
    share = weights[rows, subject + 1].masked_fill(verb == subject + 1, torch.nan)  # word i stands at position i + 1
    return AtTheVerb(right, share, 1 / verb, weights[rows, subject + 1] == weights.amax(dim=-1))


def measure(model: nn.Module, task: Task, examples: list[Example]) -> dict[str, float]:
    """Means over ``examples`` of what :class:`AtTheVerb` holds; ``attracted``: right with a noun of the other number.

    ``attracted`` is left out where no sentence has an attractor, the shares where the subject is the word just read.
    """
    seen = at_the_verb(model, task, examples)
    figures = {"right": rounded_mean(seen.right)}
    hard = torch.tensor([bool(attractors(example)) for example in examples], device=seen.right.device)
    if hard.any():
        figures["attracted"] = rounded_mean(seen.right[hard])
    shares = {"share": seen.share, "even": seen.even, "top": seen.top}
    if seen.share is not None and not seen.share.isnan().any():
        figures |= {name: rounded_mean(values) for name, values in shares.items() if values is not None}
    return figures


def measure_by_size(model: nn.Module, task: Task) -> dict[str, dict[str, float]]:
    """:func:`measure` by the number of words between subject and verb, those never trained on too."""
    return {str(size): measure(model, task, examples) for size, examples in groups_by_size(task).items()}


def train_and_measure(model: nn.Module, task: Task, job: Job) -> dict:
    """Train for ``job.steps`` steps; return parameters, CPU seconds, loss, verbs while training, and verbs by size."""
    hard = [example for example in task.validation if attractors(example)]
    history, figures = train(
        model,
        task,
        job,
        TRAINING,
        loss=language_model_loss,
        validate=lambda model: at_the_verb(model, task, hard).right.float().mean().item(),
        validate_every=VALIDATE_EVERY,
    )
    return {
        **figures,
        "attracted_while_training": [[step, round(right, 4)] for step, right in history.validations],
        "by_size": measure_by_size(model, task),
    }


def run(job: Job) -> Outcome:
    """Train and measure one reader."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job)
    return Outcome(figures, model if job.model in KEEP and job.seed == 0 else None)


EXPERIMENT = Experiment("reading", STEPS, run, {"task": "agreement_sentences()", "hidden": 64, **TRAINING}, build=build)
trained = EXPERIMENT.trained
