"""Is or are? SmolLM2's verb after a subject that stands far away, and which heads attend to it (chapter 07).

Nothing is trained. ``steps`` says how many sentences of each size are measured. In each sentence all other nouns have
the other number, so that whoever follows the nearest noun, or most nouns, is wrong. In those of ``fronted`` a noun
stands in front of the subject, too, so that whoever follows the first noun is wrong as well.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnbook.measure.inside import attentions_of, without_heads
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import Head, drawn, fused, ordered, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

THINGS = ("key", "cabinet", "table", "book", "boat", "tree", "house", "letter", "farmer", "king")
BETWEEN = ("near", "of", "under")
PHRASES = (1, 2, 3, 5)
EXAMPLE = "The keys near the cabinet of the farmer"
FINDERS: tuple[Head, ...] = ((26, 0), (27, 8), (28, 7))  # the three heads with the largest weight on the subject
BEST, CONTROLS = 5, 10  # heads that are named; other heads that are taken out, one by one
Sentence = tuple[str, bool]  # up to the verb; whether the subject is plural


def nouns_of(count: int, draw: torch.Generator, plural: bool) -> list[str]:
    """``count`` different nouns, the first of the one number and all others of the other."""
    things = [THINGS[i] for i in torch.randperm(len(THINGS), generator=draw)[:count]]
    return [thing + "s" * (plural == (i == 0)) for i, thing in enumerate(things)]


def prepositions_of(count: int, draw: torch.Generator) -> list[str]:
    """``count`` prepositions."""
    return [BETWEEN[i] for i in torch.randint(len(BETWEEN), (count,), generator=draw)]


def sentences(phrases: int, count: int, seed: int) -> list[Sentence]:
    """``count`` beginnings with so many phrases behind the subject, every second with a plural subject.

    >>> sentences(1, 2, seed=0)
    [('The boat near the cabinets', False), ('The cabinets near the book', True)]
    """
    draw, found = generator(seed), []
    for plural in [bool(i % 2) for i in range(count)]:
        subject, *others = nouns_of(phrases + 1, draw, plural)
        phrase = [f"{word} the {noun}" for word, noun in zip(prepositions_of(phrases, draw), others, strict=True)]
        found.append((" ".join(["The", subject, *phrase]), plural))
    return found


def fronted(count: int, seed: int) -> list[Sentence]:
    """``count`` beginnings such as "Near the cabinet the keys of the farmer": the subject is the second of three nouns.

    >>> fronted(2, seed=0)
    [('Near the cabinets the boat under the letters', False), ('Under the letter the houses under the king', True)]
    """
    draw, found = generator(seed), []
    for plural in [bool(i % 2) for i in range(count)]:
        subject, first, last = nouns_of(3, draw, plural)
        before, behind = prepositions_of(2, draw)
        found.append(
            (f"{before.replace('of', 'under').capitalize()} the {first} the {subject} {behind} the {last}", plural)
        )
    return found


@dataclass(frozen=True)
class Reader:
    """A real model with the two verbs, by their tokens."""

    pretrained: Pretrained

    def tokens(self, text: str) -> Tensor:
        """The tokens of a text: ``(1, T)``."""
        return torch.tensor([self.pretrained.tokenizer.encode(text).ids])

    def verb_tokens(self) -> Tensor:
        """The tokens of *is* and *are*: ``(2,)``."""
        return torch.stack([self.tokens(verb)[0, 0] for verb in (" is", " are")])

    def position(self, text: str, word: int) -> int:
        """Where the last token of a word of the text stands, from 0 on."""
        return self.tokens(" ".join(text.split()[: word + 1])).shape[1] - 1

    @evaluating
    def verbs(self, text: str) -> Tensor:
        """Log-probabilities of *is* and *are* after a text: ``(2,)``."""
        return self.pretrained.model(self.tokens(text))[0][0, -1].log_softmax(dim=-1)[self.verb_tokens()]

    def margins(self, texts: list[Sentence]) -> Tensor:
        """By how many nats the right verb is more probable than the wrong one: ``(sentences,)``."""
        both = torch.stack([self.verbs(text) for text, _ in texts])  # (sentences, 2)
        plural = torch.tensor([plural for _, plural in texts])
        return (both[:, 1] - both[:, 0]) * torch.where(plural, 1, -1)

    @evaluating
    def from_the_last_word(self, texts: list[Sentence], words: tuple[int, ...] = (1, 0)) -> list[Tensor]:
        """Each head's mean weight from the last word to the last token of each of these words: ``(layers, heads)``."""
        found = []
        for text, _ in texts:
            at = [self.position(text, word) for word in words]
            rows = torch.stack([weights[0, :, -1] for weights in self.pretrained.model.maps(self.tokens(text))])
            found.append(rows[..., at])  # (layers, heads, words)
        return list(torch.stack(found).mean(dim=0).unbind(dim=-1))


