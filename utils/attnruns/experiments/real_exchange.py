"""Does what SmolLM2's binding heads write decide which line its finding heads choose (chapter 15)?

Nothing is trained. Of each prompt there is a twin in which the words are exchanged in pairs and the colours stay: where
one has *cat red*, the other has *lion red*. If the finders' keys read what the binders wrote on the twin, a line with
*cat* is bound to *lion*, so at *lion* the model should name the colour of *cat*. ``steps`` says how many pairs of
prompts are measured; each prompt of a pair is the other's twin. The model ``example`` reads the chapter's four lines
instead, ``example_first`` the same lines with a twin that exchanges their first word. ``wider`` exchanges more than the
finders' keys.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import Exchanged, ExchangedPaths
from attnbook.measure.inside import attentions_of, surprises, without_heads
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments import real_binding
from attnruns.experiments.real_binding import ASKED, EXAMPLE, LOW, SEQUENCES
from attnruns.experiments.real_labels import KEYS, LABELS, LINES, WORDS, Lines, label_ids, prompt
from attnruns.experiments.real_model import Head, fused, numbered, scores, segments, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

TEXT = 256  # tokens of the text on which a control is chosen, and of the next one, on which it is tested
EXCHANGED = {"example": (1, 2), "example_first": (0, 1)}  # the words of the four lines that change places in the twin
DRAWS = 5  # of as many other heads as bind, at random, from the same layers: a second control


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


def heads_and_draws(
    pretrained: Pretrained, seed: int
) -> tuple[dict[str, list[list[float]]], dict[str, list[Head]], dict[str, list[Head]]]:
    """The scores of all heads; the heads that bind and those that find; and DRAWS times as many others as bind, drawn
    beside them.
    """
    table = scores(pretrained.model, segments(pretrained, SEQUENCES, seed).repeat(1, 2))
    finders, binders = real_binding.chosen(table)
    draws = {f"draw {draw}": real_binding.others_beside(table, binders, draw) for draw in range(DRAWS)}
    return table, {"binders": binders, "finders": finders}, draws


def heads_and_texts(pretrained: Pretrained, seed: int) -> tuple[dict[str, list[Head]], Tensor]:
    """The heads that bind, those that find, and as many others as bind, beside them: those that a text needs most, and
    DRAWS times any; the two texts ``(2, 1, TEXT)``.
    """
    table, heads, draws = heads_and_draws(pretrained, seed)
    texts = text_tokens(pretrained)[2 * seed * TEXT :][: 2 * TEXT].view(2, 1, TEXT)
    others = costliest(pretrained, table, heads["binders"], texts[0])
    return heads | {"others": others} | draws, texts


def everywhere(paths: ExchangedPaths, words: Tensor, writers: list[Head]) -> Exchanged:
    """All that comes later reads what these heads wrote on the twin, so the indirect paths are exchanged as well."""
    theirs = [paths.contexts[layer][:, :, head].roll(1, dims=0) for layer, head in writers]
    with without_heads(paths.attentions, writers, theirs), torch.no_grad():
        return Exchanged(paths.model(words)[0], list(paths.model.maps(words)))


def keys_of_the_twin(paths: ExchangedPaths, words: Tensor, first: int) -> Exchanged:
    """All heads from layer ``first`` on have the twin's keys, whoever wrote them, and their own queries and values."""
    later = zip(paths.model.blocks.layers[first:], paths.entering[first:], strict=False)
    with ExitStack() as stack, torch.no_grad():
        for block, x in later:
            project = block.self_attention.project_key
            theirs = project(block.norm_self(x.roll(1, dims=0)))
            handle = project.register_forward_hook(lambda _, __, ___, theirs=theirs: theirs)
            stack.callback(handle.remove)
        return Exchanged(paths.model(words)[0], list(paths.model.maps(words)))


def readings(paths: ExchangedPaths, heads: dict[str, list[Head]]) -> dict[str, Exchanged]:
    """What the model finds without an exchange, with one, and with those of the controls."""
    finders = heads["finders"]
    controls = {name: of for name, of in heads.items() if name not in ("binders", "finders")}
    return {
        "usual": paths.read(),
        "keys": paths.read(keys=finders),
        "queries": paths.read(queries=finders),
        "values": paths.read(values=finders),
        **{f"{name}, keys": paths.with_writers(of).read(keys=finders) for name, of in controls.items()},
    }


