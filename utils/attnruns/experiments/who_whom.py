"""Heads against a hidden layer: how many nouns can be named from one position (chapter 08)?

Task and training are those of the chapter's file. A model with two nouns names the noun before and the noun after each
of three verbs, as there. A model with six nouns names all nouns of the sentence, in their order, at its middle verb.
Every model reads the context with two layers of weights. With a ReLU between them they are a hidden layer, and without
it a linear readout, so that the two have the same parameters. A step of so small a network stays on the CPU.
"""

import time
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import apply_rotary
from attnbook.attention.positions import turn_pairs
from attnbook.seeding import seed_everything
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

KINDS = ("the", "and", "adjective", "adverb", "verb", "noun")
COUNT = (1, 1, 4, 4, 5, 10)  # words of each kind
VERB, NOUN = KINDS.index("verb"), KINDS.index("noun")
FIRST = [sum(COUNT[:kind]) for kind in range(len(KINDS))]  # the first word of each kind
CLAUSES = tuple(
    tuple(KINDS.index(kind) for kind in clause.split())
    for clause in (
        "the adjective adjective noun verb the noun and",
        "the adjective noun adverb verb the noun and",
        "the adjective noun verb the adjective noun and",
        "the noun adverb verb the adjective noun and",
        "the noun verb the adjective adjective noun and",
    )
)
TRAINED, LONGER = 3, 6  # clauses
READOUT = 128  # features between the two layers of the readout
BATCH = {2: 32, 6: 96}  # sentences, with 96 verbs that are asked in both
TESTS, TEST_SEED = {2: 1000, 6: 3000}, 12_345  # sentences, with 3,000 verbs
RATE, EVERY = 5e-3, 300  # steps between two measurements; the chapter trains for so many
LONGEST = {2: 600, 6: 900}  # steps, so that a model that learns slowly has more than in the chapter


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        nouns: how many it names at a verb, 2 or 6. heads: of its attention.
        hidden: whether there is a ReLU between the two layers of its readout.
        dim: features of a word. steps: of the training.
    """

    nouns: int
    heads: int
    hidden: bool
    dim: int
    steps: int


SIZES = ((1, 64), (1, 128), (2, 64), (4, 64), (8, 64))  # heads, features
RECIPES = {
    f"{nouns}_nouns_{heads}_of_{dim // heads}_{'hidden' if hidden else 'linear'}": Recipe(
        nouns, heads, hidden, dim, LONGEST[nouns]
    )
    for nouns in (2, 6)
    for heads, dim in SIZES
    for hidden in (False, True)
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def sentences(clauses: int, batch: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Words ``(B, T)``, where the verbs are ``(B, clauses)``, and the nouns of each clause ``(B, clauses, 2)``."""
    forms = torch.randint(len(CLAUSES), (batch, clauses), generator=generator)
    kinds = torch.tensor(CLAUSES)[forms].flatten(1)[:, :-1]  # (B, T), without the last "and"
    drawn = torch.rand(kinds.shape, generator=generator) * torch.tensor(COUNT)[kinds]
    words = torch.tensor(FIRST)[kinds] + drawn.long()
    verbs = (kinds == VERB).nonzero()[:, 1].view(batch, clauses)
    return words, verbs, words[kinds == NOUN].view(batch, clauses, 2) - FIRST[NOUN]


