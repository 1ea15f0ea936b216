"""What a trained encoder loses with one token: with its value alone, or with its key (chapter 3).

Nothing is trained. ``read`` takes either from one token per row. Without its *value*, all weights stay as they are, and
its value counts as zero, in all heads. Without its *key*, a mask hides it, and the other weights share its part.
"""

from contextlib import ExitStack
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.attention.multihead import split_heads
from attnbook.models import MaskedLanguageModel

SENTENCES = (
    "We bought bread and cheese at the market on Saturday.",
    "In 1969 two men walked on the moon while a third waited above them.",
    "If the train is late again, I will miss the meeting.",
    "A good cookbook tells you what to do when the sauce is too thin.",
    "Rome was not built in a day.",
    "The bank raised its interest rates although prices had fallen.",
    "She gave her brother the old bicycle that nobody used any more.",
    "Nobody knows why the lights went out in the theatre last night.",
    "Heat the oil, add the onions, and stir until they are golden.",
    "The committee that met on Monday has not published its report.",
    "The dog barked because it was hungry.",
    "Our neighbours are painting their door green.",
)
WAYS = ("value", "key")


class InHeads(NamedTuple):
    """All heads, layer by layer: scores ``(layers · H, T, T)``, and the lengths of the values ``(layers · H, T)``."""

    scores: Tensor
    lengths: Tensor


@torch.no_grad()
def in_heads(model: MaskedLanguageModel, ids: Tensor) -> InHeads:
    """The scores (with the root) and the lengths of the values in all heads of an encoder.

    Args:
        model: in post-norm, in evaluation mode.
        ids: ``(1, T)``, the tokens of one sentence.
    """
    x, found = model.embed(ids), []
    for block in model.blocks.layers:
        layer = block.self_attention
        projections = (layer.project_query, layer.project_key, layer.project_value)
        query, key, value = (split_heads(project(x), layer.heads)[0] for project in projections)  # (H, T, D/H) each
        found.append((query @ key.mT / query.shape[-1] ** 0.5, value.norm(dim=-1)))
        x = block(x)[0]
    return InHeads(*(torch.cat(part) for part in zip(*found, strict=True)))


@torch.no_grad()
def read(model: MaskedLanguageModel, ids: Tensor, without: str = "", token: Tensor | None = None) -> Tensor:
    """The last vectors ``(B, T, D)``, with one token per row changed in all heads.

    Args:
        model: as of :func:`in_heads`. ``ids``: ``(B, T)``, sentences of one length.
        without: "value" or "key"; nothing is changed when left out.
        token: ``(B, T)``, True at the tokens that lose it.

    Raises:
        ValueError: if ``without`` is another word, or there are no tokens to change.
    """
    if without not in ("", *WAYS) or (without and token is None):
        raise ValueError(f"without = {without!r} with token = {token}; give one of {WAYS} and the tokens, or neither")
    x, mask = model.embed(ids), None
    with ExitStack() as stack:
        if without == "key" and token is not None:
            mask = ~token[:, None]  # (B, 1, T)
        elif token is not None:
            kept = ~token[:, :, None]  # (B, T, 1)
            for block in model.blocks.layers:
                project = block.self_attention.project_value
                stack.callback(project.register_forward_hook(lambda _, __, value: value * kept).remove)
        for block in model.blocks.layers:
            x = block(x, mask)[0]
    return x


def alike(model: MaskedLanguageModel, ids: Tensor, without: str) -> Tensor:
    """How alike the words' last vectors stay when each token in turn loses its value or its key: ``(T,)``.

    The mean cosine over the words (without the first and the last token, which are marks, and without the changed one).

    Args:
        model: as of :func:`in_heads`. ``ids``: ``(1, T)``. ``without``: as of :func:`read`.
    """
    changed = torch.eye(ids.shape[1], dtype=torch.bool, device=ids.device)  # (T, T): token n of row n
    cosines = torch.cosine_similarity(
        read(model, ids.expand(len(changed), -1), without, changed), read(model, ids), dim=-1
    )
    counted = ~changed
    counted[:, [0, -1]] = False
    return (cosines * counted).sum(dim=-1) / counted.sum(dim=-1)
