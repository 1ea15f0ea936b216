"""Does SmolLM2 learn word → label pairs that it cannot know, while it reads them (chapter 15)?

Nothing is trained. It is online recall in words: each line of a prompt is a word and its label, which were put together
at random. ``steps`` says how many prompts are measured. A causal model predicts at every position, so one pass over a
prompt measures the label of each of its lines.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_controls import HeldOut
from attnruns.experiments.real_model import Head, drawn, fused, numbered, ordered, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

NOUNS = (
    "cat horse duck mouse goat rabbit wolf bear pig snake lion frog hammer drill axe knife shovel rake apple banana "
    "grape lemon peach cherry plum mango shirt shoe hat coat sock glove dress jacket skirt belt"
)
WORDS = NOUNS.split()
LABELS = ("red", "blue", "green", "yellow")
KEYS, LINES = 6, 24  # words of a prompt, and lines
MOST = 3  # earlier lines with the same word that are told apart; "3" means three and more
EXAMPLE = ("cat", "shoe", "duck", "plum", "shoe", "cat", "plum", "duck", "shoe")  # the last is asked
FINDERS, CONTROLS = 5, 5  # heads that are taken out together; draws of as many others
SEQUENCES = 4  # on which heads are chosen and their means taken
ELSEWHERE = 1000  # added to the seed: prompts on which the head of the figure is chosen


class Lines(NamedTuple):
    """Prompts of several lines, each a word and its label.

    Fields:
        tokens: ``(T,)`` of one prompt. asked, answers: ``(LINES,)``, where each word's last token and its label stand.
        which: ``(LINES,)``, the number of each line's word. wanted: ``(LINES,)``, the number of its label.
    """

    tokens: Tensor
    asked: Tensor
    answers: Tensor
    which: Tensor
    wanted: Tensor


def prompt(pretrained: Pretrained, words: list[str], which: list[int], label_of: list[int]) -> Lines:
    """A prompt with the lines ``words[which[i]]`` and their labels."""
    tokens: list[int] = []
    asked, answers = [], []
    for number in which:
        tokens += _ids(pretrained, words[number])
        asked.append(len(tokens) - 1)
        tokens += _ids(pretrained, f" {LABELS[label_of[number]]}")
        answers.append(len(tokens) - 1)
        tokens += _ids(pretrained, "\n")
    return Lines(*map(torch.tensor, (tokens, asked, answers, which, [label_of[number] for number in which])))


def prompts(pretrained: Pretrained, count: int, seed: int) -> list[Lines]:
    """``count`` prompts, each with KEYS words, whose labels and order are drawn at random."""
    draw, found = generator(seed), []
    for _ in range(count):
        words = [WORDS[i] for i in torch.randperm(len(WORDS), generator=draw)[:KEYS]]
        label_of = torch.randint(len(LABELS), (KEYS,), generator=draw).tolist()
        found.append(prompt(pretrained, words, torch.randint(KEYS, (LINES,), generator=draw).tolist(), label_of))
    return found


def _ids(pretrained: Pretrained, text: str) -> list[int]:
    return pretrained.tokenizer.encode(text).ids


def label_ids(pretrained: Pretrained) -> list[int]:
    """The first token of each label."""
    return [_ids(pretrained, f" {label}")[0] for label in LABELS]


def lines_before(which: Tensor) -> Tensor:
    """How many earlier lines have the same word: ``(LINES,)``; −1 where one of them is the line directly before.

    >>> lines_before(torch.tensor([0, 1, 0, 0, 1]))
    tensor([ 0,  0,  1, -1,  1])
    """
    same = (which[:, None] == which[None]).tril(-1)  # (LINES, LINES)
    copied = torch.cat([same.new_zeros(1), which[1:] == which[:-1]])
    return same.sum(dim=-1).masked_fill(copied, -1)


@torch.no_grad()
def answers(pretrained: Pretrained, these: list[Lines]) -> tuple[Tensor, Tensor]:
    """Which lines have a right label as the most probable of the four, and of all tokens: ``(B, LINES)`` bool each."""
    labels, of_four, of_all = torch.tensor(label_ids(pretrained)), [], []
    for lines in these:
        logits = pretrained.model(lines.tokens[None])[0][0, lines.asked]  # (LINES, V)
        of_four.append(logits[:, labels].argmax(dim=-1) == lines.wanted)
        of_all.append(logits.argmax(dim=-1) == labels[lines.wanted])
    return torch.stack(of_four), torch.stack(of_all)


def shares(right: Tensor, before: Tensor) -> dict[str, float]:
    """Share right by the number of earlier lines with the same word; ``"line before"``: one of them is the last."""
    groups = {"line before": before == -1, **{str(n): before == n for n in range(MOST)}, str(MOST): before >= MOST}
    return {name: rounded_mean(right[group]) for name, group in groups.items() if group.any()}


def in_context(job: Job) -> dict[str, Any]:
    """Share right by the number of earlier appearances, and the example of the chapter with each label in turn."""
    pretrained, these = smollm2(), prompts(smollm2(), job.steps, job.seed)
    before = torch.stack([lines_before(lines.which) for lines in these])  # (B, LINES)
    with fused(pretrained.model):
        of_four, of_all = answers(pretrained, these)
        example = {label: example_with(pretrained, number) for number, label in enumerate(LABELS)}
    return {"right": shares(of_four, before), "right_of_all": shares(of_all, before), "example": example}


@torch.no_grad()
def example_with(pretrained: Pretrained, label: int) -> dict[str, float]:
    """The probabilities of the labels after the last word of EXAMPLE, to which this label was given before."""
    words, others = list(dict.fromkeys(EXAMPLE)), [number for number in range(len(LABELS)) if number != label]
    label_of = [label if word == EXAMPLE[-1] else others.pop(0) for word in words]
    lines = prompt(pretrained, words, [words.index(word) for word in EXAMPLE], label_of)
    logits, _ = pretrained.model(lines.tokens[None, : lines.asked[-1] + 1])
    found = logits[0, -1].softmax(dim=-1)[label_ids(pretrained)].tolist()
    return {name: round(value, 4) for name, value in zip(LABELS, found, strict=True)}


# ---- the heads


@torch.no_grad()
def line_weights(pretrained: Pretrained, lines: Lines, heads: Callable[[Tensor], Tensor]) -> Tensor:
    """Weights from each line's word to the labels of all lines, ``(…, LINES, LINES)``, of the heads that are picked."""
    found = [weights[0][:, lines.asked][:, :, lines.answers] for weights in pretrained.model.maps(lines.tokens[None])]
    return heads(torch.stack(found))  # (layers, H, LINES, LINES)


