"""Does what SmolLM2's binding heads write decide which line its finding heads choose (chapter 15)?

Nothing is trained. Of each prompt there is a twin in which the words are exchanged in pairs and the colours stay: where
one has *cat red*, the other has *lion red*. If the finders' keys read what the binders wrote on the twin, a line with
*cat* is bound to *lion*, so at *lion* the model should name the colour of *cat*. ``steps`` says how many pairs of
prompts are measured; each prompt of a pair is the other's twin.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import ExchangedPaths
from attnbook.measure.inside import attentions_of, surprises, without_heads
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments import real_binding
from attnruns.experiments.real_binding import LOW, SEQUENCES
from attnruns.experiments.real_labels import KEYS, LABELS, LINES, WORDS, Lines, label_ids, prompt
from attnruns.experiments.real_model import Head, fused, numbered, scores, segments, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

TEXT = 256  # tokens of the text on which a control is chosen, and of the next one, on which it is tested


def twins(pretrained: Pretrained, count: int, seed: int) -> list[tuple[Lines, Lines]]:
    """Prompts of KEYS words of one token each, and their twins: the words 0 and 1, 2 and 3, 4 and 5 are exchanged.

    The two words of a pair have different colours.
    """
    draw, found = generator(seed), []
    pool = [word for word in WORDS if len(pretrained.tokenizer.encode(word).ids) == 1]
    for _ in range(count):
        words = [pool[i] for i in torch.randperm(len(pool), generator=draw)[:KEYS]]
        label_of = [torch.randperm(len(LABELS), generator=draw)[:2] for _ in range(KEYS // 2)]
        which = torch.randint(KEYS, (LINES,), generator=draw).tolist()
        labels = torch.cat(label_of).tolist()
        exchanged = [words[number ^ 1] for number in range(KEYS)]
        found.append((prompt(pretrained, words, which, labels), prompt(pretrained, exchanged, which, labels)))
    return found


def costs(pretrained: Pretrained, texts: Tensor, groups: list[list[Head]]) -> list[float]:
    """By how many nats per token a text becomes harder without each group of heads."""
    found = []
    with fused(pretrained.model), torch.no_grad():
        for heads in [[], *groups]:
            with without_heads(attentions_of(pretrained.model), heads):
                found.append(surprises(pretrained.model(texts)[0], texts).mean().item())
    return [cost - found[0] for cost in found[1:]]


def costliest(
    pretrained: Pretrained, table: dict[str, list[list[float]]], heads: list[Head], texts: Tensor
) -> list[Head]:
    """For each head the one of its layer that a text needs most, of those with LOW weight on the token before."""
    layers = sorted({layer for layer, _ in heads})
    free = [(at, head) for at in layers for head, score in enumerate(table["previous"][at]) if score < LOW]
    free = [at for at in free if at not in heads]
    cost = dict(zip(free, costs(pretrained, texts, [[at] for at in free]), strict=True))
    picked: list[Head] = []
    for layer, _ in heads:
        picked.append(max((at for at in free if at[0] == layer and at not in picked), key=lambda at: cost[at]))
    return picked


def followed(pretrained: Pretrained, lines: Lines, found: Any, finders: list[Head]) -> dict[str, Tensor]:
    """Of each line: which colour is named, the word's own or that of the other word of its pair, and the finders'
    weight on the lines of each; where both words stood before, and neither on the last line.
    """
    which, other = lines.which, lines.which ^ 1
    own, others = (((of[:, None] == which[None]).tril(-1)) for of in (which, other))  # (LINES, LINES)
    known = own.any(dim=1) & others.any(dim=1)
    known[1:] &= which[1:] // 2 != which[:-1] // 2
    colour_of = dict(zip(which.tolist(), lines.wanted.tolist(), strict=True))
    theirs = torch.tensor([colour_of.get(number, -1) for number in other.tolist()])
    named = found.logits[:, lines.asked][:, :, label_ids(pretrained)].argmax(dim=-1)  # (2, LINES)
    weights = torch.stack([found.maps[layer][:, head] for layer, head in finders]).mean(dim=0)  # (2, T, T)
    weights = weights[:, lines.asked][:, :, lines.answers]  # (2, LINES, LINES)
    return {
        "own": (named == lines.wanted)[:, known].double(),
        "other": (named == theirs)[:, known].double(),
        "found_own": (weights * own).sum(dim=-1)[:, known],
        "found_other": (weights * others).sum(dim=-1)[:, known],
    }


def exchange(job: Job) -> dict[str, Any]:
    """Which colour is named when the finders read the twin's binding in their keys, their queries or their values."""
    pretrained, pairs = smollm2(), twins(smollm2(), job.steps, job.seed)
    table = scores(pretrained.model, segments(pretrained, SEQUENCES, job.seed).repeat(1, 2))
    finders, binders = real_binding.chosen(table)
    texts = text_tokens(pretrained)[2 * job.seed * TEXT :][: 2 * TEXT].view(2, 1, TEXT)
    matched = costliest(pretrained, table, binders, texts[0])
    seen: dict[str, list[dict[str, Tensor]]] = {}
    for first, second in pairs:
        words = torch.stack([first.tokens, second.tokens])
        paths = ExchangedPaths(pretrained.model, words, binders)
        for name, found in (
            ("usual", paths.read()),
            ("keys", paths.read(keys=finders)),
            ("queries", paths.read(queries=finders)),
            ("values", paths.read(values=finders)),
            ("others, keys", paths.with_writers(matched).read(keys=finders)),
        ):
            seen.setdefault(name, []).append(followed(pretrained, first, found, finders))
    read = {
        name: {kind: rounded_mean(torch.cat([of[kind].flatten() for of in every])) for kind in every[0]}
        for name, every in seen.items()
    }
    cost = costs(pretrained, texts[1], [binders, matched])
    return {
        "heads": {"binders": numbered(binders), "finders": numbered(finders), "others": numbered(matched)},
        "counted": sum(of["own"].numel() for of in seen["usual"]),
        "cost": {name: round(nats, 4) for name, nats in zip(("binders", "others"), cost, strict=True)},
        "read": read,
    }


PARTS: Parts = {"exchange": (exchange, 5)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_exchange",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "words": KEYS, "lines": LINES, "labels": LABELS, "text": TEXT},
    on_cpu=True,
)  # fmt: skip
