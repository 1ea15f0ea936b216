"""Whether eight plain layers learn if only their start, their learning rate or their optimiser is mended (chapter 05).

Task, wiring and number of steps are those of ``residual_sides``. Each control changes one thing. Two of them begin with
layers that keep a difference between two inputs: the outputs are multiplied by 4, which undoes two half-open gates, or
the matrix that makes the candidate of the memory cell begins as four times an orthogonal one. Four times the identity
passes on the input itself, too. Signals and gradients are measured before the training, in each layer of the encoder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import attend
from attnbook.data.batching import Batch, Task, shift_right
from attnbook.device import best_device
from attnbook.measure.evaluation import accuracy
from attnbook.models.gnmt import FIRST_RESIDUAL
from attnbook.models.seq2seq import Encoder
from attnbook.seeding import seed_everything
from attnbook.training.losses import sequence_loss, teacher_forcing_loss
from attnruns.experiments.residual_sides import EVERY, HIDDEN, RATE, TRAINING, WARMUP, Drawn, Translator, pairs, task
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

LAYERS, STEPS_EACH = 8, 700
FACTOR = 4.0  # undoes two gates that are half open
TINY = 1e-20  # an ε far below every gradient: Adam's step then does not depend on the scale of a gradient
MOMENTUM, SGD_RATE = 0.9, 0.5  # the rate with which the stack with residual connections learns

OPTIMISERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adamw": torch.optim.AdamW,
    "adam": partial(torch.optim.Adam, eps=TINY),
    "sgd": partial(torch.optim.SGD, momentum=MOMENTUM),
}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a translator of eight layers in each stack, and about its training.

    Fields:
        residual: whether both stacks have residual connections from the third layer on.
        factor: by which the outputs of the layers from the third on are multiplied.
        candidate: how the matrix from the layer below to the candidate of the memory cell begins, in all layers above
            the lowest: four times an "orthogonal" matrix or the "identity"; or as PyTorch draws it.
        rate: the learning rate after its rise. optimiser: a name in ``OPTIMISERS``.
    """

    residual: bool = False
    factor: float = 1.0
    candidate: str = ""
    rate: float = RATE
    optimiser: str = "adamw"

    def build(self, task: Task) -> "Controlled":
        """A fresh translator for a task."""
        return Controlled(task, self)

    def optimiser_of(self, model: "Controlled") -> Callable[..., torch.optim.Optimizer]:
        """What makes the optimiser of the parameters of such a translator."""
        return OPTIMISERS[self.optimiser]


RECIPES = {
    "scaled": Recipe(factor=FACTOR),
    "orthogonal": Recipe(candidate="orthogonal"),
    "identity": Recipe(candidate="identity"),
    "sgd_residual": Recipe(True, optimiser="sgd", rate=SGD_RATE),
    "sgd": Recipe(optimiser="sgd", rate=SGD_RATE),
    "adam": Recipe(optimiser="adam"),
    "rate_0.001": Recipe(rate=1e-3),
    "rate_0.01": Recipe(rate=1e-2),
}
STEPS = dict.fromkeys(RECIPES, STEPS_EACH)


