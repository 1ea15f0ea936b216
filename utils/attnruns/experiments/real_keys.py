"""Through which keys head 17.1 of SmolLM2 acts on a copied token, and which parts write this token (chapter 19).

Nothing is trained. ``keys`` reads the texts of :mod:`~attnruns.experiments.real_names`, ``steps`` invented names per
seed, and takes keys of one reading into another: the position after which the name's last token must be found then has
its key heads from the reading without what 17.1 wrote there, while all else is as usual, or the other way round.
``shares`` takes the logit of the copied token apart into what each head and each feed-forward sublayer adds to it, with
all heads and with the finders replaced at the last position.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.attention import Heads
from attnbook.measure.circuits import written_by
from attnbook.measure.inside import without_heads
from attnbook.models import LanguageModelState
from attnruns.experiments import real_names
from attnruns.experiments.real_model import Head, smollm2
from attnruns.experiments.real_names import Case, Replaced, above_mean
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome


class Written(NamedTuple):
    """What each part adds to a token's logit above the mean of all, after the last position; the norm's scale is fixed.

    Attributes:
        heads: ``(L, H)``. feed_forward: ``(L,)``. word: of the word vector. whole: the logit itself, their sum.
        weights: how much each head attends to each position, ``(L, H, T)``.
    """

    heads: Tensor
    feed_forward: Tensor
    word: float
    whole: float
    weights: Tensor


def state_without(text: Replaced, heads: list[Head], at: int) -> LanguageModelState:
    """The state before the last token, if heads are replaced at position ``at``; everything after them reacts."""
    instead = [text.means[layer][head] for layer, head in heads]
    before = text.state_before(at)  # with all heads
    with without_heads(text.attentions, heads, instead):
        _, state, _ = text.model.read(text.ids[:, at : at + 1], before)
    return text.model.read(text.ids[:, at + 1 : -1], state)[1] if at + 2 < text.ids.shape[1] else state


def with_keys(state: LanguageModelState, of: LanguageModelState, keys: set[Head], at: int) -> LanguageModelState:
    """A state whose key heads of position ``at`` come from another one; its values stay."""
    past: list[Any] = list(state.past)
    other: list[Any] = list(of.past)
    for layer, key in keys:
        changed = past[layer].key.clone()  # (1, G, T - 1, D/H)
        changed[0, key, at] = other[layer].key[0, key, at]
        past[layer] = Heads(changed, past[layer].value)
    return LanguageModelState(tuple(past))


def key_figures(text: Replaced, case: Case) -> dict[str, Any]:
    """The logit of the copied token, and whether it is copied: usual, without the note, keys taken over and given back.

    ``patched`` is the usual reading with the finders' keys of the one without the note, ``restored`` that one with
    their usual keys; ``patched_others`` and ``restored_others`` exchange all other key heads of these layers.
    """
    end = text.ids.shape[1] - 1
    usual, without = text.state_before(end), state_without(text, real_names.NOTES, case.first)
    own, others = text.keys_of(real_names.FINDS)
    states = {
        "usual": usual,
        "without": without,
        "patched": with_keys(usual, without, own, case.first),
        "restored": with_keys(without, usual, own, case.first),
        "patched_others": with_keys(usual, without, others, case.first),
        "restored_others": with_keys(without, usual, others, case.first),
    }
    read = {name: text.model.read(text.ids[:, end:], state)[0][0, -1] for name, state in states.items()}
    return {
        name: {"logit": above_mean(logits, case.token), "copied": int(logits.argmax() == case.token)}
        for name, logits in read.items()
    }


def written(text: Replaced, token: int, without: list[Head]) -> Written:
    """What each part adds to the logit of a token after the last position, if heads are replaced there."""
    model, layers = text.model, text.model.blocks.layers
    contexts: list[Tensor] = []
    added: list[Tensor] = []
    last: list[Tensor] = []
    end = text.ids.shape[1] - 1
    before = text.state_before(end)
    instead = [text.means[layer][head] for layer, head in without]
    with without_heads(text.attentions, without, instead), ExitStack() as stack:
        for layer, attention in zip(layers, text.attentions, strict=True):
            projection = attention.project_output  # registered after the replacement, so this sees the replaced context
            stack.callback(projection.register_forward_pre_hook(lambda _, x: contexts.append(x[0])).remove)
            stack.callback(layer.feed_forward.register_forward_hook(lambda _, _x, y: added.append(y[0, -1])).remove)
        stack.callback(model.blocks.last_norm.register_forward_pre_hook(lambda _, x: last.append(x[0][0, -1])).remove)
        logits, _, maps = model.read(text.ids[:, end:], before)
    norm, vectors = model.blocks.last_norm, model.output.weight
    scale = norm(last[0]) / last[0]  # with the weights of the norm; held fixed
    towards = (vectors[token] - vectors.mean(dim=0)) * scale
    heads = torch.stack(
        [
            torch.stack(
                [written_by(of, context.unflatten(-1, (of.heads, -1)), head)[0, -1] for head in range(of.heads)]
            )
            for of, context in zip(text.attentions, contexts, strict=True)
        ]
    )  # (L, H, D)
    word = last[0] - heads.sum(dim=(0, 1)) - torch.stack(added).sum(dim=0)
    return Written(
        heads @ towards,
        torch.stack(added) @ towards,
        (word @ towards).item(),
        above_mean(logits[0, -1], token),
        torch.stack([of[0, :, -1] for of in maps]),
    )


def drawn(job: Job) -> Iterator[tuple[str, Case, Replaced]]:
    """The names of a seed, as :mod:`~attnruns.experiments.real_names` draws them, with their texts."""
    pretrained = smollm2()
    means = real_names.usual_means(pretrained, job.seed)
    for name, case in real_names.cases(pretrained, job.steps, job.seed):
        yield name, case, Replaced(pretrained.model, means, case.ids)


@torch.no_grad()
def keys(job: Job) -> dict[str, Any]:
    """The logits of each name."""
    return {"names": {name: key_figures(text, case) for name, case, text in drawn(job)}}


@torch.no_grad()
def shares(job: Job) -> dict[str, Any]:
    """What the parts add on average over the names, and how much heads attend to the copied token and to the last."""
    figures: dict[str, Any] = {}
    found = [(case, text) for _, case, text in drawn(job)]
    for condition, without in (("all", []), ("without_finders", real_names.FINDS)):
        of = [(case, written(text, case.token, without)) for case, text in found]
        figures[condition] = {
            "heads": _mean([one.heads for _, one in of]),
            "feed_forward": _mean([one.feed_forward for _, one in of]),
            "word": _mean([torch.tensor(one.word) for _, one in of]),
            "whole": _mean([torch.tensor(one.whole) for _, one in of]),
            "on_copied": _mean([one.weights[..., case.first] for case, one in of]),
            "on_itself": _mean([one.weights[..., -1] for _, one in of]),
        }
    return figures


def _mean(of: list[Tensor]) -> Any:
    """The mean of tensors, as rounded numbers in lists."""
    rounded = torch.stack(of).mean(dim=0).double().mul(1000).round().div(1000)
    return rounded.tolist()


PARTS: Parts = {"keys": (keys, 17), "shares": (shares, 17)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_keys",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "notes": real_names.NOTES, "finds": real_names.FINDS,
        "for_mean": real_names.FOR_MEAN, "for_means": real_names.FOR_MEANS, "rare": real_names.RARE,
        "frame": real_names.FRAME,
    },
    on_cpu=True,
)  # fmt: skip
