"""The control with the same verb and another noun: what is exchanged, and how far the context moves."""

import pytest
import torch
from own_captions import own_captions, untrained

from attnruns.experiments import noun_elsewhere, verb_elsewhere
from attnruns.experiments.noun_elsewhere import BEGINNINGS, exchanged, of_object
from attnruns.experiments.verb_elsewhere import BEGINNING, VERBS, Reader
from attnruns.shared.runner import Job


@pytest.fixture
def data(monkeypatch):
    return own_captions(monkeypatch)


@pytest.fixture
def reader(data):
    return Reader(untrained(data), data)


def test_a_run_trains_and_exchanges(data):
    figures = noun_elsewhere.run(Job("bahdanau", 0, 2)).figures
    assert len(figures["losses"]) == 2
    assert set(figures["exchanged"]) == set(VERBS)
    assert {len(of["noun exchanged"]) for of in figures["exchanged"].values()} == {16}


def test_sixteen_other_beginnings():
    assert len(set(BEGINNINGS)) == 16
    assert BEGINNING not in BEGINNINGS


def test_the_control_changes_only_the_half_that_read_the_noun(reader):
    own = reader.starts["liest"].annotations[:, [reader.object[-1]]]
    other = of_object(reader, "liest", BEGINNINGS[0])
    half = own.shape[-1] // 2
    assert torch.allclose(other[..., half:], own[..., half:], atol=1e-6)
    assert not torch.allclose(other[..., :half], own[..., :half], atol=1e-3)
    assert torch.allclose(of_object(reader, "liest", BEGINNING), own, atol=1e-6)


def test_the_words_are_those_of_the_experiment_itself(reader, data):
    found = exchanged(reader, "liest")
    before = verb_elsewhere.exchanged(reader.model, data, VERBS, VERBS)["liest"]
    assert {name: found[name] for name in ("word", "object exchanged", "verb exchanged")} == {
        name: before[name] for name in ("word", "object exchanged", "verb exchanged")
    }
    assert all(size > 0 for size in found["moved"].values())


def test_the_context_moves_by_weight_times_change(reader):
    found = exchanged(reader, "liest")
    _, weights = reader.write("liest")
    own, at = reader.starts["liest"].annotations[0, reader.object], weights[list(reader.object)]
    moves = [(at @ (of_object(reader, "liest", beginning)[0] - own)).norm() for beginning in BEGINNINGS]
    assert found["moved"]["noun"] == pytest.approx(torch.stack(moves).mean().item(), abs=2e-4)