class Controlled(Translator):
    """The translator of ``residual_sides``, with what a recipe changes about its layers."""

    def __init__(self, task: Task, recipe: Recipe) -> None:
        words = len(task.source_vocabulary), len(task.target_vocabulary)
        super().__init__(*words, LAYERS, recipe.residual, recipe.residual)
        self.residual, self.factor = recipe.residual, recipe.factor
        for lstm in [*self.encoder.upper, *self.upper]:
            candidate = lstm.weight_ih_l0.data[2 * HIDDEN : 3 * HIDDEN, :HIDDEN]  # the rows are those of i, f, g, o
            if recipe.candidate == "orthogonal":
                nn.init.orthogonal_(candidate, gain=FACTOR)
            elif recipe.candidate == "identity":
                candidate.copy_(FACTOR * torch.eye(HIDDEN))

    def passed_on(self, x: Tensor, out: Tensor, number: int, stack: str) -> Tensor:
        """What layer ``number`` of a stack, "encoder" or "decoder", passes on.

        ``x`` is its input and ``out`` the output of its LSTM, both ``(B, T, D)``.
        """
        if number < FIRST_RESIDUAL:
            return out
        return x + out if self.residual else self.factor * out

    def encoded(self, source: Tensor, lengths: Tensor) -> tuple[list[Tensor], Tensor]:
        """The outputs of the encoder's layers, ``(B, Tk, D)`` each, the lowest first, and the mask ``(B, Tk)``."""
        x, _, mask = Encoder.forward(self.encoder, source, lengths)
        outputs = [x]
        for number, lstm in enumerate(self.encoder.upper, start=2):
            outputs.append(self.passed_on(outputs[-1], lstm(outputs[-1])[0], number, "encoder"))
        return outputs, mask

    def forward(self, source: Tensor, lengths: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """``source (B, Tk)`` and the right words ``words (B, T)`` -> logits ``(B, T, V)``, weights ``(B, T, Tk)``."""
        return self.decoded(*self.encoded(source, lengths), words)

    def decoded(self, outputs: list[Tensor], mask: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """What :meth:`encoded` returned and the right words ``(B, T)`` -> what :meth:`forward` returns."""
        annotations = outputs[-1].masked_fill(~mask[..., None], 0.0)
        x, _ = self.lowest(self.embed(words))  # (B, T, D)
        query = F.pad(x, (0, 0, 1, -1))  # the output at the previous word; zeros at the first
        context, weights = attend(query, annotations, annotations, score=self.score, mask=mask[:, None])
        for number, lstm in enumerate(self.upper, start=2):
            x = self.passed_on(x, lstm(torch.cat([x, context], dim=-1))[0], number, "decoder")
        return self.output(x), weights


After = Callable[[Controlled, Mapping[str, Tensor]], dict[str, float]]


@torch.no_grad()
def signals(model: Controlled, first: Batch, second: Batch) -> list[float]:
    """For each encoder layer: the distance of its outputs by their norm, the mean of all pairs, at its largest word."""
    both = zip(*(model.encoded(batch.source, batch.lengths)[0] for batch in (first, second)), strict=True)
    apart = [((a - b).norm(dim=-1) / a.norm(dim=-1)).mean(dim=0).max() for a, b in both]
    return [float(f"{value:.3g}") for value in apart]


def gradients(model: Controlled, batch: Batch) -> list[float]:
    """The norm of the loss's gradient by the weights of each encoder layer, the lowest first; 0 of a frozen one."""
    model.zero_grad()
    teacher_forcing_loss(model, batch).backward()
    layers = [model.encoder.rnn, *model.encoder.upper]
    of_layers = [[p.grad.flatten() for p in layer.parameters() if p.grad is not None] for layer in layers]
    norms = [torch.cat(parts).norm().item() if parts else 0.0 for parts in of_layers]
    model.zero_grad()
    return [float(f"{value:.3g}") for value in norms]


def output_gradients(model: Controlled, batch: Batch) -> list[float]:
    """The norm of the loss's gradient by the outputs of each encoder layer, the lowest first."""
    outputs, mask = model.encoded(batch.source, batch.lengths)
    logits, _ = model.decoded(outputs, mask, shift_right(batch.target))
    return [of_layer.norm().item() for of_layer in torch.autograd.grad(sequence_loss(logits, batch.target), outputs)]


def controlled(job: Job, recipes: Mapping[str, Recipe], after: After | None = None) -> Outcome:
    """Train a translator; measure signals and gradients before, the top signal and the exact match on the way.

    ``after(model, first)`` is given the trained translator and copies of the weights with which its training began; the
    figures that it returns are added to the others.
    """
    seed_everything(job.seed)
    lists = task()
    recipe = chosen(recipes, job.model)
    model = recipe.build(lists).to(best_device())
    first, second = (batch.to(best_device()) for batch in pairs(lists))
    drawn = Drawn(lists)
    start = {"signals": signals(model, first, second)}
    start["gradients"] = gradients(model, drawn.batch_at(0, TRAINING["batch"], job.seed).to(best_device()))
    signal, exact = [start["signals"][-1]], []

    def watch(trained: nn.Module) -> float:
        signal.append(signals(model, first, second)[-1])
        exact.append(round(accuracy(trained, lists, lists.test), 4))
        return exact[-1]

    every = min(EVERY, job.steps)
    how = {"schedule": lambda step: recipe.rate * min(1, (step + 1) / WARMUP), "optimiser": recipe.optimiser_of(model)}
    begun = {name: weight.clone() for name, weight in model.state_dict().items()}
    history, figures = train(model, drawn, job, TRAINING, validate=watch, validate_every=every, **how)
    losses = chunk_means(history.losses, every, digits=4)
    figures |= {"start": start, "signal": signal, "losses": losses, "exact_match": exact, "every": every}
    return Outcome(figures | (after(model, begun) if after else {}))


def run(job: Job) -> Outcome:
    """Train a translator of this experiment."""
    return controlled(job, RECIPES)


EXPERIMENT = Experiment(
    "depth_controls",
    STEPS,
    run,
    {
        "task": "single_numbers(train=800, validation=0, test=200, below=1000)",
        "hidden": HIDDEN,
        **TRAINING,
        "factor": FACTOR,
        "adam_eps": TINY,
        "sgd_momentum": MOMENTUM,
    },
)