def questions(
    nouns: int, clauses: int, batch: int, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Words ``(B, T)``, the verbs that are asked ``(B, C)``, and the nouns to name at each ``(B, C, nouns)``."""
    words, verbs, pairs = sentences(clauses, batch, generator)
    if nouns == 6:  # of the clauses before, with, and after the middle verb
        middle = clauses // 2
        verbs, pairs = verbs[:, middle : middle + 1], pairs[:, None, middle - 1 : middle + 2].flatten(2)
    return words, verbs, pairs


class Namer(nn.Module):
    """The chapter's ``WhoWhom`` with another readout; the attention is computed at the asked verbs only."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        dim = recipe.dim
        self.nouns, self.heads = recipe.nouns, recipe.heads
        self.embed = nn.Embedding(sum(COUNT), dim)
        self.project_query, self.project_key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.project_value, self.project_output = nn.Linear(dim, dim), nn.Linear(dim, dim)
        between = nn.ReLU() if recipe.hidden else nn.Identity()
        self.readout = nn.Sequential(nn.Linear(dim, READOUT), between, nn.Linear(READOUT, recipe.nouns * COUNT[NOUN]))

    def contexts(self, words: Tensor, verbs: Tensor) -> Tensor:
        """What each head finds at the verbs: ``(B, C, H, D/H)``."""
        table = self.embed.weight  # (V, D): words are few, so each is projected once
        parts = (self.project_query, self.project_key, self.project_value)
        q, k, v = (part(table).unflatten(-1, (self.heads, -1)) for part in parts)  # (V, H, D/H) each
        keys = turn_pairs(k[words].transpose(1, 2), torch.arange(words.shape[1]))  # (B, H, T, D/H)
        asked = words.gather(1, verbs)  # (B, C)
        queries = apply_rotary(q[asked].transpose(1, 2), verbs[:, None])  # (B, H, C, D/H)
        weights = (queries @ keys.mT / keys.shape[-1] ** 0.5).softmax(dim=-1)  # (B, H, C, T)
        return (weights @ v[words].transpose(1, 2)).transpose(1, 2)

    def read(self, contexts: Tensor) -> Tensor:
        """``(B, C, H, D/H)`` -> logits ``(B, C, nouns, 10)``."""
        logits: Tensor = self.readout(self.project_output(contexts.flatten(2)))
        return logits.unflatten(-1, (self.nouns, -1))

    def forward(self, words: Tensor, verbs: Tensor) -> Tensor:
        """``(B, T)``, ``(B, C)`` -> logits ``(B, C, nouns, 10)``."""
        return self.read(self.contexts(words, verbs))


def build(name: str) -> Namer:
    """A fresh model by its name."""
    return Namer(chosen(RECIPES, name))


@torch.no_grad()
def measured(model: Namer, clauses: int) -> dict[str, Any]:
    """Over test sentences: the shares of the verbs at which all nouns are named, and of the nouns by their place.

    Returns:
        "all", "each" (one share per noun), and "without" (the same for each head whose context is replaced by its mean
        over all verbs).
    """
    generator = torch.Generator().manual_seed(TEST_SEED)
    words, verbs, nouns = questions(model.nouns, clauses, TESTS[model.nouns], generator)
    contexts = model.contexts(words, verbs)

    def right(contexts: Tensor) -> Tensor:  # (B, C, nouns)
        return model.read(contexts).argmax(dim=-1) == nouns

    def each(contexts: Tensor) -> list[float]:
        return [round(share, 4) for share in right(contexts).double().mean(dim=(0, 1)).tolist()]

    without = []
    for head in range(model.heads):
        fewer = contexts.clone()
        fewer[:, :, head] = contexts[:, :, head].mean(dim=(0, 1))
        without.append(each(fewer))
    share = right(contexts).all(dim=-1).double().mean().item()
    return {"all": round(share, 4), "each": each(contexts), "without": without}


def run(job: Job) -> Outcome:
    """Train a model, and measure it every ``EVERY`` steps."""
    seed_everything(job.seed)
    model = build(job.model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    found: dict[str, Any] = {"parameters": sum(p.numel() for p in model.parameters()), "every": min(EVERY, job.steps)}
    found |= {"trained": [], "longer": []}
    started = time.process_time()
    for step in range(job.steps):
        words, verbs, nouns = questions(model.nouns, TRAINED, BATCH[model.nouns])
        loss = F.cross_entropy(model(words, verbs).flatten(0, 2), nouns.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % found["every"] == 0:
            found["trained"].append(measured(model, TRAINED))
            found["longer"].append(measured(model, LONGER)["all"])
    return Outcome(found | {"seconds": round(time.process_time() - started, 1)})


SETTINGS = {
    "task": "sentences of clauses, as in the file of chapter 8",
    "clauses": TRAINED,
    "longer": LONGER,
    "readout": READOUT,
    "batch": {str(nouns): size for nouns, size in BATCH.items()},
    "learning_rate": RATE,
    "warmup": 0,
    "max_grad_norm": None,
}
EXPERIMENT = Experiment("who_whom", STEPS, run, SETTINGS, on_cpu=True)
