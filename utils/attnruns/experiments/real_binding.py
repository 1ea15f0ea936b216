"""Does SmolLM2 need heads that attend to the token before in order to find a word's colour again (chapter 15)?

Nothing is trained; the prompts are those of ``real_labels``, whose number ``steps`` says. The binders are chosen on
random words that come twice, and are replaced by what they write on average into words, colours and ends of lines of
other prompts. So they go on to say what kind of token stands before, and no longer which one.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import contexts_of
from attnbook.measure.inside import attentions_of, without_heads
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_labels import (
    FINDERS,
    LABELS,
    NOUNS,
    Lines,
    label_ids,
    lines_before,
    on_same_word,
    prompt,
    prompts,
)
from attnruns.experiments.real_model import Head, numbered, ordered, scores, segments, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

BINDERS, CONTROLS = 5, 10  # heads that are taken out together; draws of as many others
SEQUENCES, FOR_MEANS = 4, 8  # random words on which heads are chosen; prompts over which means are taken
ELSEWHERE = 1000  # added to the seed: prompts over which means are taken
LOW = 0.25  # a control gives less weight than this to the token before
EXAMPLE, ASKED = (("apple", "green"), ("cat", "red"), ("shirt", "blue")), "cat"
ROLES = 3  # of a token: word, colour, end of line


def roles(lines: Lines) -> Tensor:
    """What each token of a prompt is: 0 in a word, 1 a colour, 2 the end of a line: ``(T,)``."""
    found = torch.zeros_like(lines.tokens)
    found[lines.answers], found[lines.answers + 1] = 1, 2
    return found


def means_by_role(pretrained: Pretrained, these: list[Lines]) -> list[Tensor]:
    """What every head finds on average at the tokens of each role: of each layer ``(ROLES, H, D/H)``."""
    role = torch.cat([roles(lines) for lines in these])  # (N,)
    contexts = [contexts_of(pretrained.model, lines.tokens[None]) for lines in these]
    layers = [torch.cat([of[layer][0] for of in contexts]) for layer in range(len(contexts[0]))]  # each (N, H, D/H)
    return [torch.stack([layer[role == number].mean(dim=0) for number in range(ROLES)]) for layer in layers]


def chosen(found: dict[str, list[list[float]]]) -> tuple[list[Head], list[Head]]:
    """The heads that find, by prefix matching, and in layers before theirs those that bind, by the token before."""
    finders = ordered(found["induction"])[:FINDERS]
    earlier = [at for at in ordered(found["previous"]) if at[0] < min(layer for layer, _ in finders)]
    return finders, earlier[:BINDERS]


def others_beside(
    found: dict[str, list[list[float]]], chosen_heads: list[Head], draw: int, kind: str = "previous"
) -> list[Head]:
    """For each chosen head another head of its layer, at random, none twice, none chosen and none with LOW or more.

    ``kind`` is the score that is low: "previous", the weight on the token before, or "induction", prefix matching.
    """
    picked: list[Head] = []
    for layer, _ in chosen_heads:
        low = [head for head, score in enumerate(found[kind][layer]) if score < LOW]
        free = [(layer, head) for head in low if (layer, head) not in picked + chosen_heads]
        picked.append(free[int(torch.randint(len(free), (1,), generator=generator(len(picked) + 100 * draw)))])
    return picked


@torch.no_grad()
def measure(
    pretrained: Pretrained, these: list[Lines], finders: list[Head], out: list[Head], means: list[Tensor]
) -> dict[str, float]:
    """Without the heads ``out``, where the word stands on an earlier line, but not on the last: the share of right
    colours, and how often the most probable token is a colour at all; and the finders' weight on the right lines.
    """
    labels, right, colour, found = torch.tensor(label_ids(pretrained)), [], [], []
    for lines in these:
        known = lines_before(lines.which) > 0
        instead: list[Tensor | float] = [means[layer][roles(lines), head] for layer, head in out]  # each (T, D/H)
        with without_heads(attentions_of(pretrained.model), out, instead):
            logits, _, maps = pretrained.model.read(lines.tokens[None], pretrained.model.start())
        logits = logits[0, lines.asked]  # (LINES, V)
        right.append((logits[:, labels].argmax(dim=-1) == lines.wanted)[known])
        colour.append(torch.isin(logits.argmax(dim=-1), labels)[known])
        weights = torch.stack([maps[layer][0, head] for layer, head in finders])[:, lines.asked][:, :, lines.answers]
        found.append(on_same_word(weights, lines.which).mean())  # (F, LINES, LINES)
    return {
        "right": rounded_mean(torch.cat(right)),
        "colour": rounded_mean(torch.cat(colour)),
        "found": rounded_mean(torch.stack(found)),
    }


@torch.no_grad()
def to_own_word(pretrained: Pretrained, these: list[Lines], heads: list[Head]) -> list[float]:
    """Of each head the mean weight from a colour to the token before it, which is its word's last."""
    found = []
    for lines in these:
        maps = pretrained.model.maps(lines.tokens[None])
        found.append(torch.stack([maps[layer][0, head][lines.answers, lines.asked].mean() for layer, head in heads]))
    return [round(share, 4) for share in torch.stack(found).mean(dim=0).tolist()]


