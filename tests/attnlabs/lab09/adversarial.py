"""Answers that passed once: right on the small and tame, wrong on what else may come."""

from types import FunctionType

import torch

from attnlabs.lab09 import check as lab09
from misread.exercise import Mistake


def edited(name, *edits):
    """The reference with each of these edits alone."""
    exercise = lab09.exercise(name)
    return {str(edit): exercise.function(Mistake(str(edit), "", edit)) for edit in edits}


def several_heads(q, k, v, W_q, W_k, W_v, W_o, heads, mask, root=None, closed=-torch.inf):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q @ W_q, k @ W_k, v @ W_v))
    scores = q @ k.mT / (root or q.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None], closed)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask[:, None], 0)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights


def causal_unasked(q, k, *others):
    mask = torch.ones(1, q.shape[1], k.shape[1], dtype=torch.bool).tril() if others[-1] is None else others[-1]
    return several_heads(q, k, *others[:-1], mask)


def drops_a_mask_for_all(q, *others):
    mask = None if others[-1] is not None and len(others[-1]) == 1 < len(q) else others[-1]
    return several_heads(q, *others[:-1], mask)


ATTENTIONS = {
    "scales by root two": lambda *args: several_heads(*args, root=2**0.5),
    "fills with ten thousand": lambda *args: several_heads(*args, closed=-1e4),
    "causal unasked": causal_unasked,
    "drops a mask for all": drops_a_mask_for_all,
}


def layer_with(name, attention):
    """The reference with another attention inside."""
    layer = lab09.exercise(name).reference
    names = layer.__globals__ | {"multi_head_attention": attention}
    return FunctionType(layer.__code__, names, name, layer.__defaults__)


WRONG = {
    "encoder_layer": {kind: layer_with("encoder_layer", attention) for kind, attention in ATTENTIONS.items()},
    "decoder_layer": {kind: layer_with("decoder_layer", attention) for kind, attention in ATTENTIONS.items()}
    | edited(
        "decoder_layer",
        {", memory_mask)[0]": ", None if self_mask is None else memory_mask)[0]"},
        {", self_mask)[0]": ", None if memory_mask is None else self_mask)[0]"},
        {", memory_mask)[0]": ", None if x.shape[1] == 1 else memory_mask)[0]"},
    ),
    "layer_norm": edited(
        "layer_norm",
        {"centred.square().mean(dim=-1, keepdim=True)": "(x**2).mean(-1, True) - x.mean(-1, True) ** 2"},
        {"gain * centred / (variance + eps).sqrt()": "gain * (centred / (variance + eps).sqrt()).clamp(-4, 4)"},
    ),
    "decoder_mask": edited("decoder_mask", {"target != pad": "target.to(torch.int8) != pad"}),
    "label_smoothing_loss": edited("label_smoothing_loss", {"logs = ": "smoothing = min(smoothing, 0.5)\n    logs = "}),
    "warmup_rate": edited("warmup_rate", {"step + 1": "min(step + 1, 30_000)"}),
}
RIGHT = {name: layer_with(name, several_heads) for name in ("encoder_layer", "decoder_layer")}
