"""Circuits of two heads: what an earlier head writes into the keys of a later one, and which words a head copies.

A head adds its context, projected back, to the residual connection: this is what it *writes*. Later heads read the sum
of all such writes, so one write can be left out of what a later head reads while everything else stays as it is.
Source: Elhage et al. 2021; Wang et al. 2023 for paths that are changed one at a time.
"""

import copy
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Module

from attnbook.attention import MultiHeadAttention, causal_mask
from attnbook.measure.induction import prefix_matching_score
from attnbook.measure.inside import attentions_of, residuals
from attnbook.models import LanguageModel
from attnbook.modes import evaluating


@contextmanager
def contexts_heard(model: LanguageModel) -> Iterator[list[Tensor]]:
    """While the model reads once: a list to which each layer adds its contexts, ``(B, T, H, D/H)``."""
    seen: list[Tensor] = []
    with ExitStack() as stack:
        for attention in attentions_of(model):

            def hear(_: Module, inputs: tuple[Tensor], heads: int = attention.heads) -> None:
                seen.append(inputs[0].unflatten(-1, (heads, -1)))

            stack.callback(attention.project_output.register_forward_pre_hook(hear).remove)
        yield seen


@evaluating
def contexts_of(model: LanguageModel, words: Tensor) -> list[Tensor]:
    """What every head found, before the heads are joined: of each layer ``(B, T, H, D/H)``, for words ``(B, T)``."""
    with contexts_heard(model) as seen, torch.no_grad():
        model(words)
    return seen


def written_by(attention: MultiHeadAttention, contexts: Tensor, head: int) -> Tensor:
    """What a head adds to the residual connection: contexts ``(B, T, H, D/H)`` -> ``(B, T, D)``."""
    back = attention.project_output.weight.unflatten(1, (attention.heads, -1))[:, head]  # (D, D/H)
    return contexts[:, :, head] @ back.mT


class KeyComposition:
    """How well the heads of a layer match prefixes when what one earlier head wrote is missing from their keys.

    The queries, the values and everything else stay as they are, so that this measures the direct path from an earlier
    head into the keys (Elhage et al. 2021: K-composition).

    Args:
        model: reads the words once, up to this layer. words: ``(B, T)``, in which some words come again. layer: the
            later one, from 0 on.

    Raises:
        ValueError: if there is no such layer.
    """

    def __init__(self, model: LanguageModel, words: Tensor, layer: int) -> None:
        layers = model.blocks.layers
        if not 0 <= layer < len(layers):
            raise ValueError(f"layer must be from 0 to {len(layers) - 1}, got {layer}")
        self.words, self.layer, self.block = words, layer, layers[layer]
        self.attentions = attentions_of(model)
        with contexts_heard(model) as self.contexts:
            self.entering = residuals(model, words, blocks=layer)[layer]  # (B, T, D)

    @torch.no_grad()
    def scores(self, without: tuple[int, int] | None = None) -> Tensor:
        """The prefix-matching score of each head of the layer, ``(H,)``, ``without`` an earlier ``(layer, head)``.

        Raises:
            ValueError: if that head is in no earlier layer.
        """
        norm, x = self.block.norm_self, self.entering
        read = keys = norm(x)
        if without is not None:
            layer, head = without
            if not 0 <= layer < self.layer:
                raise ValueError(f"without must name a layer from 0 to {self.layer - 1}, got {layer}")
            keys = norm(x - written_by(self.attentions[layer], self.contexts[layer], head))
        mask = causal_mask(x.shape[1], x.device)
        _, weights = self.block.self_attention(read, keys, read, mask)
        return prefix_matching_score(weights, self.words)


class Exchanged(NamedTuple):
    """What a model computes when paths are exchanged: logits ``(B, T, V)``, and weights ``(B, H, T, T)`` per layer."""

    logits: Tensor
    maps: list[Tensor | None]


