"""How much of a copied token's logit goes when heads of SmolLM2 are replaced at one position (chapter 19).

Nothing is trained. ``steps`` says how many invented names are measured. While the model reads one position, the
outputs of some heads are replaced by their means over all positions of texts with other names. Or only some keys of a
position are changed: they then miss what an earlier head wrote there.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.attention import Heads
from attnbook.measure.circuits import contexts_heard, contexts_of, written_by
from attnbook.measure.inside import attentions_of, residuals, without_heads
from attnbook.models import LanguageModelState
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_controls import others_of_their_layers
from attnruns.experiments.real_model import Head, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

NOTES: list[Head] = [(16, 0)]  # head 17.1
FINDS: list[Head] = [(17, 3), (17, 4), (17, 5), (18, 6), (18, 7)]  # the best by prefix matching
LATE, LAST = 19, 29  # the first layer behind the finders, and the last layer, from 0 on
STEPS = ("notes", "finds", "last")
DRAWS = 2  # sets of other heads, per name and step
FOR_MEAN, FOR_MEANS = 8, 100  # names over whose texts means are taken, and what is added to the seed for them
RARE = 0.01  # the first time, the last token of a name has less than this probability
FRAME = "At the party Mira greeted Dr. {0}. Later that evening she again greeted Dr. {0}"
BEGIN = ("Zeb", "Tav", "Ysm", "Orv", "Quil", "Marz", "Jend", "Halv", "Corb", "Lud", "Fenn", "Gris", "Plov", "Wex")
MIDDLE = ("ulon", "rik", "era", "ash", "ober", "ella", "imo", "ant", "usk", "ento", "adim", "orin")
END = ("stein", "fant", "mund", "mere", "wick", "brin", "fast", "tide", "zek", "bald", "grove", "ward", "lund", "shaw")


class Case(NamedTuple):
    """A text that breaks off before the last token of a name that comes twice.

    Attributes:
        ids: ``(1, T)``. token: the last token of the name. first: where it stands, from 0 on. title: where *Dr* stands
        the first time. dot: the token after it.
    """

    ids: Tensor
    token: int
    first: int
    title: int
    dot: int


def invented(draw: torch.Generator) -> str:
    """A first name of two parts and a surname of three."""
    parts = (BEGIN, MIDDLE, BEGIN, MIDDLE, END)
    a, b, c, d, e = (of[int(torch.randint(len(of), (1,), generator=draw))] for of in parts)
    return f"{a}{b} {c}{d}{e}"


def case_of(pretrained: Pretrained, name: str) -> Case | None:
    """The text with this name, or ``None`` if one of its last two tokens comes twice in it."""
    ids, of_name = (pretrained.tokenizer.encode(text).ids for text in (FRAME.format(name), f" {name}"))
    size = len(of_name)
    begins = [at for at in range(len(ids) - size) if ids[at : at + size] == of_name == ids[-size:]]
    if len(begins) != 1 or any(of_name.count(token) > 1 for token in of_name[-2:]):
        return None
    title = begins[0] - 2
    return Case(torch.tensor([ids[:-1]]), ids[-1], begins[0] + size - 1, title, ids[title + 1])


def cases(pretrained: Pretrained, count: int, seed: int) -> Iterator[tuple[str, Case]]:
    """So many different names whose last token the model doesn't expect the first time, with their texts."""
    draw, found = generator(seed), set[str]()
    while len(found) < count:
        name = invented(draw)
        case = None if name in found else case_of(pretrained, name)
        if case is None:
            continue
        logits, _ = pretrained.model(case.ids[:, : case.first])
        if logits[0, -1].softmax(dim=-1)[case.token] < RARE:
            found.add(name)
            yield name, case


def mean_of_heads(model, texts: list[Tensor]) -> list[Tensor]:
    """What each head found, before the heads are joined, on average over all positions: of each layer ``(H, D/H)``."""
    found = [contexts_of(model, ids) for ids in texts]
    return [torch.cat([of[layer][0] for of in found]).mean(dim=0) for layer in range(len(found[0]))]


def usual_means(pretrained: Pretrained, seed: int) -> list[Tensor]:
    """The means of heads over texts with other names than those of the seed."""
    others = cases(pretrained, FOR_MEAN, seed + FOR_MEANS)
    return mean_of_heads(pretrained.model, [case.ids for _, case in others])


def above_mean(logits: Tensor, token: int) -> float:
    """A token's logit of ``logits (V,)`` above the mean of all: equal changes of all logits change no probability."""
    return round((logits[token] - logits.mean()).item(), 3)


