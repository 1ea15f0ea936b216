"""The experiment on the value and the weight of the first token, with a tiny model; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.measure.inside import attentions_of, read_under, sinks_and_window, surprises
from attnruns.experiments import real_sinks
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Three layers of two heads with fixed weights, texts of 40 tokens, a window of 8."""
    pretrained = tiny_pretrained(monkeypatch, real_sinks)
    for name, value in {
        "LENGTH": 40,
        "WINDOW": 8,
        "MASKS": real_sinks.MASKS | {"window": (8, 0), "and the first": (8, 1)},
    }.items():
        monkeypatch.setattr(real_sinks, name, value)
    return pretrained


@pytest.mark.parametrize("name", list(real_sinks.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_sinks, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_doing_without_nothing_changes_nothing(tiny):
    words = real_sinks.texts_of(Job("without", 1, 2))
    usual = tiny.model(words)[0]
    with real_sinks.doing_without(tiny.model, None, 0):
        assert torch.allclose(tiny.model(words)[0], usual, atol=1e-6)
    with real_sinks.doing_without(tiny.model, "value", 0):
        changed = tiny.model(words)[0]
    assert torch.allclose(changed[:, :8], usual[:, :8], atol=1e-6)
    assert not torch.allclose(changed[:, 8:], usual[:, 8:], atol=1e-6)
    assert torch.equal(tiny.model(words)[0], usual)  # afterwards the model is as before


def context_of(attention, way, x):
    """What enters the last projection of a layer that reads ``x (1, T, D)``: (1, T, D)."""
    seen, at = [], torch.arange(x.shape[1])
    handle = attention.project_output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    _, weights = real_sinks.attend_without(attention, way, 0, None, x, attention.project(x, x, at), mask, at, at)
    handle.remove()
    return seen[0], weights


def test_both_ways_differ_in_the_length_of_the_context_alone(tiny):
    attention, x = attentions_of(tiny.model)[0], torch.randn(1, 12, 16)
    (_, usual), (by_value, _), (by_weight, weights) = (context_of(attention, w, x) for w in (None, "value", "weight"))
    factor = 1 / (1 - usual[0, :, 8:, 0])  # (H, 4)
    of_heads = by_value.unflatten(-1, (2, -1))[0, 8:] * factor.T[..., None]  # (4, H, D/H)
    assert torch.allclose(by_weight.unflatten(-1, (2, -1))[0, 8:], of_heads, atol=1e-5)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(1, 2, 12))
    assert weights[:, :, 8:, 0].max() == 0 < weights[:, :, :8, 0].min()


def test_lengths_are_those_of_both_parts_of_the_context():
    weights, values = torch.zeros(1, 1, 10, 10), torch.zeros(1, 1, 10, 2)
    weights[..., 0], weights[..., 1] = 0.75, 0.25
    values[..., 0, 0], values[..., 1, 1], values[..., 8:, 0] = 2.0, 4.0, 3.0
    assert real_sinks.lengths(weights, values).tolist() == [0.75, 2, 3, 1.5, 1, 4]


ROW = torch.tensor([0.4, 0.1, 0.3, 0.2]).view(1, 1, 1, 4)


def test_the_factor_alone_multiplies_the_others_and_keeps_the_token():
    assert torch.allclose(real_sinks.changed(ROW, "factor", 0).flatten(), torch.tensor([0.4, 1 / 6, 0.5, 1 / 3]))
    without = real_sinks.changed(ROW, "weight", 0)
    assert torch.allclose(without.flatten(), torch.tensor([0, 1 / 6, 0.5, 1 / 3]))


def test_the_strongest_other_is_chosen_by_row():
    rows = torch.cat([ROW, torch.tensor([0.1, 0.6, 0.2, 0.1]).view(1, 1, 1, 4)], dim=2)
    without = real_sinks.changed(rows, "value", real_sinks.STRONGEST)[0, 0]
    assert torch.allclose(without, torch.tensor([[0.4, 0.1, 0, 0.2], [0.1, 0, 0.2, 0.1]]))
    multiplied = real_sinks.changed(rows, "factor", real_sinks.STRONGEST)[0, 0, 1]
    assert torch.allclose(multiplied, torch.tensor([0.25, 0.6, 0.5, 0.25]))


def test_an_even_factor_adds_as_much_in_all_and_keeps_the_first_token():
    weights = torch.tensor([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4]]).view(1, 1, 2, 3)
    value = torch.tensor([[5.0, 5], [1, 0], [1, 0]]).view(1, 1, 3, 2)  # the others add 0.2 and 0.8, or twice 1 without
    found = real_sinks.evened(weights, value, "even")[0, 0]
    assert torch.allclose(found, torch.tensor([[0.8, 0.2, 0.2], [0.2, 0.8, 0.8]]))
    constant = real_sinks.evened(weights, value, "constant")[0, 0]
    assert torch.allclose(constant, torch.tensor([[0.8, 0.16, 0.16], [0.2, 0.64, 0.64]]))


def test_another_token_is_visible_in_place_of_the_first(tiny, monkeypatch):
    monkeypatch.setattr(real_sinks, "ANOTHER", (0, 4))
    found = real_sinks.run(Job("another", 0, 1)).figures["by_visible"]
    (text,) = real_sinks.window_texts(tiny, Job("another", 0, 1))
    mask = sinks_and_window(len(text), 8, 1)
    loss = surprises(read_under(tiny.model, text[None], mask), text[None])[0, 8:].mean().item()
    assert found["1"]["nats"] == [pytest.approx(loss, abs=1e-3)]
    assert found["5"]["nats"] != found["1"]["nats"]


def test_inside_a_window_the_factor_alone_is_tried_and_another_old_token_is_shown(tiny, monkeypatch):
    monkeypatch.setattr(real_sinks, "ANOTHER", (0,))
    job = Job("inside", 0, 1)
    found = real_sinks.run(job).figures["nats"]
    first = real_sinks.nats_in({"first": ("and the first", None, 0)}, real_sinks.texts_of(job))["first"]
    assert found["window and 1"] == pytest.approx(first, abs=1e-3)
    assert found["window and the first, the factor alone"] != pytest.approx(first, abs=1e-4)