def followed_in(
    pretrained: Pretrained,
    pairs: list[tuple[Lines, Lines]],
    heads: dict[str, list[Head]],
    read: Callable[[ExchangedPaths, Tensor], dict[str, Exchanged]],
) -> dict[str, list[dict[str, Tensor]]]:
    """What is :func:`followed` in each pair of prompts, by the reading's name; ``read(paths, words)`` reads all."""
    seen: dict[str, list[dict[str, Tensor]]] = {}
    for first, second in pairs:
        words = torch.stack([first.tokens, second.tokens])
        paths = ExchangedPaths(pretrained.model, words, heads["binders"])
        for name, found in read(paths, words).items():
            seen.setdefault(name, []).append(followed(pretrained, first, found, heads["finders"]))
    return seen


def exchange(job: Job) -> dict[str, Any]:
    """Which colour is named when the finders read the twin's binding in their keys, their queries or their values."""
    pretrained, pairs = smollm2(), twins(smollm2(), job.steps, job.seed)
    heads, texts = heads_and_texts(pretrained, job.seed)
    seen = followed_in(pretrained, pairs, heads, lambda paths, _: readings(paths, heads))
    cost = costs(pretrained, texts[1], [heads["binders"], heads["others"]])
    return {
        "heads": {name: numbered(of) for name, of in heads.items()},
        "counted": sum(of["own"].numel() for of in seen["usual"]),
        "cost": {name: round(nats, 4) for name, nats in zip(("binders", "others"), cost, strict=True)},
        "read": means(seen),
    }


def means(seen: dict[str, list[dict[str, Tensor]]]) -> dict[str, dict[str, float]]:
    """The mean of each kind over the lines of all prompts, by the name of the reading."""
    return {
        name: {kind: rounded_mean(torch.cat([of[kind].flatten() for of in every])) for kind in every[0]}
        for name, every in seen.items()
    }


def wider(job: Job) -> dict[str, Any]:
    """Which colour is named when all that comes later reads the exchange, and when all later keys are the twin's."""
    pretrained, pairs = smollm2(), twins(smollm2(), job.steps, job.seed)
    _, heads, draws = heads_and_draws(pretrained, job.seed)

    def read(paths: ExchangedPaths, words: Tensor) -> dict[str, Exchanged]:
        return {
            "usual": paths.read(),
            "everywhere": everywhere(paths, words, heads["binders"]),
            "all keys": keys_of_the_twin(paths, words, min(heads["finders"])[0]),
            **{f"{name}, everywhere": everywhere(paths, words, of) for name, of in draws.items()},
        }

    seen = followed_in(pretrained, pairs, heads, read)
    return {"heads": {name: numbered(of) for name, of in heads.items()}, "read": means(seen)}


def example(job: Job) -> dict[str, Any]:
    """The chapter's four lines with the same exchanges: each colour's probability after the last word, and the weights
    of the finders (their mean) from there on each token.
    """
    pretrained = smollm2()
    heads, _ = heads_and_texts(pretrained, job.seed)
    words, colours = zip(*EXAMPLE, strict=True)
    which, labels = [words.index(word) for word in (*words, ASKED)], [LABELS.index(colour) for colour in colours]
    one, other = EXCHANGED[job.model]
    exchanged = list(words)
    exchanged[one], exchanged[other] = words[other], words[one]
    first, second = (prompt(pretrained, list(of), which, labels) for of in (words, exchanged))
    end = int(first.asked[-1]) + 1
    paths = ExchangedPaths(pretrained.model, torch.stack([first.tokens[:end], second.tokens[:end]]), heads["binders"])
    figures: dict[str, Any] = {
        "tokens": [pretrained.tokenizer.decode([token]) for token in first.tokens[:end].tolist()]
    }
    for name, found in readings(paths, heads).items():
        probabilities = found.logits[0, -1].softmax(dim=-1)[label_ids(pretrained)]
        maps = [(found.maps[layer], head) for layer, head in heads["finders"]]
        weights = torch.stack([of[0, head, -1] for of, head in maps if of is not None]).mean(dim=0)  # none is fused
        figures[name] = {
            "probabilities": dict(zip(LABELS, rounded(probabilities), strict=True)),
            "weights": rounded(weights),
        }
    return figures


PARTS: Parts = {"exchange": (exchange, 5), "wider": (wider, 5), "example": (example, 1), "example_first": (example, 1)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_exchange",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "words": KEYS, "lines": LINES, "labels": LABELS, "text": TEXT,
        "draws": DRAWS, "example": EXAMPLE, "exchanged": EXCHANGED, "asked": ASKED,
    },
    on_cpu=True,
)  # fmt: skip
