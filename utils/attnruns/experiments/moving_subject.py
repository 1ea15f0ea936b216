"""Which noun does the verb need, if subject and verb move? Words, positions, or both in the scores (chapter 07)."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import sinusoidal_positions
from attnbook.device import best_device, device_of
from attnbook.models.sequence_layers import Recurrent
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.weights import load_weights

DIM, BATCH, LEARNING_RATE, EMBEDDING_STD = 32, 64, 3e-3, 0.3
THINGS = ["key", "cabinet", "table", "book", "boat", "tree", "house", "letter", "farmer", "king"]
WORDS = [*THINGS, *(thing + "s" for thing in THINGS), "near", "of", "under", "old", "new", "big"]
WORDS += ["now", "here", "perhaps", "?", "that"]
NEAR, OLD, NOW, BLANK, THAT = (WORDS.index(word) for word in ("near", "old", "now", "?", "that"))
PHRASES = (1, 2, 3)  # nouns between subject and verb in training
TESTED = (1, 2, 3, 5, 8)
PATTERNS, TESTS = 200, 50  # patterns of words per test, and sentences of each


def sentences(phrases: int, size: int = BATCH, hard: bool = False) -> tuple[Tensor, Tensor]:
    """Sentences that share a random pattern: words ``(B, T)``, and the number of each noun ``(B, phrases + 1)``.

    The subject is the first noun, and the verb ``?`` the last word. Up to two opening words, and up to two adjectives
    before each noun, move both. Where ``hard``, all later nouns have the other number than the subject.
    """
    things, numbers = torch.randint(len(THINGS), (size, phrases + 1)), torch.randint(2, (size, phrases + 1))
    if hard:
        numbers[:, 1:] = 1 - numbers[:, :1]
    nouns = things + len(THINGS) * numbers
    opening, *adjectives = torch.randint(3, (phrases + 2,)).tolist()  # how many words
    parts = [torch.randint(NOW, BLANK, (size, opening))]
    for i, count in enumerate(adjectives):
        prepositions = torch.randint(NEAR, OLD, (size, min(i, 1)))  # none before the subject
        parts += [prepositions, torch.randint(OLD, NOW, (size, count)), nouns[:, i : i + 1]]
    return torch.cat([*parts, torch.full((size, 1), BLANK)], dim=1), numbers


class Asked(NamedTuple):
    """Sentences of one pattern, and what their last word needs.

    Fields:
        words: ``(B, T)``. numbers: ``(B,)`` of the noun that is needed. at: ``(B,)``, its position, from 0.
    """

    words: Tensor
    numbers: Tensor
    at: Tensor


def asked(phrases: int, size: int, hard: bool = False, that: bool = False) -> Asked:
    """Sentences that end with the verb ``?``, which needs the first noun.

    With ``that``, half of them end with this word instead, whose verb needs the last noun, as in
    "the keys near the farmer that".
    """
    words, numbers = sentences(phrases, size, hard)
    nouns = (words[0] < NEAR).nonzero()[:, 0]  # (phrases + 1,)
    last = torch.rand(size) < 0.5 if that else torch.zeros(size, dtype=torch.bool)
    words[last, -1] = THAT
    return Asked(words, torch.where(last, numbers[:, -1], numbers[:, 0]), torch.where(last, nouns[-1], nouns[0]))


class Scored(NamedTuple):
    """What the scores are made of."""

    words: bool
    positions: bool


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        scores: what queries and keys are computed from; ``None``: there are none, an LSTM reads the sentence.
        that: half of the sentences end with *that*, see :func:`asked`.
    """

    scores: Scored | None = None
    that: bool = False


RECIPES = {
    "both": Recipe(Scored(words=True, positions=True)),
    "words": Recipe(Scored(words=True, positions=False)),
    "positions": Recipe(Scored(words=False, positions=True)),
    "lstm": Recipe(),
    "both_that": Recipe(Scored(words=True, positions=True), that=True),
    "positions_that": Recipe(Scored(words=False, positions=True), that=True),
}
STEPS = dict.fromkeys(RECIPES, 600)


