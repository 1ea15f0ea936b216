"""Five kinds of positions in the task of who did it to whom, also in longer texts (chapter 08).

Task, model and training are those of the chapter's file, with four heads; only the positions differ. Each model is
trained on three clauses, and measured on more. A step of so small a network stays on the CPU.
"""

import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import LinearBias, apply_rotary, sinusoidal_positions
from attnbook.seeding import seed_everything
from attnruns.experiments.who_whom import COUNT, NOUN, RATE, TRAINED, sentences
from attnruns.shared.runner import Experiment, Job, Outcome

HEADS, DIM = 4, 64
BATCH, STEPS = 32, 300  # sentences of a step; the chapter trains for so many steps
LENGTHS = {3: 200, 6: 100, 48: 25}  # clauses, and how many test sentences have them
LONGEST = 8 * max(LENGTHS) - 1  # words, so that a learned table does not end before the test does
REACH = 20  # of the learned relative bias; farther words share the number of this distance
TEST_SEED = 12_345
KINDS = ("learned", "sinusoids", "relative_bias", "linear_bias", "rotary")


class Placed(nn.Module):
    """The chapter's ``WhoWhom`` with positions of one of the ``KINDS``."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.embed = nn.Embedding(sum(COUNT), DIM)
        self.project_query, self.project_key = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.project_value, self.project_output = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.readout = nn.Linear(DIM, 2 * COUNT[NOUN])
        if kind == "learned":
            self.rows = nn.Embedding(LONGEST, DIM)
        elif kind == "relative_bias":
            self.numbers = nn.Parameter(torch.zeros(HEADS, 2 * REACH + 1))
        elif kind == "linear_bias":
            self.slopes = LinearBias(HEADS)

    def placed(self, x: Tensor, at: Tensor) -> Tensor:
        """Word vectors ``(B, T, D)``, with what is added to them."""
        if self.kind == "learned":
            return x + self.rows(at)
        if self.kind == "sinusoids":
            return x + sinusoidal_positions(len(at), DIM).to(x)
        return x

    def biased(self, scores: Tensor, at: Tensor) -> Tensor:
        """Scores ``(B, H, T, T)``, with what is added to them."""
        if self.kind == "relative_bias":
            return scores + self.numbers[:, (at - at[:, None]).clamp(-REACH, REACH) + REACH]
        if self.kind == "linear_bias":
            return scores + self.slopes.bias(at, at)
        return scores

    def forward(self, words: Tensor, verbs: Tensor) -> Tensor:
        """``(B, T)``, ``(B, clauses)`` -> logits ``(B, clauses, 2, 10)``."""
        at = torch.arange(words.shape[1])
        x = self.placed(self.embed(words), at)
        parts = (self.project_query, self.project_key, self.project_value)
        q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)  # (B, H, T, D/H)
        if self.kind == "rotary":
            q, k = apply_rotary(q, at), apply_rotary(k, at)
        weights = self.biased(q @ k.mT / k.shape[-1] ** 0.5, at).softmax(dim=-1)  # (B, H, T, T)
        contexts = self.project_output((weights @ v).transpose(1, 2).flatten(2))  # (B, T, D)
        logits: Tensor = self.readout(contexts[torch.arange(len(words))[:, None], verbs])
        return logits.unflatten(-1, (2, -1))


def build(name: str) -> Placed:
    """A fresh model by the name of its positions."""
    if name not in KINDS:
        raise ValueError(f"no model is called {name!r}; there is: {', '.join(KINDS)}")
    return Placed(name)


@torch.no_grad()
def share_correct(model: Placed, clauses: int) -> float:
    """The share of the verbs of test sentences for which both nouns are named rightly."""
    words, verbs, nouns = sentences(clauses, LENGTHS[clauses], torch.Generator().manual_seed(TEST_SEED))
    right = (model(words, verbs).argmax(dim=-1) == nouns).all(dim=-1)
    return round(right.double().mean().item(), 4)


def run(job: Job) -> Outcome:
    """Train a model, and measure it on short and on long texts."""
    seed_everything(job.seed)
    model, started = build(job.model), time.process_time()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    for _ in range(job.steps):
        words, verbs, nouns = sentences(TRAINED, BATCH)
        loss = F.cross_entropy(model(words, verbs).flatten(0, 2), nouns.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    found: dict[str, Any] = {"parameters": sum(p.numel() for p in model.parameters())}
    if job.model == "relative_bias":
        found["numbers"] = [[round(number, 2) for number in head] for head in model.numbers.tolist()]  # (H, 41)
    found["both"] = {str(8 * clauses - 1): share_correct(model, clauses) for clauses in LENGTHS}
    return Outcome(found | {"seconds": round(time.process_time() - started, 1)})


SETTINGS = {
    "task": "sentences of clauses, as in the file of chapter 8",
    "clauses": TRAINED,
    "heads": HEADS,
    "features": DIM,
    "batch": BATCH,
    "learning_rate": RATE,
    "warmup": 0,
    "max_grad_norm": None,
    "reach": REACH,
}
EXPERIMENT = Experiment("who_whom_positions", dict.fromkeys(KINDS, STEPS), run, SETTINGS, on_cpu=True)