class ExchangedPaths:
    """Some heads' writing is exchanged for what they wrote on the sequence before, but only for some later readers.

    Everything that these readers do not read stays as it was, and everything after them is computed anew, so that the
    effect of the direct paths between these heads and these readers is measured (Wang et al. 2023: path patching).

    Args:
        model: reads the words once; a norm stands before each of its sublayers. words: ``(B, T)``, two sequences or
            more. writers: ``(layer, head)``, from 0 on.

    Raises:
        ValueError: if there is only one sequence.
    """

    def __init__(self, model: LanguageModel, words: Tensor, writers: Collection[tuple[int, int]]) -> None:
        if len(words) < 2:
            raise ValueError("words must hold two sequences or more, so that writing can be exchanged, got 1")
        self.model, self.attentions = model, attentions_of(model)
        self.mask = causal_mask(words.shape[1], words.device)
        with contexts_heard(model) as self.contexts:
            self.entering = residuals(model, words)
        self.maps: list[Tensor | None] = list(model.maps(words))
        self.change = self._changes(writers)

    def with_writers(self, writers: Collection[tuple[int, int]]) -> "ExchangedPaths":
        """The same reading of the same words, with other writers; the model does not read again."""
        other = copy.copy(self)
        other.change = other._changes(writers)
        return other

    def _changes(self, writers: Collection[tuple[int, int]]) -> dict[int, Tensor]:
        """By layer, what is added where its heads' writing is exchanged: ``(B, T, D)``."""
        change: dict[int, Tensor] = {}
        for layer, head in writers:
            wrote = written_by(self.attentions[layer], self.contexts[layer], head)
            change[layer] = change.get(layer, torch.zeros_like(wrote)) + wrote.roll(1, dims=0) - wrote
        return change

    @torch.no_grad()
    def read(
        self,
        queries: Collection[tuple[int, int]] = (),
        keys: Collection[tuple[int, int]] = (),
        values: Collection[tuple[int, int]] = (),
        feed_forward: Collection[int] = (),
        output: bool = False,
    ) -> Exchanged:
        """Let these heads' queries, keys or values, these feed-forward layers, or the output read the exchange."""
        layers = [layer for layer, _ in (*queries, *keys, *values)] + list(feed_forward)
        first = min(layers, default=len(self.attentions))  # nothing changes before it
        x, maps = self.entering[first], self.maps[:first]
        for i, block in enumerate(self.model.blocks.layers[first:], start=first):
            heads = ({head for layer, head in of if layer == i} for of in (queries, keys, values))
            context, weights = self._attend(i, x, *heads)
            maps.append(weights)
            x = x + self.attentions[i].project_output(context.flatten(2))
            read = self.exchanged(x, i + 1) if i in feed_forward else x
            x = x + block.feed_forward(block.norm_feed_forward(read))
        last = self.exchanged(x, len(self.attentions)) if output else x
        return Exchanged(self.model.output(self.model.blocks.last_norm(last)), maps)

    def exchanged(self, x: Tensor, layers: int) -> Tensor:
        """The residual vectors ``x (B, T, D)``, with the writing of the first ``layers`` layers' heads exchanged."""
        return x + sum((change for layer, change in self.change.items() if layer < layers), torch.zeros_like(x))

    def _attend(self, layer: int, x: Tensor, *heads: set[int]) -> tuple[Tensor, Tensor]:
        """Contexts ``(B, T, H, D/H)`` and weights of a layer, with exchanged queries, keys, values of these heads."""
        norm, attention = self.model.blocks.layers[layer].norm_self, self.attentions[layer]
        usual, changed = norm(x), norm(self.exchanged(x, layer))
        context, weights = _context(attention, self.mask, usual, usual, usual)
        exchanged = {head: tuple(head in of for of in heads) for head in set().union(*heads)}
        for kinds in set(exchanged.values()):  # heads that read the same are computed together
            chosen = [head for head, of in exchanged.items() if of == kinds]
            of_these, their_weights = _context(attention, self.mask, *(changed if of else usual for of in kinds))
            context[:, :, chosen], weights[:, chosen] = of_these[:, :, chosen], their_weights[:, chosen]
        return context, weights


def _context(attention: MultiHeadAttention, mask: Tensor, *read: Tensor) -> tuple[Tensor, Tensor]:
    """What the heads of a layer find, before they are joined: ``(B, T, H, D/H)``; and their weights."""
    found: list[Tensor] = []
    handle = attention.project_output.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0]))
    try:
        _, weights = attention(*read, mask)
    finally:
        handle.remove()
    return found[0].unflatten(-1, (attention.heads, -1)).clone(), weights.clone()


@evaluating
def copying_scores(model: LanguageModel, words: Tensor, candidates: Sequence[int], best: int = 5) -> Tensor:
    """How often a head that attends to a position alone would raise the word there: ``(L, H)``, between 0 and 1.

    What stands at a position is projected by the head's value and output matrices and read off as logits; the score is
    the share of positions, all but the first, whose own word is among the ``best`` of the ``candidates``.

    Args:
        words: ``(B, T)``, all of them among the candidates.

    Raises:
        ValueError: if a word is no candidate.

    Source: Wang et al. 2023, appendix ("copy score"), there with the vectors behind the first layer.
    """
    known = torch.as_tensor(candidates, device=words.device)
    matches = words[:, 1:].flatten()[:, None] == known  # (N, C)
    if not matches.any(dim=1).all():
        raise ValueError("words holds a word that is not among the candidates")
    own, rows = matches.int().argmax(dim=1, keepdim=True), []  # (N, 1)
    vectors = model.output.weight[known]  # (C, D)
    for layer, x in zip(model.blocks.layers, residuals(model, words), strict=False):
        attention = layer.self_attention
        values = attention.project_value(layer.norm_self(x[:, 1:])).flatten(0, 1)  # (N, G · D/H)
        values = values.unflatten(-1, (attention.key_value_heads, 1, -1))  # (N, G, 1, D/H)
        values = values.expand(-1, -1, attention.heads // attention.key_value_heads, -1).flatten(1, 2)[None]
        row = []
        for head in range(attention.heads):
            logits = model.blocks.last_norm(written_by(attention, values, head)[0]) @ vectors.mT  # (N, C)
            row.append(((logits > logits.gather(1, own)).sum(dim=1) < best).double().mean())
        rows.append(torch.stack(row))
    return torch.stack(rows)
