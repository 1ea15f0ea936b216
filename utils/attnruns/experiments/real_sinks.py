"""What the first token adds in SmolLM2, and what its weight is worth (chapter 12).

Nothing is trained; ``steps`` texts of the book's prose are read, others for each seed. Queries from position WINDOW
on do without a token in one of two ways. Without its *value*, all weights stay, and its value counts as zero. Without
its *weight*, it is removed, and the other weights are divided by their sum. The two differ in this *factor* alone,
which is also tried by itself: the token keeps its weight and its value, and the others are multiplied all the same.
As a control, the same three are done to the strongest other token of each head and query. As a control of the factor,
it is replaced by one number per head, or by one for all heads, so that it no longer depends on the query.
Earlier queries stay as they are, so that nothing changes before WINDOW.
Last, in a window, another old token is kept visible in place of the first; and the factor is tried there, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention import MultiHeadAttention, attend, merge_heads, split_heads
from attnbook.attention.multihead import Heads
from attnbook.measure.inside import attentions_of, nats_under, sinks_and_window
from attnruns.experiments.real_model import fused, smollm2, text_tokens, window_texts
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

LENGTH, WINDOW = 512, 128  # as in ``real_heads``: the same texts
OTHER = 20  # a token that is no sink, as a control
ANOTHER = (1, 9)  # the second and the tenth token, each visible in place of the first
CONSTANT = 1.6  # about as many times as long is what the others add in the layers 13 to 30 if the first is removed
STRONGEST = -1  # as a position: the token that has most of the weight after the first, by head and query
MASKS: dict[str, tuple[int | None, int]] = {
    "everything": (None, 0),
    "window": (WINDOW, 0),
    "and the first": (WINDOW, 1),
}
WAYS: dict[str, tuple[str, str | None, int]] = {
    "everything": ("everything", None, 0),
    "without the value": ("everything", "value", 0),
    "without the weight": ("everything", "weight", 0),
    "another without the value": ("everything", "value", OTHER),
    "another without the weight": ("everything", "weight", OTHER),
    "window": ("window", None, 0),
    "window and the first": ("and the first", None, 0),
    "window and the first, without the value": ("and the first", "value", 0),
}
CONTROLS: dict[str, tuple[str, str | None, int]] = {
    "the factor alone": ("everything", "factor", 0),
    "the strongest other, without the value": ("everything", "value", STRONGEST),
    "the strongest other, without the weight": ("everything", "weight", STRONGEST),
    "the strongest other, the factor alone": ("everything", "factor", STRONGEST),
}
EVEN: dict[str, tuple[str, str | None, int]] = {
    "one factor per head": ("everything", "even", 0),
    "one factor for all heads": ("everything", "constant", 0),
}
INSIDE: dict[str, tuple[str, str | None, int]] = {
    "window and the first, the factor alone": ("and the first", "factor", 0)
}
Watch = Callable[[Tensor, Tensor], None]


def texts_of(job: Job) -> Tensor:
    """The texts of a seed, ``(steps, LENGTH)``, or shorter if the prose is."""
    tokens = text_tokens(smollm2())
    length = min(LENGTH, len(tokens) // (3 * job.steps))
    begin = job.seed * length * job.steps
    return tokens[begin : begin + length * job.steps].view(job.steps, length)


def changed(weights: Tensor, way: str, position: int) -> Tensor:
    """The weights ``(B, H, T, T)`` in one of the ways, for the token at ``position`` of each row."""
    index = weights[..., 1:].argmax(dim=-1) + 1 if position == STRONGEST else torch.tensor(position)
    only = F.one_hot(index, weights.shape[-1]).to(weights)  # (B, H, T, T) or (T,)
    others = weights * (1 - only)
    if way == "value":
        return others
    multiplied = others / others.sum(dim=-1, keepdim=True)
    return multiplied + weights * only if way == "factor" else multiplied


def evened(weights: Tensor, value: Tensor, way: str) -> Tensor:
    """The weights ``(B, H, Tq, T)`` with all but those of the first token multiplied, at each query by the same number.

    The number is CONSTANT, or in the way ``"even"`` the one of its head and text with which the others add as much in
    all, measured by the lengths of what they add, as they would if each row without the first token summed to 1.
    """
    others = weights[..., 1:]
    factor = torch.tensor(CONSTANT)
    if way == "even":
        adds = (others @ value[:, :, 1:]).norm(dim=-1)  # (B, H, Tq)
        multiplied = adds / others.sum(dim=-1)
        factor = (multiplied.sum(dim=-1) / adds.sum(dim=-1))[..., None, None]  # (B, H, 1, 1)
    return torch.cat([weights[..., :1], others * factor], dim=-1)


def attend_without(
    attention: MultiHeadAttention,
    way: str | None,
    position: int,
    watch: Watch | None,
    query: Tensor,
    heads: Heads,
    mask: Tensor | None,
    at: Tensor,
    keys_at: Tensor,
) -> tuple[Tensor, Tensor]:
    """``attention.attend``, where queries from WINDOW on do without a position; ``None`` changes nothing.

    ``watch`` is given the unchanged weights ``(B, H, T, T)`` and the values ``(B, H, T, D/H)`` of each call.
    """
    query = attention.positions.rotate(split_heads(attention.project_query(query), attention.heads), at)
    key, value = heads.repeat(attention.heads // attention.key_value_heads)
    _, weights = attend(query, key, value, score=attention.score, mask=mask)
    if watch is not None:
        watch(weights, value)
    if way is not None:
        late = weights[:, :, WINDOW:]
        late = evened(late, value, way) if way in ("even", "constant") else changed(late, way, position)
        weights = torch.cat([weights[:, :, :WINDOW], late], dim=2)
    return attention.project_output(merge_heads(weights @ value)), weights


@contextmanager
def doing_without(model, way: str | None, position: int, watch: Watch | None = None) -> Iterator[None]:
    """Inside this block, queries from WINDOW on do without a ``position`` in every layer, in a ``way``."""
    with ExitStack() as stack:
        for attention in attentions_of(model):
            instead = partial(attend_without, attention, way, position, watch)
            stack.enter_context(patch.object(attention, "attend", instead))
        yield


def nats_in(ways: Mapping[str, tuple[str, str | None, int]], texts: Tensor) -> dict[str, Any]:
    """Nats per token of each text from WINDOW on, in each of the ways."""
    model, length, figures = smollm2().model, texts.shape[1], {}
    for name, (mask_name, way, position) in ways.items():
        window, sinks = MASKS[mask_name]
        mask = sinks_and_window(length, length if window is None else window, sinks)
        with torch.no_grad(), doing_without(model, way, position):
            loss = nats_under(model, texts, mask)
        figures[name] = rounded(loss[:, WINDOW:].mean(dim=1))
    return figures


def without(job: Job) -> dict[str, Any]:
    """Nats without the first token, without another one, and in a window."""
    return {"nats": nats_in(WAYS, texts_of(job))}


def lengths(weights: Tensor, values: Tensor) -> Tensor:
    """Of one layer, for the queries from WINDOW on, means over texts, heads and queries, ``(6,)``.

    The weight of the first token; the length of its value, and of the values from WINDOW on; the lengths of what it
    adds to a context, of what all others add, and of a context from which its weight was removed.
    """
    of_values = values.norm(dim=-1)  # (B, H, T)
    late = weights[:, :, WINDOW:]  # (B, H, T - WINDOW, T)
    first = late[..., :1] * values[:, :, None, 0]  # (B, H, T - WINDOW, D/H)
    rest = late[..., 1:] @ values[:, :, 1:]  # (B, H, T - WINDOW, D/H)
    alone = rest / late[..., 1:].sum(dim=-1, keepdim=True)
    parts = late[..., 0], of_values[..., 0], of_values[..., WINDOW:], *(x.norm(dim=-1) for x in (first, rest, alone))
    return torch.stack([part.mean() for part in parts])


def values(job: Job) -> dict[str, Any]:
    """By layer, how long the first token's value is, and what it adds, beside the other tokens."""
    model, found = smollm2().model, []
    for text in texts_of(job):
        seen: list[Tensor] = []
        with torch.no_grad(), doing_without(model, None, 0, lambda *of, seen=seen: seen.append(lengths(*of))):
            model(text[None])
        found.append(torch.stack(seen))  # (layers, 6)
    names = "weight", "first_value", "other_values", "first_adds", "others_add", "renormalised"
    return {"by_layer": dict(zip(names, rounded(torch.stack(found).mean(dim=0).T), strict=True))}


