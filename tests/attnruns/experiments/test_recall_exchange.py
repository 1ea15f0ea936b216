"""Sequences and their twins, and what is named when the keys of layer 2 read the twin."""

import pytest
import torch
import torch.nn.functional as F
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.worlds.episodes import DIM
from attnruns.experiments import in_context, meta_learning, recall_exchange
from attnruns.shared.runner import Job


@pytest.fixture
def few(monkeypatch):
    """Small batches and few tests; every head binds."""
    monkeypatch.setattr(in_context, "TESTS", 5)
    monkeypatch.setattr(recall_exchange, "twins", lambda make=recall_exchange.twins: make(5, 0))
    monkeypatch.setattr(recall_exchange, "HIGH", -1.0)
    monkeypatch.setitem(recall_exchange.TRAINING, "batch", 4)


OF_EACH = {
    "two_layers": ["usual", "keys", "queries", "values", "others, keys"],
    "snail": ["usual", "keys", "keys, directly", "queries", "values"] + [f"dilation {2**i}, keys" for i in range(1, 6)],
}


@pytest.mark.parametrize("name, best", once_on_the_card(recall_exchange.STEPS), indirect=["best"])
def test_a_run_exchanges_what_heads_or_convolutions_write(name, best, tmp_path, few):
    figures = checked_run(recall_exchange, Job(name, 0, 2), tmp_path, best)
    assert figures.get("binding") == ([0, 1, 2, 3] if name == "two_layers" else None)
    assert list(figures["read"]) == OF_EACH[name]
    assert len({of["counted"] for of in figures["read"].values()}) == 1


def test_a_twin_exchanges_words_in_pairs_and_keeps_the_labels():
    batch, twin = recall_exchange.twins(3, 0)
    assert torch.equal(twin[..., DIM:], batch.inputs[..., DIM:])
    for which, words, other in zip(batch.which, batch.inputs[..., :DIM], twin[..., :DIM], strict=True):
        for word in range(12):
            if (which == word).any() and (which == word ^ 1).any():
                theirs, ours = words[which == word ^ 1].mean(dim=0), words[which == word].mean(dim=0)
                moved = other[which == word].mean(dim=0)
                assert (moved - theirs).norm() < (moved - ours).norm()


def test_who_names_the_words_own_label_has_no_other_and_the_other_way_round():
    batch, _ = recall_exchange.twins(20, 0)
    own = recall_exchange.named(F.one_hot(batch.values, 4).float(), batch)
    assert (own["own"], own["other"]) == (1, 0)
    wrong = recall_exchange.named(F.one_hot((batch.values + 1) % 4, 4).float(), batch)
    assert wrong["own"] == 0
    assert 0 < wrong["other"] < 1  # where the other word's label is the next one
    assert 0 < own["counted"] < batch.seen.sum()


def test_without_binding_heads_nothing_changes():
    model = in_context.build("recall_transformer").eval()
    batch, twin = recall_exchange.twins(2, 0)
    usual, *changed, others = recall_exchange.readings(model, batch, twin, []).values()
    for of in changed:
        assert torch.allclose(of.logits[1::2], usual.logits[1::2], atol=1e-5)
    assert not torch.allclose(others.logits[1::2], usual.logits[1::2], atol=1e-3)  # here all heads are others


@torch.no_grad()
def test_a_convolution_is_exchanged_for_the_last_attention_alone():
    model = meta_learning.build("recall_snail").eval()
    batch, twin = recall_exchange.twins(2, 0)
    paths = recall_exchange.ExchangedConvolution(model, batch.inputs, twin)
    assert torch.allclose(paths.logits(), model(batch.inputs)[0], atol=1e-6)
    width, first = 32, paths.read[0].shape[-1]
    for chosen, passed_on in (([0], True), ([0], False), ([2], True), (list(range(6)), True)):
        mixed = paths.mixed(chosen, passed_on)
        assert torch.equal(mixed[..., :first], paths.read[0])
        for number in range(6):
            columns = slice(first + width * number, first + width * (number + 1))
            theirs = torch.equal(mixed[..., columns], paths.theirs[..., columns])
            ours = torch.allclose(mixed[..., columns], paths.usual[..., columns], atol=1e-6)
            later = passed_on and number > min(chosen)
            assert theirs if number in chosen else ours != later, (chosen, passed_on, number)
    assert not torch.allclose(paths.logits(keys=paths.mixed([0])), paths.logits(), atol=1e-4)