def shares(margins: Tensor) -> dict[str, float]:
    """How often the right verb is the more probable one, and by how many nats on average."""
    return {"right": rounded_mean(margins > 0), "margin": round(margins.mean().item(), 3)}


def by_phrases(reader: Reader, count: int, seed: int) -> tuple[dict[str, Any], Head, dict[int, list[Sentence]]]:
    """For each size what is right and who attends to the subject; the best head on other sentences; the sentences."""
    found, texts = {}, {n: sentences(n, count, seed) for n in PHRASES}
    for n, these in texts.items():
        on_subject, on_first = reader.from_the_last_word(these)
        named = [
            [layer + 1, head + 1, round(on_subject[layer, head].item(), 4)]
            for layer, head in ordered(on_subject.tolist())[:BEST]
        ]
        found[str(n)] = {
            **shares(reader.margins(these)),
            "subject": named,
            "first_over_half": int((on_first > 0.5).sum()),
        }
    chosen, *_ = reader.from_the_last_word(sentences(PHRASES[1], count, seed + 1000))
    return found, ordered(chosen.tolist())[0], texts


def without(reader: Reader, head: Head, texts: list[Sentence]) -> dict[str, float]:
    """:func:`shares` while one head hands over nothing."""
    model = reader.pretrained.model
    with fused(model), without_heads(attentions_of(model), [head], [0.0]):
        return shares(reader.margins(texts))


def others_than(head: Head, reader: Reader, seed: int) -> list[Head]:
    """Some heads of the model, drawn by ``seed``, without one of them."""
    layers, heads = len(attentions_of(reader.pretrained.model)), reader.pretrained.model.config.heads
    every = [(layer, number) for layer in range(layers) for number in range(heads) if (layer, number) != head]
    return drawn(every, CONTROLS, seed)


def example(reader: Reader, head: Head) -> dict[str, Any]:
    """The sentence of the chapter: its pieces, the two verbs, and one head's weights."""
    tokens = reader.tokens(EXAMPLE)
    with torch.no_grad():
        weights = reader.pretrained.model.maps(tokens)[head[0]][0, head[1]]  # (T, T)
    is_, are = reader.verbs(EXAMPLE).exp().tolist()
    pieces = [reader.pretrained.tokenizer.decode([token]).strip() for token in tokens[0].tolist()]
    return {"pieces": pieces, "is": round(is_, 4), "are": round(are, 4),
            "weights": [[round(x, 4) for x in row] for row in weights.tolist()]}  # fmt: skip


def behind_the_subject(job: Job) -> dict[str, Any]:
    """Sentences of all sizes, and those with two phrases without single heads."""
    reader = Reader(smollm2())
    found, head, texts = by_phrases(reader, job.steps, job.seed)
    removed = {str(n): without(reader, head, texts[n]) for n in PHRASES}
    controls = [without(reader, other, texts[PHRASES[1]]) for other in others_than(head, reader, job.seed)]
    return {
        "by_phrases": found, "head": [head[0] + 1, head[1] + 1], "without": removed, "controls": controls,
        "example": example(reader, head),
    }  # fmt: skip


def in_front_of_it(job: Job) -> dict[str, Any]:
    """Sentences with a noun in front of the subject: to what the three heads attend, and what is right without each."""
    reader, texts = Reader(smollm2()), fronted(job.steps, job.seed)
    on_subject, on_first = reader.from_the_last_word(texts, (4, 2))
    figures = {}
    for layer, head in FINDERS:
        weights = {"subject": round(on_subject[layer, head].item(), 4), "first": round(on_first[layer, head].item(), 4)}
        figures[f"{layer + 1}.{head + 1}"] = {**weights, **without(reader, (layer, head), texts)}
    return {**shares(reader.margins(texts)), "without": figures}


PARTS: Parts = {"smollm2": (behind_the_subject, 60), "fronted": (in_front_of_it, 60)}


def run(job: Job) -> Outcome:
    """Measure one kind of sentences."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_agreement",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "phrases": PHRASES, "example": EXAMPLE},
    on_cpu=True,
)
