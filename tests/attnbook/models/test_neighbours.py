"""The kNN language model against a slow loop, and faiss against the exact search."""

import sys
import types

import numpy as np
import pytest
import torch

from attnbook.data.texts.vocabulary import PAD
from attnbook.models.block import TransformerConfig
from attnbook.models.language_model import LanguageModel
from attnbook.models.neighbours import (
    build_datastore,
    exact_search,
    faiss_search,
    knn_probabilities,
    mix_probabilities,
    nearest_neighbours,
    states_and_logits,
    vote,
)


def slow(query, keys, next_tokens, k, temperature, vocabulary):
    """What the paper's equation says, one number after the other."""
    out = torch.zeros(len(query), vocabulary, dtype=query.dtype, device=query.device)
    for b, q in enumerate(query):
        distances = [float((q - key).square().sum()) for key in keys]
        nearest = sorted(range(len(keys)), key=distances.__getitem__)[:k]
        total = sum(np.exp(-distances[n] / temperature) for n in nearest)
        for n in nearest:
            out[b, next_tokens[n]] += np.exp(-distances[n] / temperature) / total
    return out


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("temperature", [0.5, 4.0])
def test_the_vote_is_the_slow_loop(draw, device, close, k, temperature):
    query, keys = draw(4, 3), draw(12, 3, seed=1)
    next_tokens = (torch.arange(12) % 5).to(device)
    got = knn_probabilities(query, keys, next_tokens, k, temperature, 6)
    close(got, slow(query, keys, next_tokens, k, temperature, 6))
    close(got.sum(dim=-1), torch.ones_like(got[:, 0]))
    assert got[:, 5].eq(0).all()


def test_neighbours_come_nearest_first_with_their_squared_distance(draw, close):
    query, keys = draw(4, 3), draw(12, 3, seed=1)
    distances, positions = nearest_neighbours(query, keys, 5)
    close(distances, (query[:, None] - keys[positions]).square().sum(dim=-1))
    assert (distances.diff(dim=-1) >= 0).all()


def test_a_mixture_lies_between_model_and_memory():
    model, memory = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.5, 0.5])
    assert mix_probabilities(model, memory, 0.25).tolist() == [0.375, 0.5, 0.125]
    assert torch.equal(mix_probabilities(model, memory, 0.0), model)
    assert torch.equal(mix_probabilities(model, memory, 1.0), memory)


class FlatIndex:
    """As much of faiss as is called, in numpy."""

    def __init__(self, features):
        self.keys = np.zeros((0, features), dtype=np.float32)

    def add(self, keys):
        self.keys = np.concatenate([self.keys, keys])

    def search(self, query, k):
        distances = np.square(query[:, None] - self.keys).sum(-1)
        order = distances.argsort(axis=1)[:, :k]
        return np.take_along_axis(distances, order, 1), order


def test_faiss_is_one_argument_away(draw, device, dtype, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", types.SimpleNamespace(IndexFlatL2=FlatIndex))
    query, keys = draw(4, 3), draw(12, 3, seed=1)
    next_tokens = (torch.arange(12) % 5).to(device)
    store = query, keys, next_tokens, 3, 1.0, 6
    by_faiss = knn_probabilities(*store, search=faiss_search(keys))
    assert by_faiss.dtype == dtype
    for search in (None, exact_search(keys)):
        torch.testing.assert_close(by_faiss, knn_probabilities(*store, search=search), rtol=1e-5, atol=1e-5)


def test_without_faiss_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ModuleNotFoundError, match=r"faiss is not installed .*; exact_search needs nothing"):
        faiss_search(torch.zeros(2, 2))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LanguageModel(9, TransformerConfig(d_model=8, heads=2, layers=2, d_ff=12)).eval()


def test_states_are_what_enters_a_module(model, close, dtype):
    model, words = model.to(dtype), torch.tensor([[3, 4, 5], [6, 3, 3]])
    states, logits = states_and_logits(model, words, model.output)
    close(model.output(states), logits)
    close(logits, model(words)[0])
    inside, _ = states_and_logits(model, words, model.blocks.layers[-1].feed_forward)
    assert inside.shape == states.shape == (2, 3, 8)
    assert not torch.allclose(inside, states)
    assert not states.requires_grad


def test_a_store_has_one_entry_per_real_word(model):
    words, target = torch.tensor([[1, 4, 5], [1, 3, 0]]), torch.tensor([[4, 5, 2], [3, 2, PAD]])
    keys, next_tokens = build_datastore(model, [(words, target), (words[:1], target[:1])], model.output, PAD)
    assert next_tokens.tolist() == [4, 5, 2, 3, 2, 4, 5, 2]
    states, _ = states_and_logits(model, words, model.output)
    assert torch.equal(keys[:3], states[0])
    assert torch.equal(keys[3:5], states[1, :2])


def test_a_state_that_is_in_the_store_finds_its_own_word(model):
    words, target = torch.tensor([[1, 4, 5]]), torch.tensor([[4, 5, 2]])
    store = build_datastore(model, [(words, target)], model.output, PAD)
    states, _ = states_and_logits(model, words, model.output)
    assert knn_probabilities(states[0], *store, 1, 1.0, 9).argmax(dim=-1).tolist() == [4, 5, 2]


def test_what_does_not_fit_is_refused(model):
    with pytest.raises(ValueError, match="keys have 3 features but query has 2"):
        nearest_neighbours(torch.zeros(1, 2), torch.zeros(4, 3), 1)
    for k in (0, 5):
        with pytest.raises(ValueError, match=f"k must lie between 1 and the number of keys, 4; got {k}"):
            nearest_neighbours(torch.zeros(1, 3), torch.zeros(4, 3), k)
    with pytest.raises(ValueError, match="temperature must be above 0, got 0"):
        vote(torch.zeros(1, 1), torch.zeros(1, 1).long(), 0, 3)
    with pytest.raises(ValueError, match=r"weight must lie between 0 .* got 1.5"):
        mix_probabilities(torch.ones(1), torch.ones(1), 1.5)
    with pytest.raises(ValueError, match=r"model has shape \(2,\) but memory has \(3,\)"):
        mix_probabilities(torch.ones(2), torch.ones(3), 0.5)
    with pytest.raises(ValueError, match="texts is empty"):
        build_datastore(model, [], model.output, PAD)


def test_near_temperature_0_the_nearest_neighbour_alone_votes():
    distances = torch.tensor([[3.0, 1.0, 2.0]])
    for dtype, temperature in ((torch.float32, 1e-39), (torch.float16, 1e-5)):
        got = vote(distances.to(dtype), torch.tensor([[0, 1, 2]]), temperature, 3)
        assert got.dtype == dtype
        assert got.tolist() == [[0, 1, 0]]