def on_same_word(weights: Tensor, which: Tensor) -> Tensor:
    """The weight on labels of earlier lines with the same word, ``(…)``, over the lines that have some before them."""
    same = (which[:, None] == which[None]).tril(-1)  # (LINES, LINES)
    return (weights * same).sum(dim=-1)[..., same.any(dim=-1)].mean(dim=-1)


def heads(job: Job) -> dict[str, Any]:
    """The head with most weight on labels of the same word; and what is right without heads that copy."""
    pretrained, these = smollm2(), prompts(smollm2(), job.steps, job.seed)
    chosen_on = prompts(pretrained, SEQUENCES, job.seed + ELSEWHERE)
    scores = torch.stack([on_same_word(line_weights(pretrained, one, lambda w: w), one.which) for one in chosen_on])
    best = ordered(scores.mean(dim=0).tolist())  # heads, by the weight on other prompts
    layer, head = best[0]
    on_these = [line_weights(pretrained, one, lambda w: w[layer, head]) for one in these]
    found = [on_same_word(weights, one.which).item() for weights, one in zip(on_these, these, strict=True)]
    return {
        "head": [layer + 1, head + 1],
        "on_same_word": round(sum(found) / len(found), 4),
        "map": rounded(on_these[0]),
        "which": these[0].which.tolist(),
        **without(pretrained, these, job),
    }


def without(pretrained: Pretrained, these: list[Lines], job: Job) -> dict[str, Any]:
    """Share right where the word stands on an earlier line, but not on the last: with all heads, without FINDERS."""
    known = torch.stack([lines_before(one.which) for one in these]) > 0  # (B, LINES)
    split = HeldOut.drawn(pretrained, Job(job.model, job.seed, SEQUENCES))
    by_prefix: list[Head] = ordered(split.scores["induction"])
    groups = [[], by_prefix[:FINDERS], *(drawn(by_prefix[FINDERS:], FINDERS, draw) for draw in range(CONTROLS))]
    right = []
    for group in groups:
        with fused(pretrained.model), split.without(group):
            right.append(rounded_mean(answers(pretrained, these)[0][known]))
    return {"finders": numbered(groups[1]), "right": {"all": right[0], "finders": right[1], "controls": right[2:]}}


PARTS: Parts = {"recall": (in_context, 40), "heads": (heads, 8)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_labels",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "words": NOUNS, "labels": LABELS, "keys": KEYS, "lines": LINES,
        "example": EXAMPLE, "finders": FINDERS, "controls": CONTROLS,
    },
    on_cpu=True,
)  # fmt: skip
