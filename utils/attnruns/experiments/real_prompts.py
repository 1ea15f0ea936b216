"""What SmolLM2 does with examples in its prompt, and with a gap in the middle of a sentence (chapter 11).

Nothing is trained. ``steps`` says how many orders of the examples, or sentences, are measured. A causal model predicts
the next token at every position, so one pass over sixteen examples measures each answer after 0 to 15 others.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.measure.inside import surprises
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_agreement import THINGS, nouns_of, prepositions_of
from attnruns.experiments.real_controls import HeldOut
from attnruns.experiments.real_model import Head, drawn, fused, ordered, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

TASKS = {
    "opposites": "hot cold, big small, happy sad, fast slow, light dark, up down, old young, open closed, rich poor, "
    "hard soft, early late, full empty, clean dirty, wet dry, strong weak, high low",
    "capitals": "France Paris, Italy Rome, Spain Madrid, Germany Berlin, Japan Tokyo, Russia Moscow, China Beijing, "
    "Egypt Cairo, Greece Athens, Austria Vienna, Poland Warsaw, Portugal Lisbon, Ireland Dublin, Norway Oslo, "
    "Cuba Havana, England London",
    "past tense": "go went, see saw, eat ate, come came, take took, give gave, write wrote, speak spoke, drive drove, "
    "find found, run ran, sing sang, buy bought, think thought, know knew, make made",
    "plurals": "man men, child children, city cities, foot feet, mouse mice, book books, woman women, leaf leaves, "
    "tooth teeth, house houses, knife knives, box boxes, baby babies, wolf wolves, bus buses, dog dogs",
}
EXAMPLES = {
    "no examples": "",
    "three plurals": "child children, foot feet, book books",
    "three opposites": "hot cold, big small, early late",
}
ASKED = ("man", "king")
FINDERS, CONTROLS = 5, 5  # heads that are taken out together; draws of as many others
FROM = 3  # shares without heads are means over the answers after so many examples and more
NAMED = 8  # tokens of the example that are named
LENGTH = 512  # tokens of each text whose loss is compared early and late
SPANS = {"early": (32, 96), "late": (448, 512)}  # in number of tokens read before
Pair = tuple[str, str]


def pairs_of(text: str) -> list[Pair]:
    """``"hot cold, big small"`` as pairs."""
    return [(a, b) for a, b in (pair.split() for pair in text.split(", ") if pair)]


class Prompts(NamedTuple):
    """Prompts of one task, and where in them which answers are wanted: ``(B, T)``, ``(B, n)`` and ``(B, n)``."""

    tokens: Tensor
    at: Tensor
    wanted: Tensor


def prompts(pretrained: Pretrained, pairs: list[Pair], count: int, seed: int, wrong: bool = False) -> Prompts:
    """All pairs in ``count`` random orders, one per line; with ``wrong``, each word has the answer of the one before.

    So no line before shows the answer that a line wants, but for the last: the first line has that one's.
    """
    draw, rows, places, wanted = generator(seed), [], [], []
    for _ in range(count):
        order = [pairs[i] for i in torch.randperm(len(pairs), generator=draw).tolist()]
        shown = [answer for _, answer in order]
        row: list[int] = []
        at = []
        for (word, _), answer in zip(order, shown[-1:] + shown[:-1] if wrong else shown, strict=True):
            row += _ids(pretrained, f"{word} ->")
            at.append(len(row) - 1)
            row += _ids(pretrained, f" {answer}") + _ids(pretrained, "\n")
        rows.append(row)
        places.append(at)
        wanted.append([_ids(pretrained, f" {answer}")[0] for _, answer in order])
    return Prompts(*map(torch.tensor, (rows, places, wanted)))


def _ids(pretrained: Pretrained, text: str) -> list[int]:
    return pretrained.tokenizer.encode(text).ids


@evaluating
def right_after(model, asked: Prompts) -> Tensor:
    """Share of the orders in which the right answer is the most probable token, by the examples before it: ``(n,)``."""
    best = model(asked.tokens)[0].argmax(dim=-1)  # (B, T)
    return (best.gather(1, asked.at) == asked.wanted).double().mean(dim=0)


def in_context(job: Job) -> dict[str, Any]:
    """Each task with right and with wrong answers in the prompt, and the two words of the chapter's first figure."""
    pretrained, right = smollm2(), {}
    with fused(pretrained.model):
        for name, text in TASKS.items():
            right[name] = {
                answers: rounded(
                    right_after(pretrained.model, prompts(pretrained, pairs_of(text), job.steps, job.seed, wrong))
                )
                for answers, wrong in (("right", False), ("wrong", True))
            }
        return {"by_task": right, "example": {word: next_tokens(pretrained, word) for word in ASKED}}


@torch.no_grad()
def next_tokens(pretrained: Pretrained, word: str) -> dict[str, dict[str, float]]:
    """The most probable tokens after ``word ->``, behind each of the three groups of examples."""
    found = {}
    for name, text in EXAMPLES.items():
        lines = "".join(f"{a} -> {b}\n" for a, b in pairs_of(text))
        logits, _ = pretrained.model(torch.tensor([_ids(pretrained, f"{lines}{word} ->")]))
        best = logits[0, -1].softmax(dim=-1).topk(NAMED)
        found[name] = {
            pretrained.tokenizer.decode([token]): round(p, 4)
            for p, token in zip(*(of.tolist() for of in best), strict=True)
        }
    return found