class Attention(nn.Module):
    """The chapter's layer of self-attention; what scores and values are computed from may differ."""

    def __init__(self, dim: int = DIM) -> None:
        super().__init__()
        self.project_query = nn.Linear(dim, dim, bias=False)
        self.project_key = nn.Linear(dim, dim, bias=False)
        self.project_value = nn.Linear(dim, dim, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """``query (B, 1, D)``, ``key`` and ``value (B, T, D)`` -> contexts ``(B, 1, D)`` and weights ``(B, 1, T)``."""
        scores = self.project_query(query) @ self.project_key(key).mT / key.shape[-1] ** 0.5
        weights = scores.softmax(dim=-1)
        return weights @ self.project_value(value), weights


class Agreement(nn.Module):
    """Is the verb at the end of a sentence singular (0) or plural (1)?

    Args:
        scores: as in :class:`Recipe`. dim: features D.
    """

    def __init__(self, scores: Scored | None, dim: int = DIM) -> None:
        super().__init__()
        self.scores = scores
        self.embed = nn.Embedding(len(WORDS), dim)
        nn.init.normal_(self.embed.weight, std=EMBEDDING_STD)
        self.attention = Recurrent(dim, "lstm") if scores is None else Attention(dim)
        self.readout = nn.Linear(dim, 2)

    def forward(self, words: Tensor, order: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """``words (B, T)`` -> logits ``(B, 2)`` of the verb and its weights ``(B, T)``.

        ``order (T,)`` exchanges the position vectors of the keys; the model of words alone and the LSTM have none.
        """
        word = self.embed(words)  # (B, T, D)
        if self.scores is None:
            states = self.attention(word)
            return self.readout(states[:, -1]), torch.zeros_like(words, dtype=word.dtype)
        place = sinusoidal_positions(words.shape[1], word.shape[-1]).to(word).expand_as(word)
        query = self.scores.words * word + self.scores.positions * place
        key = query if order is None else self.scores.words * word + self.scores.positions * place[:, order]
        value = word + place if self.scores == Scored(True, True) else word
        contexts, weights = self.attention(query[:, -1:], key, value)
        return self.readout(contexts[:, 0]), weights[:, 0]


def build(name: str) -> Agreement:
    """A fresh model of this experiment."""
    return Agreement(chosen(RECIPES, name).scores)


def train(model: Agreement, steps: int, that: bool = False) -> list[float]:
    """Train on one to three nouns after the subject, in turn; return the losses."""
    device = device_of(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        batch = asked(PHRASES[step % len(PHRASES)], BATCH, that=that)
        logits, _ = model(batch.words.to(device))
        loss = F.cross_entropy(logits, batch.numbers.to(device))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@evaluating
def measure(
    model: Agreement, phrases: int, that: bool = False, shuffled: bool = False
) -> tuple[float, list[tuple[int, int, float]]]:
    """The share of correct verbs in hard sentences, and for each its noun's position, its last, and the noun's weight.

    Positions are counted from 1. ``shuffled`` exchanges the position vectors of the words before the last, in another
    way for each pattern.
    """
    device, right, seen = device_of(model), 0.0, []
    for _ in range(PATTERNS):
        batch = asked(phrases, TESTS, hard=True, that=that)
        length = batch.words.shape[1]
        order = torch.cat([torch.randperm(length - 1), torch.tensor([length - 1])]).to(device) if shuffled else None
        logits, weights = model(batch.words.to(device), order)
        right += (logits.argmax(dim=-1).cpu() == batch.numbers).float().mean().item() / PATTERNS
        own = weights.cpu().gather(1, batch.at[:, None])[:, 0]  # (B,)
        seen += [(at + 1, length, weight) for at, weight in zip(batch.at.tolist(), own.tolist(), strict=True)]
    return right, seen


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    start = time.process_time()
    seed_everything(job.seed)
    recipe = chosen(RECIPES, job.model)
    model = build(job.model).to(best_device())
    losses = train(model, job.steps, recipe.that)[-20:]
    right: dict[str, float] = {}
    weights: dict[str, float] = {}
    figures: dict[str, Any] = {}
    for phrases in TESTED:
        seed_everything(1_000_000 + phrases)  # the same sentences for each model
        share, seen = measure(model, phrases, recipe.that)
        right[str(phrases)] = round(share, 4)
        if recipe.scores is not None:
            weights[str(phrases)] = round(sum(w for *_, w in seen) / len(seen), 4)
            if phrases == max(PHRASES):
                figures["weight_by_noun"] = _means([(noun, w) for noun, _, w in seen])
                figures["weight_by_verb"] = _means([(verb, w) for _, verb, w in seen])
    if weights:
        figures["weight_on_noun"] = weights
    if recipe.scores is not None and recipe.scores.positions:
        seed_everything(2_000_000)
        figures["right_shuffled"] = round(measure(model, 2, recipe.that, shuffled=True)[0], 4)
    loss = round(sum(losses) / len(losses), 4)
    return Outcome({"right": right, "loss": loss, **figures, "seconds": round(time.process_time() - start, 1)}, model)


def _means(pairs: list[tuple[int, float]]) -> dict[str, float]:
    """``{position: mean weight}`` of (position, weight)."""
    found: dict[int, list[float]] = {}
    for position, weight in pairs:
        found.setdefault(position, []).append(weight)
    return {str(at): round(sum(found[at]) / len(found[at]), 4) for at in sorted(found)}


def trained(name: str, seed: int = 0) -> Agreement:
    """A model as its training left it."""
    return load_weights(build(name), EXPERIMENT.name, name, seed)


EXPERIMENT = Experiment(
    "moving_subject",
    STEPS,
    run,
    {
        "task": "sentences(phrases)",
        "phrases": list(PHRASES),
        "dim": DIM,
        "batch": BATCH,
        "learning_rate": LEARNING_RATE,
        "warmup": 0,
        "max_grad_norm": None,
        "embedding_std": EMBEDDING_STD,
        "patterns": PATTERNS,
        "tests_per_pattern": TESTS,
    },
    build=build,
)
