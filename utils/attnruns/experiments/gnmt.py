"""Deep recurrent translation on lists of numbers: two, four and eight layers, with and without residual connections.

Whether a deep plain stack fails because it is deep, or because of one learning rate, one length of training or one
way to draw the first weights, is asked by further recipes (chapter 05).
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Batch, Example, Task
from attnbook.data.symbols.numbers import COMMA
from attnbook.decoding import beam
from attnbook.device import best_device, device_of
from attnbook.measure.evaluation import groups_by_size
from attnbook.measure.gradients import layer_gradient_norms
from attnbook.measure.metrics import exact_match
from attnbook.models import GNMT
from attnbook.seeding import seed_everything
from attnbook.training import teacher_forcing_loss
from attnruns.experiments.scores import task
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure

GATES = 4  # input, forget, cell and output: this is how torch stacks the weights of an LSTM
MEASUREMENTS = 3  # how often gradients are measured while a model trains
PENALTIES = (0.0, 0.2, 1.0)  # alpha and beta that a search is tried with; 0.2 and 0.2 in Wu et al. 2016
WIDTH = 4  # of these searches


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model and its training.

    Fields:
        layers: of the encoder, and of the decoder.
        residual: whether layers from the third on have residual connections.
        learning_rate, steps: of the training.
        start: how the first weights are drawn: ``None`` as torch does, else ``"forget"`` or ``"orthogonal"``.
        hidden: features of a layer's output.
        searched: whether the trained model is searched with the penalties, and the weights of seed 0 are kept.
    """

    layers: int
    residual: bool = False
    learning_rate: float = TRAINING["learning_rate"]
    steps: int = 450
    start: str | None = None
    hidden: int = 96
    searched: bool = False

    def build(self, task: Task) -> GNMT:
        """A fresh model for a task."""
        words = len(task.source_vocabulary), len(task.target_vocabulary)
        model = GNMT(*words, hidden=self.hidden, layers=self.layers, residual=self.residual)
        if self.start is not None:
            STARTS[self.start](model)
        return model


