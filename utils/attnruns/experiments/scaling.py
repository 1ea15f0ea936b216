"""How the loss falls with size and with text, and how it falls along a context (chapter 11).

Transformers of six sizes read the same captions, and one of them reads fewer. Beside them stand a trigram, which never
sees more than two words of its context, and SmolLM2, which predicts the same words of the book's prose after more and
more of what stands before them; its weights are those that ``python -m attnbook.pretrained smollm2`` fetched.
"""

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Task
from attnbook.data.texts.language import caption_task
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import best_device, device_of
from attnbook.measure.inside import surprises
from attnbook.models import KneserNey, LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained, load
from attnbook.models.pretrained.fetching import fetch
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import language_model_loss
from attnbook.training.progress import report_steps
from attnruns.experiments.real_model import text_tokens
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 7e-3, "warmup": 45, "max_grad_norm": 1.0}
CHOSEN_AT = 96  # the width at which language_model has chosen that rate
SHARED: dict[str, Any] = {"heads": 2, "layers": 2}
POSITIONS = 16  # of a caption whose loss is told apart
CONTEXTS = (2, 8, 32, 128, 512)  # tokens before those that SmolLM2 predicts
PREDICTED = 64  # tokens that it predicts after each context
SMOLLM2 = "smollm2"


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        width: features of a Transformer's word vectors, a multiple of 4; 0 for the trigram.
        steps: of training, with 64 captions each.
    """

    width: int
    steps: int

    def training(self, steps: int) -> dict[str, Any]:
        """How a model of this width trains for so many steps.

        Its highest learning rate falls with the root of the width: after 150 steps with one seed, the narrowest model
        was far better at 2e-2 (nearly what this rule gives it) than at 7e-3.
        """
        rate, warmup = (CHOSEN_AT / self.width) ** 0.5, TRAINING["warmup"] * steps / LONGEST
        rounded = {"learning_rate": round(TRAINING["learning_rate"] * rate, 4), "warmup": max(1, round(warmup))}
        return {**TRAINING, **rounded}

    def build(self, task: Task) -> nn.Module:
        """A fresh Transformer, or a trigram that has counted the training part."""
        size = len(task.target_vocabulary)
        if self.width == 0:
            return KneserNey((task.target_vocabulary.encode(example.target) for example in task.train), size)
        return LanguageModel(size, TransformerConfig(d_model=self.width, d_ff=4 * self.width, **SHARED))


LONGEST, MIDDLE = 453, 84  # 453 · 64 captions: none is read twice
RECIPES = {f"width_{width}": Recipe(width, LONGEST) for width in (12, 20, 32, 52, MIDDLE, 128)}
RECIPES |= {f"steps_{steps}": Recipe(MIDDLE, steps) for steps in (14, 28, 57, 113, 227)}
RECIPES |= {"trigram": Recipe(0, 1)}
STEPS = {**{name: recipe.steps for name, recipe in RECIPES.items()}, SMOLLM2: 9}  # texts of each seed


def build(name: str) -> nn.Module:
    """A fresh model of this experiment."""
    return chosen(RECIPES, name).build(caption_task().task)


def non_embedding(model: nn.Module) -> int:
    """Parameters beside the vectors of words, which Kaplan et al. leave out as well."""
    embedded = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    return sum(weight.numel() for weight in model.parameters() if id(weight) not in embedded)


@evaluating
def by_position(model: nn.Module, task: Task) -> Tensor:
    """Nats with which each word of the test captions surprises, ``(captions, longest)``; NaN behind the last."""
    target = task.collate(task.test).target.to(device_of(model))  # (B, T)
    rows = [nn.functional.cross_entropy(model(shift_right(part))[0].mT, part, reduction="none", ignore_index=PAD)
            for part in target.split(100)]  # fmt: skip
    return torch.cat(rows).masked_fill(target == PAD, torch.nan).cpu().double()


def measure(model: nn.Module, task: Task) -> dict[str, Any]:
    """Nats per word of the test captions, and the same for each position."""
    nats = by_position(model, task)
    means = nats[:, :POSITIONS].nanmean(dim=0)
    return {"held_out": round(nats.nanmean().item(), 4), "by_position": [round(one.item(), 4) for one in means]}


def tokens_read(task: Task, job: Job) -> int:
    """How many words a training predicts, those that it sees again counted again."""
    batches = (task.batch_at(step, TRAINING["batch"], job.seed).target for step in range(job.steps))
    return sum(int(target.ne(PAD).sum()) for target in batches)


@evaluating
def after_contexts(pretrained: Pretrained, texts: Tensor) -> dict[str, float]:
    """Nats per token of the last PREDICTED tokens of ``texts (B, T)``, by the number of tokens read before them."""
    nats = {}
    for context in CONTEXTS:
        read = texts[:, -PREDICTED - context :].to(device_of(pretrained.model))
        losses = [surprises(pretrained.model(words[None])[0], words[None])[:, -PREDICTED:] for words in read]
        nats[str(context)] = rounded_mean(torch.cat(losses))
    return nats


def texts_of(tokens: Tensor, count: int, seed: int) -> Tensor:
    """``(count, T)`` texts as long as the longest context and what is predicted after it; no two seeds share one."""
    length = CONTEXTS[-1] + PREDICTED
    return tokens[: len(tokens) // length * length].view(-1, length)[seed * count :][:count]


def in_context(job: Job) -> dict[str, Any]:
    """What SmolLM2 makes of longer contexts."""
    start, pretrained = time.process_time(), load(fetch(SMOLLM2), torch.bfloat16, fused=True)
    pretrained.model.to(best_device())
    nats = after_contexts(pretrained, texts_of(text_tokens(pretrained), job.steps, job.seed))
    report_steps(job.steps)
    return {"after": nats, "seconds": round(time.process_time() - start, 1)}


def run(job: Job) -> Outcome:
    """Train and measure one model, or measure SmolLM2."""
    if job.model == SMOLLM2:
        return Outcome(in_context(job))
    seed_everything(job.seed)
    task, model = caption_task().task, build(job.model)
    if isinstance(model, KneserNey):
        return Outcome({"counts": model.counts(), "seconds": 0.0, **measure(model, task)})
    training = chosen(RECIPES, job.model).training(job.steps)
    _, figures = train(model, task, job, training, loss=language_model_loss)
    figures |= {"non_embedding": non_embedding(model), "tokens": tokens_read(task, job)}
    return Outcome({**figures, **measure(model, task)})


SETTINGS = {
    "task": "caption_task(); for smollm2 the book's prose",
    "widths": {name: recipe.width for name, recipe in RECIPES.items()}, **SHARED, "chosen_at": CHOSEN_AT,
    "contexts": CONTEXTS, "predicted": PREDICTED, **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("scaling", STEPS, run, SETTINGS)
