"""The controls for copying in a real model, with a tiny one in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import SIZE, tiny_pretrained

from attnbook.measure.induction import mean_contexts
from attnbook.measure.inside import attentions_of
from attnruns.experiments import real_controls, real_model
from attnruns.shared.runner import Job

GAPS = (0, 3, 50)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers of two heads with fixed weights, a text of 600 tokens, short gaps."""
    pretrained = tiny_pretrained(monkeypatch, real_controls)
    for module in (real_model, real_controls):
        monkeypatch.setattr(module, "PERIOD", 4)
        monkeypatch.setattr(module, "GAPS", GAPS)
    monkeypatch.setattr(real_model, "CHUNK", 32)
    for name, value in {"GROUP": 2, "FINDERS": 1, "CONTROLS": 2, "DRAWS": 2}.items():
        monkeypatch.setattr(real_controls, name, value)
    monkeypatch.setattr(real_controls, "NAMED", {"1.2": (0, 1)})
    monkeypatch.setattr(real_controls, "WRITERS", {"3.1": (2, 0)})
    return pretrained


@pytest.mark.parametrize("name", list(real_controls.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_controls, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_heads_are_chosen_on_other_sequences_than_those_of_the_test(tiny, monkeypatch):
    seen = {}

    class Spy(real_controls.HeldOut):
        def __init__(self, model, choose, means, test):
            seen.update(choose=choose, means=means, test=test)
            super().__init__(model, choose, means, test)

    monkeypatch.setattr(real_controls, "HeldOut", Spy)
    figures = real_controls.run(Job("held_out", 1, 2)).figures
    for name, seed in {"choose": 1, "means": 101, "test": 201}.items():
        assert torch.equal(seen[name], real_model.segments(tiny, 2, seed).repeat(1, 2))
    best = real_model.ordered(real_model.scores(tiny.model, seen["choose"])["induction"])
    assert figures["chosen"] == [list(at) for at in best[:2]]


def test_without_any_head_nothing_is_replaced(tiny):
    three = (real_model.segments(tiny, 2, seed).repeat(1, 2) for seed in (0, 100, 200))
    split = real_controls.HeldOut(tiny.model, *three)
    right = round(real_model.copied(tiny.model, split.words)[1], 4)
    assert split.copied([]) == split.copied([], zeros=True) == right
    whole, without = split.writers([]), split.writers([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert whole["3.1"] != without["3.1"]  # a later head attends otherwise when those before it are gone


def test_the_control_has_as_many_heads_of_each_layer_none_of_them_a_finder():
    finders = [(18, 6), (17, 3), (17, 4), (17, 5), (18, 7)]
    sets = real_controls.others_of_their_layers(finders, width=9)
    assert len({frozenset(heads) for heads in sets}) == len(sets) == 20 * 21  # 3 of 6, and 2 of 7
    for heads in sets:
        assert sorted(layer for layer, _ in heads) == [17, 17, 17, 18, 18]
        assert len(set(heads) - set(finders)) == 5


def test_other_heads_of_the_same_layers_are_drawn_once_and_measured_on_the_test(tiny, monkeypatch):
    monkeypatch.setattr(real_controls, "FINDERS", 2)
    monkeypatch.setattr(real_controls.HeldOut, "copied", lambda self, heads: [list(at) for at in heads])
    monkeypatch.setattr(real_controls, "ordered", lambda table: [(1, 0), (2, 1)])
    figures = real_controls.run(Job("same_layers", 0, 2)).figures
    draws = [{"heads": [[2, 2], [3, 1]], "copied": [[1, 1], [2, 0]]}]
    expected = {"finders": [[2, 1], [3, 2]], "sets": 1, "all": [], "without": [[1, 0], [2, 1]], "draws": draws}
    assert {name: figures[name] for name in expected} == expected


class Listed(torch.nn.Module):
    """A model whose state is all that it has read, and which names the word PERIOD - 1 positions before."""

    def start(self):
        return torch.empty(2, 0, dtype=torch.long)

    def prefill(self, words, state):
        return None, torch.cat([state, words], dim=1), None

    def read(self, words, state):
        both = torch.cat([state, words], dim=1)
        logits = 50.0 * torch.nn.functional.one_hot(both.roll(3, dims=1), SIZE).float()
        return logits[:, state.shape[1] :], both, None


def test_the_means_are_those_of_the_third_set(tiny):
    three = [real_model.segments(tiny, 2, seed).repeat(1, 2) for seed in (0, 100, 200)]
    split = real_controls.HeldOut(tiny.model, *three)
    attention = attentions_of(tiny.model)[1]
    assert torch.allclose(split.contexts[1], mean_contexts(attention, tiny.model, three[1]), atol=1e-6)


def test_a_new_list_is_read_twice_behind_the_text_and_the_first_list_once():
    words, new = torch.arange(8).view(2, 4), torch.arange(20, 28).view(2, 4)
    right = real_controls.copied_far_and_near(Listed(), words, new, torch.arange(40, 90), GAPS)
    assert right == {"far": {0: 1.0, 3: 0.0, 50: 0.0}, "near": {0: 1.0, 3: 1.0, 50: 1.0}}