def controls(job: Job) -> dict[str, Any]:
    """Nats with the factor alone, and with the strongest other token in place of the first; by layer, both weights."""
    model, texts, found = smollm2().model, texts_of(job), []
    for text in texts:
        seen: list[Tensor] = []

        def watch(weights: Tensor, _: Tensor, seen: list[Tensor] = seen) -> None:
            late = weights[:, :, WINDOW:]
            seen.append(torch.stack([late[..., 0].mean(), late[..., 1:].amax(dim=-1).mean()]))

        with torch.no_grad(), doing_without(model, None, 0, watch):
            model(text[None])
        found.append(torch.stack(seen))  # (layers, 2)
    weights = dict(zip(("first", "strongest"), rounded(torch.stack(found).mean(dim=0).T), strict=True))
    return {"nats": nats_in(CONTROLS, texts), "weights": weights}


def even(job: Job) -> dict[str, Any]:
    """Nats when the others are multiplied by one number per head, or by one for all heads."""
    return {"nats": nats_in(EVEN, texts_of(job))}


def late_beside(texts: Sequence[Tensor] | Tensor, position: int) -> Tensor:
    """Nats of each token from WINDOW on, ``(B, T - WINDOW)``, in a window that shows one old ``position``, too."""
    model, mask = smollm2().model, sinks_and_window(len(texts[0]), WINDOW, 0)
    mask[position:, position] = True
    with fused(model), torch.no_grad():
        return nats_under(model, texts, mask)[:, WINDOW:]


def another(job: Job) -> dict[str, Any]:
    """Perplexity and nats per text in a window that shows another old token; texts are those of ``windows``."""
    texts = window_texts(smollm2(), job)
    figures: dict[str, Any] = {}
    for position in ANOTHER:
        late = late_beside(texts, position)
        figures[str(position + 1)] = {
            "perplexity": round(late.mean().exp().item(), 2),
            "nats": rounded(late.mean(dim=1)),
        }
    return {"by_visible": figures}


def inside(job: Job) -> dict[str, Any]:
    """Nats in a window: with the factor alone, or another old token in place of the first; texts of ``without``."""
    texts = texts_of(job)
    beside = {f"window and {position + 1}": rounded(late_beside(texts, position).mean(dim=1)) for position in ANOTHER}
    return {"nats": nats_in(INSIDE, texts) | beside}


PARTS: Parts = {
    "without": (without, 4),
    "values": (values, 4),
    "controls": (controls, 4),
    "even": (even, 4),
    "another": (another, 4),
    "inside": (inside, 4),
}


def run(job: Job) -> Outcome:
    """Measure one of the six."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_sinks",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "length": LENGTH, "window": WINDOW, "other": OTHER},
    on_cpu=True,
)