def groups_of(split: HeldOut) -> list[list[Head]]:
    """No heads, the FINDERS best by prefix matching, and CONTROLS draws of as many others, from all layers."""
    best = ordered(split.scores["induction"])
    return [[], best[:FINDERS], *(drawn(best[FINDERS:], FINDERS, draw) for draw in range(CONTROLS))]


def without_heads_that_copy(job: Job) -> dict[str, Any]:
    """Share right after FROM and more examples, without the best heads by prefix matching, and without others."""
    pretrained = smollm2()
    split = HeldOut.drawn(pretrained, job)
    groups = groups_of(split)
    finders = groups[1]
    found = {}
    for name, text in TASKS.items():
        asked, shares = prompts(pretrained, pairs_of(text), job.steps, job.seed), []
        for heads in groups:
            with fused(pretrained.model), split.without(heads):
                shares.append(rounded_mean(right_after(pretrained.model, asked)[FROM:]))
        found[name] = {"all": shares[0], "finders": shares[1], "controls": shares[2:]}
    return {"finders": [list(at) for at in finders], "by_task": found}


def repeated_pairs(words: Tensor) -> Tensor:
    """Which tokens after the first complete a pair of neighbours that came before: ``(B, T)`` -> ``(B, T - 1)`` bool.

    >>> repeated_pairs(torch.tensor([[1, 2, 3, 1, 2, 4]]))
    tensor([[False, False, False,  True, False]])
    """
    pairs = words.unfold(1, 2, 1)  # (B, T - 1, 2)
    same = (pairs[:, :, None] == pairs[:, None]).all(dim=-1)  # (B, T - 1, T - 1)
    return same.tril(-1).any(dim=-1)


def later_tokens(job: Job) -> dict[str, Any]:
    """Nats per token of the book's prose early and late in a text, without the best heads by prefix matching and
    without others: this is what Olsson et al. 2022 mean by in-context learning.
    """
    pretrained = smollm2()
    split = HeldOut.drawn(pretrained, job)
    tokens = text_tokens(pretrained)
    texts = tokens[: len(tokens) // LENGTH * LENGTH].view(-1, LENGTH)[job.seed * job.steps :][: job.steps]
    again, found = repeated_pairs(texts), []
    for heads in groups_of(split):
        with fused(pretrained.model), split.without(heads), torch.no_grad():
            nats = surprises(pretrained.model(texts)[0], texts).double()  # (B, T - 1); at t, t + 1 tokens were read
        of = {name: nats[:, begin - 1 : end - 1].mean() for name, (begin, end) in SPANS.items()}
        of |= {"repeated": nats[again].mean(), "other": nats[~again].mean()}
        found.append({name: round(value.item(), 4) for name, value in of.items()})
    count = {"repeated": int(again.sum()), "other": int((~again).sum())}
    return {"all": found[0], "finders": found[1], "controls": found[2:], "count": count}


def gap_sentences(count: int, seed: int) -> list[tuple[str, str, bool]]:
    """``count`` sentences such as "The keys near the cabinet are old.", with either number of the subject.

    Each is ``(with a singular subject, with a plural one, whether the verb is plural)``; the other noun has the other
    number than the verb.

    >>> gap_sentences(1, seed=0)
    [('The boat near the cabinets is old.', 'The boats near the cabinets is old.', False)]
    """
    draw, found = generator(seed), []
    for plural in [bool(i % 2) for i in range(count)]:
        subject, other = nouns_of(2, draw, plural)
        (near,) = prepositions_of(1, draw)
        thing, verb = subject.removesuffix("s") if plural else subject, "are" if plural else "is"
        one, many = (f"The {noun} {near} the {other} {verb} old." for noun in (thing, thing + "s"))
        found.append((one, many, plural))
    return found


@evaluating
def log_probabilities(pretrained: Pretrained, texts: list[str]) -> tuple[Tensor, Tensor]:
    """Of the second token alone, given the first, and of the whole text behind its first token: ``(N,)`` each."""
    first, whole = [], []
    for text in texts:
        tokens = torch.tensor([_ids(pretrained, text)])
        logits, _ = pretrained.model(tokens)
        each = -surprises(logits, tokens)[0]  # (T - 1,)
        first.append(each[0])
        whole.append(each.sum())
    return torch.stack(first), torch.stack(whole)


def gaps(job: Job) -> dict[str, Any]:
    """How often the subject has the verb's number: by what stands left of the gap, and by the whole sentence."""
    pretrained, these = smollm2(), gap_sentences(job.steps, job.seed)
    plural = torch.tensor([of for _, _, of in these])
    with fused(pretrained.model):
        singular = log_probabilities(pretrained, [one for one, _, _ in these])
        many = log_probabilities(pretrained, [of for _, of, _ in these])
    left, whole = (p > s for s, p in zip(singular, many, strict=True))  # is the plural preferred? (N,) each
    return {name: rounded_mean(of == plural) for name, of in (("left", left), ("whole", whole))}


PARTS: Parts = {
    "prompts": (in_context, 8),
    "heads": (without_heads_that_copy, 4),
    "gaps": (gaps, 60),
    "later": (later_tokens, 4),
}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_prompts",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "tasks": TASKS, "examples": EXAMPLES, "things": THINGS,
        "finders": FINDERS, "controls": CONTROLS, "from": FROM,
    },
    on_cpu=True,
)  # fmt: skip
