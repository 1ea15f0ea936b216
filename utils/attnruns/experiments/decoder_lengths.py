"""Copying beyond the trained length by one causal stack, as GPT has it, with nine kinds of positions (chapter 17)."""

import torch
from torch import Tensor, nn

from attnbook.attention import Drawn, HardBias, RandomRotary, WindowedRotary
from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import SPECIAL
from attnbook.device import device_of
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.language_model import LanguageModelState
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnbook.training import sequence_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

LETTERS, LENGTHS = 26, (2, 12)  # an alphabet, and the letters of a training string
SIZES = (2, 4, 6, 8, 10, 12, 15, 18, 24, 48)  # 12 is the trained length; then 1.25, 1.5, 2 and 4 times as many
TESTS, TEST_SEED = 200, 0  # strings of each size; training begins at 1,000,003
SEPARATOR = len(SPECIAL) + LETTERS  # the sign between a string and its copy
DRAWN_FROM = 100  # random positions come from 0 … 99; a string of 48 with its copy takes 96
WINDOWS = {"hard": (2, 3, None, None), "hard_4": (2, 3, 4, None)}  # words that the four heads of Hard-ALiBi see
WINDOW = {"rotary_window": 4, "rotary_window_3": 3}  # words that the first layer sees with windowed rotary positions
TRAINING = {"batch": 64, "learning_rate": 5e-3, "warmup": 100, "max_grad_norm": 1.0}
KEPT = ("rotary", "hard", "rotary_window")  # whose weights of seed 0 stay
STEPS = dict.fromkeys(("none", "learned", "rotary", "linear_bias", *WINDOWS, *WINDOW, "random_rotary"), 1200)
HALF = "window_then_rotary"  # the first layer of rotary_window, but rotary positions in the second
KINDS = dict.fromkeys((*STEPS, "sinusoidal", HALF))  # the last ones are trained in decoder_reach only


def strings(count: int, size: int, seed: int) -> Batch:
    """``count`` strings of ``size`` drawn letters: source ``(B, size)``, and the same letters as the target."""
    letters = torch.randint(len(SPECIAL), SEPARATOR, (count, size), generator=generator(seed))  # (B, size)
    return Batch(letters, torch.full((count,), size), letters)


class Strings:
    """The lessons: every step new strings, all of one length, which is drawn anew."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        of_step = seed_of_step(seed, step)
        size = int(torch.randint(LENGTHS[0], LENGTHS[1] + 1, (), generator=generator(of_step)))
        return strings(batch_size, size, of_step)


class Copier(LanguageModel):
    """A language model that reads *string, separator, copy*; where positions are random, each reading draws its own.

    Args:
        kind: a name of ``KINDS``.
    """

    def __init__(self, kind: str) -> None:
        chosen(KINDS, kind)
        plain = "none" if kind in (*WINDOWS, *WINDOW) else "rotary" if kind in ("random_rotary", HALF) else kind
        super().__init__(SEPARATOR + 1, TransformerConfig(positions=plain, max_length=DRAWN_FROM))
        self.drawn = Drawn(DRAWN_FROM) if kind == "random_rotary" else None
        first, *_ = attentions = [layer.self_attention for layer in self.blocks.layers]
        if kind in WINDOW:
            first.positions = WindowedRotary(WINDOW[kind])  # the second layer knows no positions, and sees everything
        elif kind == HALF:
            first.positions = WindowedRotary(WINDOW["rotary_window"])
        for attention in attentions:
            if kind in WINDOWS:
                attention.positions = HardBias(WINDOWS[kind])
            elif self.drawn is not None:
                attention.positions = RandomRotary(self.drawn)

    def read(self, words: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState, list[Tensor | None]]:
        """As every language model, with new random positions."""
        if self.drawn is not None:
            self.drawn.draw(words.shape[1])
        return super().read(words, state)

    def copy(self, batch: Batch) -> Tensor:
        """Logits of each letter of the copy when those before it are given, ``(B, size, V)``."""
        separator = batch.source.new_full((len(batch.source), 1), SEPARATOR)
        words = torch.cat([batch.source, separator, batch.target[:, :-1]], dim=1)  # (B, 2 · size)
        return self(words)[0][:, batch.source.shape[1] :]  # from the separator on


def copying_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Loss of the letters of the copy; nothing is asked about the string itself, which nobody could guess."""
    return sequence_loss(model.copy(batch), batch.target)  # type: ignore[operator]


@evaluating
def letters_copied(model: Copier, size: int, seed: int, count: int = TESTS) -> Tensor:
    """Which letters of ``count`` strings are right where those before them are given: bool ``(count, size)``."""
    batch = strings(count, size, seed).to(device_of(model))
    return (model.copy(batch).argmax(dim=-1) == batch.target).cpu()


def copied(model: Copier, size: int, count: int = TESTS) -> dict[str, float]:
    """Shares of strings copied without a mistake, and of letters that are right where those before them are given.

    A model that writes by itself makes its first mistake where it makes the first one here: the same strings count.
    """
    right = letters_copied(model, size, TEST_SEED + size, count)
    exact, letters = (hits.double().mean().item() for hits in (right.all(dim=1), right))
    return {"exact": round(exact, 4), "letters": round(letters, 4)}


def equal_contexts(letters: Tensor, context: int) -> Tensor:
    """Before which positions of ``letters (B, size)`` the same ``context`` letters stand: bool ``(B, size, size)``.

    The beginning of a string counts as a sign of its own.
    """
    count, size = letters.shape
    starts = -1 - torch.arange(context).flip(0).expand(count, -1)  # (B, context)
    windows = torch.cat([starts, letters], dim=1).unfold(1, context, 1)[:, :size]  # (B, size, context): before each
    return (windows[:, :, None] == windows[:, None]).all(dim=-1)


def copied_by_rule(size: int, context: int, count: int = TESTS) -> float:
    """Share of the same strings that a rule copies: write what followed the last ``context`` letters in the string.

    Where these stand in the string several times, it takes one of them at random; this is the expected share.
    """
    letters = strings(count, size, TEST_SEED + size).source  # (B, size)
    equal = equal_contexts(letters, context)  # (B, size, size)
    same = equal & (letters[:, :, None] == letters[:, None])  # another position may hold the right letter, too
    chance = same.sum(dim=-1) / equal.sum(dim=-1)  # (B, size)
    return chance.double().prod(dim=1).mean().item()


def build(name: str) -> Copier:
    """A fresh model of this experiment."""
    chosen(STEPS, name)
    return Copier(name)


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    _, figures = train(model, Strings(), job, TRAINING, loss=copying_loss)
    figures["copied"] = {str(size): copied(model, size) for size in SIZES}
    return Outcome(figures, model if job.seed == 0 and job.model in KEPT else None)


SETTINGS = {
    "task": f"copies of strings of {LENGTHS} letters of {LETTERS}", "sizes": SIZES, "tests": TESTS,
    "windows": WINDOWS, "window": WINDOW, "drawn_from": DRAWN_FROM, **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("decoder_lengths", STEPS, run, SETTINGS, build=build)
trained = EXPERIMENT.trained