def binding(job: Job) -> dict[str, Any]:
    """What is right with all heads, without those that bind, without those that find, and without others."""
    pretrained, these = smollm2(), prompts(smollm2(), job.steps, job.seed)
    table = scores(pretrained.model, segments(pretrained, SEQUENCES, job.seed).repeat(1, 2))
    finders, binders = chosen(table)
    elsewhere = prompts(pretrained, FOR_MEANS, job.seed + ELSEWHERE)
    means = means_by_role(pretrained, elsewhere)
    controls = [others_beside(table, binders, draw) for draw in range(CONTROLS)]
    figures = {
        name: measure(pretrained, these, finders, out, means)
        for name, out in (("all", []), ("binders", binders), ("finders", finders))
    }
    return {
        "heads": {"binders": numbered(binders), "finders": numbered(finders)},
        "previous": [round(table["previous"][layer][head], 4) for layer, head in binders],
        "to_own_word": to_own_word(pretrained, elsewhere, binders),
        **figures,
        "controls": [measure(pretrained, these, finders, out, means) for out in controls],
        "control_heads": [numbered(out) for out in controls],
    }


def beside_finders(job: Job) -> dict[str, Any]:
    """What is right without others from the layers of those that find, a control for these."""
    pretrained, these = smollm2(), prompts(smollm2(), job.steps, job.seed)
    table = scores(pretrained.model, segments(pretrained, SEQUENCES, job.seed).repeat(1, 2))
    finders, _ = chosen(table)
    means = means_by_role(pretrained, prompts(pretrained, FOR_MEANS, job.seed + ELSEWHERE))
    controls = [others_beside(table, finders, draw, "induction") for draw in range(CONTROLS)]
    return {
        "prefix_matching": [round(table["induction"][layer][head], 4) for layer, head in finders],
        "controls": [measure(pretrained, these, finders, out, means) for out in controls],
        "control_heads": [numbered(out) for out in controls],
    }


@torch.no_grad()
def example(job: Job) -> dict[str, Any]:
    """The chapter's four lines: weights of the heads that bind and find, and the probabilities after the last word."""
    pretrained = smollm2()
    table = scores(pretrained.model, segments(pretrained, SEQUENCES, job.seed).repeat(1, 2))
    finders, binders = chosen(table)
    means = means_by_role(pretrained, prompts(pretrained, FOR_MEANS, job.seed + ELSEWHERE))
    words, colours = zip(*EXAMPLE, strict=True)
    which = [words.index(word) for word in (*words, ASKED)]
    lines = prompt(pretrained, list(words), which, [LABELS.index(colour) for colour in colours])
    end = int(lines.asked[-1]) + 1
    figures: dict[str, Any] = {
        "tokens": [pretrained.tokenizer.decode([token]) for token in lines.tokens[:end].tolist()]
    }
    for name, out in (("all", []), ("without binders", binders)):
        instead: list[Tensor | float] = [means[layer][roles(lines)[:end], head] for layer, head in out]
        with without_heads(attentions_of(pretrained.model), out, instead):
            logits, _, maps = pretrained.model.read(lines.tokens[None, :end], pretrained.model.start())
        found = logits[0, -1].softmax(dim=-1)
        figures[name] = {
            "probabilities": dict(zip(LABELS, rounded(found[label_ids(pretrained)]), strict=True)),
            "most probable": pretrained.tokenizer.decode([int(found.argmax())]),
            "maps": {f"{layer + 1}.{head + 1}": rounded(maps[layer][0, head]) for layer, head in (*binders, *finders)},
        }
    return figures


PARTS: Parts = {"binding": (binding, 20), "beside_finders": (beside_finders, 20), "example": (example, 1)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_binding",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "words": NOUNS, "labels": LABELS, "binders": BINDERS,
        "finders": FINDERS, "controls": CONTROLS, "low": LOW, "for_means": FOR_MEANS,
        "example": EXAMPLE, "asked": ASKED,
    },
    on_cpu=True,
)  # fmt: skip