class Replaced:
    """One text, read while heads are replaced at one position.

    Attributes:
        contexts: what each head found there, of each layer ``(T, H, D/H)``. logits: ``(T, V)``, with all heads.
        entering: what enters each layer, and what leaves the last, ``(T, D)`` each.
    """

    def __init__(self, model, means: list[Tensor], ids: Tensor) -> None:
        self.model, self.means, self.ids, self.attentions = model, means, ids, attentions_of(model)
        with contexts_heard(model) as contexts, torch.no_grad():
            self.entering = [x[0] for x in residuals(model, ids)]
        self.contexts = [context[0] for context in contexts]
        self.logits = model.output(model.blocks.last_norm(self.entering[-1]))
        self.before: dict[int, Any] = {}  # by position, the state before it

    def state_before(self, at: int) -> Any:
        """The state after the first ``at`` tokens, with all heads."""
        if at not in self.before:
            self.before[at] = self.model.read(self.ids[:, :at], self.model.start())[1]
        return self.before[at]

    def change(self, heads: list[Head], at: int) -> Tensor:
        """What the replacement adds to the residual vector at a position: ``(D,)``."""
        added = torch.zeros(self.attentions[0].project_output.weight.shape[0])
        for layer, head in heads:
            less = (self.means[layer] - self.contexts[layer][at])[None, None]  # (1, 1, H, D/H)
            added += written_by(self.attentions[layer], less, head)[0, 0]
        return added

    def without(self, heads: list[Head], at: int, stretch: float = 1.0) -> Tensor:
        """Logits after the last token, ``(V,)``, if heads are replaced at position ``at``.

        Args:
            stretch: 1 for the mean; with 2 the output is changed by twice as much, in the same direction.
        """
        found = [self.contexts[layer][at, head] for layer, head in heads]
        means = [self.means[layer][head] for layer, head in heads]
        instead = [was + stretch * (mean - was) for was, mean in zip(found, means, strict=True)]
        before = self.state_before(at)
        with without_heads(self.attentions, heads, instead):
            logits, state, _ = self.model.read(self.ids[:, at : at + 1], before)
        if at + 1 < self.ids.shape[1]:
            logits, _, _ = self.model.read(self.ids[:, at + 1 :], state)
        return logits[0, -1]

    def stretched(self, heads: list[Head], at: int, as_long_as: list[Head]) -> Tensor:
        """As :meth:`without`, with a change as long as that of other heads."""
        return self.without(heads, at, (self.change(as_long_as, at).norm() / self.change(heads, at).norm()).item())

    def in_the_sum(self, heads: list[Head]) -> Tensor:
        """Logits after the last token, ``(V,)``, if only the last norm misses what heads wrote there."""
        last = self.entering[-1][-1] + self.change(heads, -1)
        return self.model.output(self.model.blocks.last_norm(last))

    def keys_of(self, heads: list[Head]) -> tuple[set[Head], set[Head]]:
        """Layer and number of the key heads of these heads, and of all other key heads of their layers."""
        of = self.attentions[0]
        own = {(layer, head * of.key_value_heads // of.heads) for layer, head in heads}
        return own, {(layer, key) for layer, _ in own for key in range(of.key_value_heads)} - own

    def key_without(self, layer: int, at: int, writers: list[Head]) -> Tensor:
        """The keys of position ``at`` in a layer, ``(G, D/H)``, if writers are replaced in what these are made from."""
        block = self.model.blocks.layers[layer]
        x = block.norm_self(self.entering[layer][at] + self.change(writers, at))[None, None]  # (1, 1, D)
        return block.self_attention.project(x, x, torch.tensor([at])).key[0, :, 0]

    def without_in_keys(self, writers: list[Head], at: int, keys: set[Head]) -> Tensor:
        """Logits after the last token, ``(V,)``, if while it is read these keys of position ``at`` miss the writers."""
        end = self.ids.shape[1] - 1
        past = list(self.state_before(end).past)
        for layer, key in keys:
            changed = past[layer].key.clone()  # (1, G, T - 1, D/H)
            changed[0, key, at] = self.key_without(layer, at, writers)[key]
            past[layer] = Heads(changed, past[layer].value)
        logits, _, _ = self.model.read(self.ids[:, end:], LanguageModelState(tuple(past)))
        return logits[0, -1]

    def without_both(self, first: list[Head], at: int, then: list[Head]) -> Tensor:
        """As :meth:`without` for ``first`` at ``at``, and also for ``then`` at the last position."""
        changed, end = copy(self), self.ids.shape[1] - 1
        before = self.state_before(at)
        with without_heads(self.attentions, first, [self.means[layer][head] for layer, head in first]):
            _, state, _ = self.model.read(self.ids[:, at : at + 1], before)
        _, state, _ = self.model.read(self.ids[:, at + 1 : end], state)
        changed.before = {end: state}
        return changed.without(then, end)


def heads_of(step: str, width: int) -> list[Head]:
    """The heads of a step of copying, if a layer has ``width`` heads."""
    return {"notes": NOTES, "finds": FINDS, "last": [(LAST, head) for head in range(width)]}[step]


def others_of(step: str, width: int, draw: torch.Generator) -> list[list[Head]]:
    """Draws of as many other heads: of the same layers, and for the last layer those of an earlier one."""
    if step == "last":
        sets = [[(layer, head) for head in range(width)] for layer in range(LATE, LAST)]
    else:
        sets = others_of_their_layers(heads_of(step, width), width)
    return [sets[i] for i in torch.randperm(len(sets), generator=draw)[:DRAWS].tolist()]


def step_figures(text: Replaced, case: Case, step: str, draw: torch.Generator) -> dict[str, Any]:
    """The logit of the copied token with the heads of a step replaced, and with others; how long the changes are."""
    width = text.attentions[0].heads
    heads, others = heads_of(step, width), others_of(step, width, draw)
    at = case.first if step == "notes" else case.ids.shape[1] - 1
    logits = text.without(heads, at)
    return {
        "without": above_mean(logits, case.token),
        "copied": int(logits.argmax() == case.token),
        "others": [above_mean(text.without(of, at), case.token) for of in others],
        "stretched": [above_mean(text.stretched(of, at, heads), case.token) for of in others],
        "lengths": [round(text.change(of, at).norm().item(), 1) for of in (heads, *others)],
    }


def key_figures(text: Replaced, case: Case) -> dict[str, Any]:
    """With the note missing only from the finders' keys, or from the other keys there, and with both steps replaced."""
    own, others = text.keys_of(FINDS)
    logits = text.without_in_keys(NOTES, case.first, own)
    both = text.without_both(NOTES, case.first, FINDS)
    return {
        "without": above_mean(logits, case.token),
        "copied": int(logits.argmax() == case.token),
        "others": [above_mean(text.without_in_keys(NOTES, case.first, others), case.token)],
        "both steps": above_mean(both, case.token),
        "copied without both": int(both.argmax() == case.token),
    }


def name_figures(text: Replaced, case: Case, draw: torch.Generator) -> dict[str, Any]:
    """All figures of one name."""
    last = text.logits[-1]
    return {
        "all": above_mean(last, case.token),
        "copied": int(last.argmax() == case.token),
        "first": above_mean(text.logits[case.first - 1], case.token),
        "notes at the end": above_mean(text.without(NOTES, case.ids.shape[1] - 1), case.token),
        "finds in the sum": above_mean(text.in_the_sum(FINDS), case.token),
        "keys": key_figures(text, case),
    } | {step: step_figures(text, case, step, draw) for step in STEPS}


def dot_figures(text: Replaced, dot: int) -> dict[str, float]:
    """The logit of the dot after *Dr*, which is expected but not copied, with all heads and without those of a step."""
    end, width = text.ids.shape[1] - 1, text.attentions[0].heads
    without = {step: text.without(heads_of(step, width), end) for step in STEPS}
    return {name: above_mean(logits, dot) for name, logits in ({"all": text.logits[-1]} | without).items()}


@torch.no_grad()
def names(job: Job) -> dict[str, Any]:
    """The logits of one draw of names, and of the dot that stands before each name."""
    pretrained, draw = smollm2(), generator(job.seed)
    model = pretrained.model
    means = usual_means(pretrained, job.seed)
    drawn = list(cases(pretrained, job.steps, job.seed))
    found = {name: name_figures(Replaced(model, means, case.ids), case, draw) for name, case in drawn}
    _, case = drawn[0]
    dot = dot_figures(Replaced(model, means, case.ids[:, : case.title + 1]), case.dot)
    return {"names": found, "dot": dot}


PARTS: Parts = {"names": (names, 17)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_names",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "notes": NOTES, "finds": FINDS, "late": LATE, "last": LAST,
        "draws": DRAWS, "for_mean": FOR_MEAN, "for_means": FOR_MEANS, "rare": RARE, "frame": FRAME,
    },
    on_cpu=True,
)  # fmt: skip
