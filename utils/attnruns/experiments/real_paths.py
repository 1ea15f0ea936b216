"""Through which paths SmolLM2's heads copy, invented names, and skipped positions (chapter 19).

Nothing is trained. ``steps`` says how many sequences or names are measured.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor

from attnbook.attention.positions import Rotary
from attnbook.measure.circuits import ExchangedPaths
from attnbook.measure.induction import prefix_matching_score
from attnbook.measure.inside import attentions_of, surprises
from attnruns.experiments.real_controls import FOR_TEST, HeldOut
from attnruns.experiments.real_model import PERIOD, Head, drawn, fused, ordered, other_heads, segments, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

MARKERS: dict[str, Head] = {"17.1": (16, 0), "18.9": (17, 8), "12.2": (11, 1)}
SHOWN: dict[str, Head] = {
    "18.4": (17, 3), "18.5": (17, 4), "18.6": (17, 5), "19.7": (18, 6), "19.8": (18, 7), "24.3": (23, 2)
}  # fmt: skip
FINDERS = 5  # the best by prefix matching
BEHIND = 19  # layers; those after it read what the finders wrote
DRAWS = 5
GAPS = (0, 1000, 2000, 4000, 6000, 8000)
FRAME = "At the party Mira greeted Dr. {0}. Later that evening she again greeted Dr. {0}."
NAMES = (
    "Zebulon Quarkstein", "Tavrik Bolundo", "Ysmera Klintofant", "Orvash Pellimund",
    "Brindle Zaxomere", "Quillan Thrupwick", "Marzella Voskobrin", "Jendrik Umblefast",
    "Halvora Skimptide", "Corbulon Drazzek", "Ludmira Wexobald", "Fennick Grobashtu",
)  # fmt: skip


def head_name(head: Head) -> str:
    """``(16, 0)`` is 17.1: layer and head are counted from 1."""
    return f"{head[0] + 1}.{head[1] + 1}"


def seen(words: Tensor, logits: Tensor, maps: Sequence[Tensor | None]) -> dict[str, Any]:
    """The share of the second round that is copied, and how much weight some heads give to the right position."""
    right = (logits[:, :-1].argmax(dim=-1) == words[:, 1:])[:, 1 - PERIOD :].double().mean().item()
    matched = {
        name: round(prefix_matching_score(weights, words)[head].item(), 4)
        for name, (layer, head) in SHOWN.items()
        if (weights := maps[layer]) is not None
    }
    return {"copied": round(right, 4), "matched": matched}


def paths(job: Job) -> dict[str, Any]:
    """What is copied when writing is exchanged on one kind of path: into the finders, and from the finders onwards."""
    pretrained = smollm2()
    split = HeldOut.drawn(pretrained, job)
    model, words, layers = pretrained.model, split.words, len(split.attentions)
    finders, few = ordered(split.scores["induction"])[:FINDERS], other_heads(split.scores, layers * 9, 0)
    readers = [(layer, head) for layer in range(BEHIND, layers) for head in range(split.attentions[0].heads)]

    def read(writers: list[Head], **into: Any) -> dict[str, Any]:
        return seen(words, *ExchangedPaths(model, words, writers).read(**into))

    before = min(layer for layer, _ in finders)  # the layer of the first finder
    single = drawn([at for at in few if at[0] < before], DRAWS, job.seed)
    groups = [drawn([at for at in few if at[0] < BEHIND], FINDERS, draw) for draw in range(DRAWS)]
    every = {"queries": readers, "keys": readers, "values": readers, "feed_forward": range(before, layers)}
    return {
        "finders": [list(at) for at in finders],
        "usual": read([]),
        "into_keys": {name: read([at], keys=finders) for name, at in MARKERS.items()},
        "others_into_keys": {head_name(at): read([at], keys=finders) for at in single},
        "into_queries": read([MARKERS["17.1"]], queries=finders),
        "into_values": read([MARKERS["17.1"]], values=finders),
        "onwards": {kind: read(finders, **{kind: of}) for kind, of in (every | {"output": True}).items()},
        "others_onwards": [read(group, queries=readers) for group in groups],
        "into_24.3": read(finders, queries=[SHOWN["24.3"]]),
        "others_into_24.3": [read(group, queries=[SHOWN["24.3"]]) for group in groups],
        "without 12.2 and 17.1": split.copied([MARKERS["12.2"], MARKERS["17.1"]]),
        "without 17.1": split.copied([MARKERS["17.1"]]),
    }


def name_nats(pretrained: Any, name: str) -> tuple[list[float], list[float]]:
    """Surprise of each token of an invented name, the first and the second time that it stands in the sentence."""
    ids, wanted = pretrained.tokenizer.encode(FRAME.format(name)).ids, pretrained.tokenizer.encode(f" {name}").ids
    size = len(wanted)
    begins = [at for at in range(len(ids)) if ids[at : at + size] == wanted]
    words = torch.tensor([ids])
    with fused(pretrained.model), torch.no_grad():
        nats = surprises(pretrained.model(words)[0], words)[0]
    first, second = ([round(x, 3) for x in nats[at - 1 : at - 1 + size].tolist()] for at in begins)
    return first, second


def names(job: Job) -> dict[str, Any]:
    """Invented names that come twice: what the second time costs, with all heads and with means in place of some."""
    pretrained = smollm2()
    split = HeldOut.drawn(pretrained, job)
    finders = ordered(split.scores["induction"])[:FINDERS]
    sets = {"17.1": [MARKERS["17.1"]], "finders": finders}
    others = [other_heads(split.scores, FINDERS, draw) for draw in range(DRAWS)]
    found = {}
    for name in NAMES[job.seed * job.steps :][: job.steps]:
        first, second = name_nats(pretrained, name)
        without = {}
        for what, heads in sets.items():
            with split.without(heads):
                without[what] = name_nats(pretrained, name)[1]
        controls = []
        for heads in others:
            with split.without(heads):
                controls.append(name_nats(pretrained, name)[1])
        found[name] = {"first": first, "second": second, "without": without, "controls": controls}
    return {"names": found}


class Skipping(Rotary):
    """Rotary positions that skip ``gap`` positions after the first ``PERIOD``."""

    def __init__(self, base: float, gap: int) -> None:
        super().__init__(base)
        self.gap = gap

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().rotate(x, positions + self.gap * (positions >= PERIOD))


@contextmanager
def skipped(model, gap: int) -> Iterator[None]:
    """Inside this block, positions from ``PERIOD`` on are larger by ``gap``, without any text between."""
    attentions = attentions_of(model)
    before = [attention.positions for attention in attentions]
    try:
        for attention, usual in zip(attentions, before, strict=True):
            attention.positions = Skipping(cast(Rotary, usual).base, gap)
        yield
    finally:
        for attention, usual in zip(attentions, before, strict=True):
            attention.positions = usual


def distance(job: Job) -> dict[str, Any]:
    """What is copied, and how well heads find, when only the positions of the second round are moved away."""
    pretrained = smollm2()
    words = segments(pretrained, job.steps, job.seed + FOR_TEST).repeat(1, 2)
    found = {}
    for gap in GAPS:
        with skipped(pretrained.model, gap), torch.no_grad():
            found[str(gap)] = seen(words, pretrained.model(words)[0], pretrained.model.maps(words))
    return {"by_gap": found}


PARTS: Parts = {"paths": (paths, 4), "names": (names, 4), "distance": (distance, 4)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_paths",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "markers": sorted(MARKERS), "finders": FINDERS,
        "behind": BEHIND, "draws": DRAWS, "gaps": GAPS, "names": NAMES,
    },
    on_cpu=True,
)  # fmt: skip
