"""How certain and how repetitive is what SmolLM2 writes, by the way in which its next token is chosen (chapter 10).

Nothing is trained. ``steps`` says how many paragraphs of this book are continued from their first tokens; the author's
own continuations of the same beginnings are the texts to compare with. Each seed has other paragraphs. The end of a
text is forbidden, so that all have the same length. All samples of a seed are drawn side by side, in one batch. The
beginning of a story is continued, too, to be read and not to be measured.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.data.texts.book_prose import book_prose
from attnbook.decoding import beam, chooser, select, stream
from attnbook.measure.inside import surprises
from attnbook.measure.text import repetition
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

STORY = "The lighthouse keeper opened the old letter and read it twice. Then"
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0}, "temperature 0.7": {"temperature": 0.7}, "temperature 1": {"temperature": 1.0},
    "temperature 1.5": {"temperature": 1.5}, "top-k 50": {"temperature": 1.0, "top_k": 50},
    "nucleus 0.9": {"temperature": 1.0, "top_p": 0.9}, "nucleus 0.95": {"temperature": 1.0, "top_p": 0.95},
}  # fmt: skip
BEGINNING, LENGTH = 24, 60  # tokens of a paragraph that are given, and that are written
STORY_LENGTH, WIDTH = 140, 4  # tokens of the story; hypotheses of the beam
NEVER = -1  # no token ends a text


class Endless:
    """A language model that never ends a text: its end symbols have no probability."""

    def __init__(self, pretrained: Pretrained) -> None:
        self.model, self.ends = pretrained.model, list(pretrained.ends)

    def modules(self):
        """The model and its parts."""
        return self.model.modules()

    def _without_end(self, read: tuple[Tensor, Any, Tensor | None]) -> tuple[Tensor, Any, Tensor | None]:
        logits, state, weights = read
        return logits.index_fill(-1, torch.tensor(self.ends), float("-inf")), state, weights

    def start(self):
        """The state before the first token."""
        return self.model.start()

    def step(self, token: Tensor, state: Any) -> tuple[Tensor, Any, Tensor | None]:
        """Read one token ``(B,)``."""
        return self._without_end(self.model.step(token, state))

    def prefill(self, words: Tensor, state: Any) -> tuple[Tensor, Any, Tensor | None]:
        """Read many tokens ``(B, t)``."""
        return self._without_end(self.model.prefill(words, state))

    select = staticmethod(select)

    @evaluating
    def logits(self, words: Tensor) -> Tensor:
        """At all positions of ``words (B, T)``: ``(B, T, V)``."""
        return self.model(words)[0].index_fill(-1, torch.tensor(self.ends), float("-inf"))

    def surprises(self, words: Tensor) -> Tensor:
        """Nats of each token after the first of ``words (B, T)``: ``(B, T - 1)``."""
        return surprises(self.logits(words), words)


class Begun(NamedTuple):
    """Beginnings of paragraphs ``(N, BEGINNING)``, and how the paragraphs go on, ``(N, LENGTH)``."""

    prompts: Tensor
    real: Tensor


def own_group(rows: list[list[int]], count: int, seed: int) -> Tensor:
    """``count`` rows of equal length as one tensor; none belongs to two seeds, as long as there are enough."""
    groups = torch.randperm(len(rows), generator=generator(0)).split(count)
    whole = [group for group in groups if len(group) == count]
    return torch.tensor([rows[i] for i in whole[seed % len(whole)].tolist()])


def beginnings(pretrained: Pretrained, count: int, seed: int, texts: list[str] | None = None) -> Begun:
    """Of ``count`` paragraphs of the book, or of ``texts``; none belongs to two seeds, as long as there are enough."""
    size = BEGINNING + LENGTH
    long = [ids for text in texts or paragraphs() if len(ids := pretrained.tokenizer.encode(text).ids) >= size]
    chosen = own_group([ids[:size] for ids in long], count, seed)  # (N, BEGINNING + LENGTH)
    return Begun(chosen[:, :BEGINNING], chosen[:, BEGINNING:])


def paragraphs() -> list[str]:
    """Those of the book's prose."""
    return book_prose().split("\n\n")


