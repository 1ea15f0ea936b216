"""Lab 11: the lines of a text of one's own, and a student's attention in the book's language model."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from torch import Tensor

from attnbook.attention import Heads, LinearBias, MultiHeadAttention, merge_heads, split_heads
from attnbook.data.texts.text import own_corpus
from attnbook.models.bert import MaskedLanguageModel
from attnbook.models.language_model import LanguageModel

HELD_OUT = 10  # one line in ten is not trained on
LONGEST, FEWEST = 240, 100  # characters of a line; lines that a model needs at least
GroupedAttention = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
Model = TypeVar("Model", LanguageModel, MaskedLanguageModel)


def text_lines(path: str | Path | None = None) -> tuple[list[str], list[str]]:
    """The sentences of a text file, or the book's own text: lines to train on, and one in ten held out.

    A line that occurs twice is taken once, so that no line stands in both parts.

    Args:
        path: of a text in UTF-8. It is cut behind each ``.``, ``!`` and ``?``, and at the end of each line.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it has too few sentences to learn from.
    """
    if path is None:
        corpus = own_corpus(train=3000, validation=0, test=300)
        return [line.text for line in corpus.train], [line.text for line in corpus.test]
    parts = re.split(r"(?<=[.!?])\s+|\n", Path(path).read_text(encoding="utf-8"))
    lines = [line for line in dict.fromkeys(" ".join(part.split()) for part in parts) if 0 < len(line) <= LONGEST]
    if len(lines) < FEWEST:
        raise ValueError(f"{path} has {len(lines)} different sentences; a model needs at least {FEWEST}, better 2,000")
    return [line for i, line in enumerate(lines) if i % HELD_OUT], lines[::HELD_OUT]


def use_grouped_attention(model: Model, grouped: GroupedAttention) -> Model:
    """Let every layer attend with ``grouped(query, key, value, mask)``, in training and while it writes.

    Args:
        grouped: ``query (B, H, Tq, D/H)``, ``key, value (B, G, Tk, D/H)``, ``mask (B, Tq, Tk)`` -> context
            ``(B, H, Tq, D/H)`` and weights ``(B, H, Tq, Tk)``.

    Raises:
        ValueError: if the model adds a bias to its scores, of which ``grouped`` would know nothing.
    """
    for layer in model.blocks.layers:
        attention = layer.self_attention
        if isinstance(attention.positions, LinearBias):
            raise ValueError("positions are 'linear_bias', which adds to the scores; choose 'rotary' or another kind")
        attention.attend = partial(_attend, attention, grouped)  # type: ignore[method-assign]  # of this layer alone
    return model


def _attend(
    attention: MultiHeadAttention, grouped: GroupedAttention, query: Tensor, heads: Heads, mask: Tensor | None,
    at: Tensor, keys_at: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    query = attention.positions.rotate(split_heads(attention.project_query(query), attention.heads), at)
    if mask is not None:  # (Tq, Tk), or (B, 1 or Tq, Tk)
        mask = mask.expand(len(query), query.shape[2], keys_at.shape[-1])  # (B, Tq, Tk)
    context, weights = grouped(query, heads.key, heads.value, mask)
    return attention.project_output(merge_heads(context)), weights