# The paper's residual connections begin in the third layer, so with two layers there is one model, not two.
RECIPES = {
    "plain_2": Recipe(2),
    "plain_4": Recipe(4),
    "plain_8": Recipe(8),
    "residual_4": Recipe(4, residual=True),
    "residual_8": Recipe(8, residual=True),
    "plain_8_slow": Recipe(8, learning_rate=1e-3),
    "plain_8_fast": Recipe(8, learning_rate=1e-2),
    "plain_8_long": Recipe(8, steps=900),
    "plain_8_forget": Recipe(8, start="forget"),
    "plain_8_orthogonal": Recipe(8, start="orthogonal"),
    "small": Recipe(4, residual=True, hidden=48, steps=900, searched=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


# ---- two ways to draw the first weights of an LSTM that are known to help


def _gates(model: nn.Module, kind: str) -> list[Tensor]:
    """The parameters ``weight_…`` or ``bias_…`` of every LSTM layer, gate by gate: they share the model's memory."""
    of_lstms = [part for part in model.modules() if isinstance(part, nn.LSTM | nn.LSTMCell)]
    found = [p for part in of_lstms for name, p in part.named_parameters() if name.startswith(kind)]
    return [gate for parameter in found for gate in parameter.detach().chunk(GATES)]


def open_forget_gates(model: nn.Module) -> None:
    """Let every LSTM remember at first: a bias of one in its forget gates.

    Source: Jozefowicz et al. 2015, section 2.2. Torch adds two biases up, so each is a half.
    """
    for gate in _gates(model, "bias_")[1::GATES]:  # the second of the four gates
        gate.fill_(0.5)


def draw_orthogonal(model: nn.Module) -> None:
    """Draw every gate's weights as an orthogonal matrix, which changes no vector's length.

    Source: Saxe et al. 2014, section 3.
    """
    for gate in _gates(model, "weight_"):
        nn.init.orthogonal_(gate)


STARTS = {"forget": open_forget_gates, "orthogonal": draw_orthogonal}


# ---- what is measured


def three_digits(number: float) -> float:
    """A number rounded to three digits that count, however small it is."""
    return float(f"{number:.3g}")


class Watch:
    """Called by ``fit`` now and then: notes the gradient norm of each layer on one batch, and returns minus the loss.

    Args:
        batch: on which gradients are measured; always the same.

    Attributes:
        seen: ``{"loss": …, "encoder": [lowest layer first], "decoder": […]}``, one for each call.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.seen: list[dict[str, Any]] = []

    def __call__(self, model: GNMT) -> float:
        with torch.backends.cudnn.flags(enabled=False):  # cuDNN's LSTM gives no gradients in evaluation mode
            loss = teacher_forcing_loss(model, self.batch.to(device_of(model)))
        norms = {name: layer_gradient_norms(layers, loss) for name, layers in model.lstm_layers().items()}
        rounded = {name: [three_digits(norm) for norm in of_stack] for name, of_stack in norms.items()}
        self.seen.append({"loss": round(loss.item(), 4), **rounded})
        return -loss.item()


def written(model: GNMT, task: Task, examples: list[Example], alpha: float, beta: float) -> list[list[str]]:
    """The words of the best of ``WIDTH`` beams for each example, without the end symbol."""
    batch = task.collate(examples).to(next(model.parameters()).device)
    longest = batch.target.shape[1] * 5 // 4
    found = beam(model, batch.source, batch.lengths, max_length=longest, width=WIDTH, alpha=alpha, beta=beta)
    return [task.target_vocabulary.decode(row) for row in found.tokens[:, 0].tolist()]


def compare(answers: list[list[str]], usual: list[list[str]], examples: list[Example]) -> dict[str, float]:
    """What became of a search: exact match, part of the answers that differ from the usual ones, and how long they are.

    ``words``: words written per word of the targets. ``items``: numbers written per number of the targets.
    """
    targets = [list(example.target) for example in examples]
    items = sum(answer.count(COMMA) + 1 for answer in answers) / sum(target.count(COMMA) + 1 for target in targets)
    figures = {
        "exact_match": exact_match(answers, targets),
        "changed": 1 - exact_match(answers, usual),
        "words": sum(map(len, answers)) / sum(map(len, targets)),
        "items": items,
    }
    return {name: round(figure, 4) for name, figure in figures.items()}


def search(model: GNMT, task: Task) -> list[dict]:
    """:func:`compare` by size for each alpha and beta of ``PENALTIES``, with up to 100 lists of each size."""
    groups = {size: examples[:100] for size, examples in groups_by_size(task).items()}
    usual = {size: written(model, task, those, 0.0, 0.0) for size, those in groups.items()}
    found = []
    for alpha, beta in product(PENALTIES, repeat=2):
        by_size = {
            str(size): compare(written(model, task, those, alpha, beta), usual[size], those)
            for size, those in groups.items()
        }
        found.append({"alpha": alpha, "beta": beta, "by_size": by_size})
    return found


# ---- the experiment


def build(name: str, other: Task | None = None) -> GNMT:
    """A fresh model of this experiment, for its task or another one."""
    return chosen(RECIPES, name).build(task() if other is None else other)


def run(job: Job) -> Outcome:
    """Train and measure one model; gradients before the training and at each third of it."""
    recipe = RECIPES[job.model]
    seed_everything(job.seed)
    model = build(job.model).to(best_device())
    watch = Watch(task().collate(task().validation[: TRAINING["batch"]]))
    watch(model)
    every = max(1, job.steps // MEASUREMENTS)
    training = {**TRAINING, "learning_rate": recipe.learning_rate, "validate": watch, "validate_every": every}
    figures = train_and_measure(model, task(), job, training)
    figures["milliseconds_per_step"] = round(1000 * figures["seconds"] / job.steps, 1)
    at = [0, *range(every, job.steps, every), job.steps]
    figures["gradient_norms"] = [{"step": step, **seen} for step, seen in zip(at, watch.seen, strict=True)]
    if recipe.searched:
        figures["search"] = search(model, task())
    return Outcome(figures, model if recipe.searched and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "gnmt",
    STEPS,
    run,
    {"task": "number_lists(longest=4, longer=(6, 8))", "hidden": 96, "search_width": WIDTH, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