class Chooser:
    """Chooses for all ways at once, each with its ``rows`` of the batch, else as many; keeps its choices' nats."""

    def __init__(self, draws: torch.Generator, ways: dict[str, dict[str, Any]], rows: list[int] | None = None) -> None:
        self.rows, self.nats = rows, list[Tensor]()
        self.choose: list[Callable] = [chooser(**how, generator=draws) for how in ways.values()]

    def __call__(self, logits: Tensor) -> Tensor:
        parts = logits.split(self.rows) if self.rows else logits.chunk(len(self.choose))  # (N, V) of each way
        token = torch.cat([choose(part) for choose, part in zip(self.choose, parts, strict=True)])  # (B,)
        self.nats.append(-logits.log_softmax(dim=-1).gather(1, token[:, None])[:, 0])
        return token


def figures_of(pretrained: Pretrained, tokens: Tensor, nats: Tensor) -> dict[str, Any]:
    """Of texts ``(N, LENGTH)`` with the nats of their tokens: means, by position and by text, and the worst text."""
    repeated = [repetition([row]) for row in tokens.tolist()]
    worst = tokens[repeated.index(max(repeated))].tolist()
    return {
        "nats": rounded_mean(nats), "by_position": rounded(nats.mean(dim=0)), "repeated": rounded(repeated),
        "most_repetitive": pretrained.tokenizer.decode(worst),
    }  # fmt: skip


def figures_by_way(
    pretrained: Pretrained, ways: Collection[str], tokens: Tensor, nats: Tensor
) -> dict[str, dict[str, Any]]:
    """The figures of each way, of what :func:`written` returns."""
    parts = zip(ways, tokens.chunk(len(ways)), nats.chunk(len(ways)), strict=True)
    return {way: figures_of(pretrained, rows, of) for way, rows, of in parts}


def without_texts(found: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of the figures by way, the means and by text alone."""
    return {way: {name: of[name] for name in ("nats", "repeated")} for way, of in found.items()}


def written(
    model: Endless, prompts: Tensor, length: int, seed: int, ways: dict[str, dict[str, Any]]
) -> tuple[Tensor, Tensor]:
    """Continuations of ``prompts (N, t)`` in all ways, and the nats of their tokens, both ``(ways * N, length)``."""
    choose, rows = Chooser(generator(seed), ways), prompts.repeat(len(ways), 1)
    steps = stream(model, max_length=length, choose=choose, prompt=rows, eos=NEVER)
    tokens = torch.stack([token for token, _ in steps], dim=1)
    return tokens, torch.stack(choose.nats, dim=1)


def texts(job: Job) -> dict[str, Any]:
    """Texts of all ways, of a beam search, and of the book; and the story of all ways."""
    pretrained = smollm2()
    model, begun = Endless(pretrained), beginnings(pretrained, job.steps, job.seed)
    with fused(pretrained.model):
        tokens, nats_of_ways = written(model, begun.prompts, LENGTH, job.seed, WAYS)
        searched = beam(model, max_length=LENGTH, width=WIDTH, prompt=begun.prompts, eos=NEVER).tokens[:, 0]
        both = torch.cat([searched, begun.real])  # (2 N, LENGTH)
        nats = model.surprises(torch.cat([begun.prompts.repeat(2, 1), both], dim=1))[:, -LENGTH:]
        story = torch.tensor([pretrained.tokenizer.encode(STORY).ids])
        stories, _ = written(model, story, STORY_LENGTH, job.seed, WAYS)
    found = figures_by_way(pretrained, WAYS, tokens, nats_of_ways)
    for figures, told in zip(found.values(), stories.tolist(), strict=True):
        figures["story"] = pretrained.tokenizer.decode(told)
    found[f"beam of {WIDTH}"] = figures_of(pretrained, searched, nats[: len(searched)])
    found["the book"] = figures_of(pretrained, begun.real, nats[len(searched) :])
    return {"by_way": found}


PARTS: Parts = {"texts": (texts, 6)}


def run(job: Job) -> Outcome:
    """Write with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "written_texts",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "story": STORY,
        "story_length": STORY_LENGTH,
        "beginning": BEGINNING,
        "length": LENGTH,
        "ways": WAYS,
        "beam": WIDTH,
    },
    on_cpu=True,
)
