"""A kNN language model: a datastore of states and the words that followed them, asked beside a trained model.

No training: every position of a text gives one entry, the state of the model there (key) and the word that came next
(value). At test time the nearest keys of the present state vote for their words, and the votes are mixed with the
model's own probabilities. Source: Khandelwal et al. 2020.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention.precision import sharpened
from attnbook.modes import evaluating

Search = Callable[[Tensor, int], tuple[Tensor, Tensor]]  # (query (B, D), k) -> squared distances, positions, (B, k)


class Datastore(NamedTuple):
    """Keys ``(N, D)``, states of a model, and ``next_tokens (N,)``, the word that followed each."""

    keys: Tensor
    next_tokens: Tensor


def nearest_neighbours(query: Tensor, keys: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Exact search: the ``k`` keys with the smallest squared distance to each query, nearest first.

    Args:
        query: ``(B, D)``. keys: ``(N, D)``.

    Returns:
        squared distances ``(B, k)`` and positions in ``keys`` ``(B, k)``.

    Raises:
        ValueError: if the features differ, or ``k`` is not from 1 to N.
    """
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(f"keys have {keys.shape[-1]} features but query has {query.shape[-1]}")
    if not 1 <= k <= len(keys):
        raise ValueError(f"k must lie between 1 and the number of keys, {len(keys)}; got {k}")
    # |q - k|² = |q|² - 2 q·k + |k|²; |q|² is the same for all keys
    distances = torch.addmm(keys.square().sum(dim=-1), query, keys.T, alpha=-2)  # (B, N)
    nearest, positions = distances.topk(k, dim=-1, largest=False)  # (B, k)
    return (nearest + query.square().sum(dim=-1, keepdim=True)).clamp_min(0), positions


def exact_search(keys: Tensor) -> Search:
    """:func:`nearest_neighbours` among these ``keys (N, D)``."""
    return lambda query, k: nearest_neighbours(query, keys, k)


def faiss_search(keys: Tensor) -> Search:
    """The same search by the library faiss, which the book does not install; for larger stores it has faster indexes.

    Raises:
        ModuleNotFoundError: if faiss is not installed.
    """
    try:
        faiss = importlib.import_module("faiss")
    except ModuleNotFoundError as error:
        wish = "faiss is not installed (pip install faiss-cpu); exact_search needs nothing"
        raise ModuleNotFoundError(wish) from error
    index = faiss.IndexFlatL2(keys.shape[-1])
    index.add(keys.float().cpu().numpy())

    def search(query: Tensor, k: int) -> tuple[Tensor, Tensor]:
        distances, positions = index.search(query.float().cpu().numpy(), k)
        return torch.from_numpy(distances).to(query), torch.from_numpy(positions).to(query.device)

    return search


def vote(distances: Tensor, next_tokens: Tensor, temperature: float, vocabulary: int) -> Tensor:
    """Σ softmax(−distance / temperature) over the neighbours of each word.

    Args:
        distances: ``(B, k)``, squared. next_tokens: ``(B, k)``, the words of these neighbours.
        temperature: above 0, in the unit of the distances; the paper has 1.
        vocabulary: V, number of words.

    Returns:
        probabilities ``(B, V)``; words that no neighbour has get 0.

    Raises:
        ValueError: if ``temperature`` is not above 0.

    Source: Khandelwal et al. 2020, equation 2.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    weights = sharpened(-distances, temperature).softmax(dim=-1).to(distances.dtype)  # (B, k)
    return weights.new_zeros(len(weights), vocabulary).scatter_add(1, next_tokens, weights)  # (B, V)


def knn_probabilities(
    query: Tensor, keys: Tensor, next_tokens: Tensor, k: int, temperature: float, vocabulary: int,
    search: Search | None = None,
) -> Tensor:  # fmt: skip
    """The next word by its nearest neighbours: ``query (B, D)`` -> probabilities ``(B, V)``.

    Args:
        keys, next_tokens: a :class:`Datastore`. search: another way to find neighbours than :func:`exact_search`.
        k, temperature, vocabulary: see :func:`nearest_neighbours` and :func:`vote`.

    Source: Khandelwal et al. 2020, section 2.
    """
    distances, nearest = nearest_neighbours(query, keys, k) if search is None else search(query, k)
    return vote(distances, next_tokens[nearest], temperature, vocabulary)


def mix_probabilities(model: Tensor, memory: Tensor, weight: float) -> Tensor:
    """weight · memory + (1 − weight) · model, all ``(..., V)`` probabilities.

    Raises:
        ValueError: if ``weight`` lies outside 0 … 1, or the shapes differ.

    Source: Khandelwal et al. 2020, equation 3.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must lie between 0 (only the model) and 1 (only the memory), got {weight}")
    if model.shape != memory.shape:
        raise ValueError(f"model has shape {tuple(model.shape)} but memory has {tuple(memory.shape)}")
    return weight * memory + (1 - weight) * model


@evaluating
def states_and_logits(model: nn.Module, words: Tensor, entering: nn.Module) -> tuple[Tensor, Tensor]:
    """Read ``words (B, T)``: what enters the module ``entering`` at each word, ``(B, T, D)``, and the logits.

    ``model.output`` for a model's last state; ``model.blocks.layers[-1].feed_forward`` for what the paper uses.
    """
    caught: list[Tensor] = []
    handle = entering.register_forward_pre_hook(lambda module, given: caught.append(given[0]))
    try:
        logits, _ = model(words)
    finally:
        handle.remove()
    return caught[-1], logits


def build_datastore(
    model: nn.Module, texts: Iterable[tuple[Tensor, Tensor]], entering: nn.Module, pad: int
) -> Datastore:  # fmt: skip
    """One entry per word: the state that was to predict it, and the word.

    Args:
        texts: pairs of words read ``(B, T)`` and of the words that follow each of them, ``(B, T)``.
        entering: see :func:`states_and_logits`.
        pad: words that follow and hold this number make no entry.

    Raises:
        ValueError: if there is no text.

    Source: Khandelwal et al. 2020, equation 1.
    """
    keys, following = [], []
    for words, target in texts:
        real = target != pad  # (B, T)
        keys.append(states_and_logits(model, words, entering)[0][real])  # (words, D)
        following.append(target[real])  # (words,)
    if not keys:
        raise ValueError("texts is empty; a datastore needs at least one text")
    return Datastore(torch.cat(keys), torch.cat(following))
