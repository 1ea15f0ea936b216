"""The map of all heads, with a tiny model in SmolLM2's place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_reader

from attnbook.measure.inside import attentions_of, residuals, without_heads
from attnruns.experiments import real_values, real_values_map
from attnruns.experiments.real_model import fused
from attnruns.shared.runner import Job

TEXT = "The keys near the cabinet of the farmer"


@pytest.fixture(autouse=True)
def reader(monkeypatch):
    return tiny_reader(monkeypatch, real_values_map)


def test_a_shift_counts_nats_towards_the_other_number_and_who_is_right():
    before, after = torch.tensor([[0.0, -1.0], [-1.0, 0.0]]), torch.tensor([[0.0, 1.0], [-1.0, 0.5]])
    plural = torch.tensor([False, True])
    assert real_values_map.shift(before, after, plural, plural) == {"nats": 0.75, "towards": 0.5, "right": 0.5}
    assert real_values_map.shift(before, after, ~plural, plural)["nats"] == -0.75


def test_each_cell_of_the_map_is_the_exchange_in_that_head(reader):
    model, verbs = reader.pretrained.model, reader.verb_tokens()
    tokens, plural = real_values.pairs_of(reader, [TEXT], 1)
    found = torch.tensor(real_values_map.value_map(model, residuals(model, tokens), verbs, 1, plural))
    assert found.shape == (2, 4)
    assert found.abs().max() > 0
    for layer in (0, 1):
        nouns = real_values.at_noun(reader, [TEXT], 1, layer, [0, 3])
        for head in (0, 3):
            nats = nouns[f"{layer + 1}.{head + 1}"]["to_singular"]["nats"]  # the sentence itself is plural
            assert found[layer, head].item() == pytest.approx(nats, abs=2e-3)


def test_a_head_that_adds_nothing_is_a_head_removed(reader):
    model, verbs, tokens = reader.pretrained.model, reader.verb_tokens(), reader.tokens(TEXT)
    found = real_values_map.without(model, residuals(model, tokens)[1], verbs, (1, 2))[0]
    with fused(model), without_heads(attentions_of(model), [(1, 2)], [0.0]):
        assert torch.allclose(found, reader.verbs(TEXT), atol=1e-5)


def test_the_next_noun_is_exchanged_in_the_same_sentences(reader):
    found = real_values_map.next_noun(reader, [TEXT], torch.tensor([True]))
    one = real_values.at_noun(reader, [TEXT], 4, 1, [2])["2.3"]
    assert found["nats"] == pytest.approx(one["to_plural"]["nats"], abs=2e-3)  # cabinet is singular
    assert found["towards"] == one["to_plural"]["towards"]


def test_a_run_measures_map_and_bars(tmp_path):
    figures = checked_run(real_values_map, Job("heads", 0, 4), tmp_path, "cpu")
    assert figures["bars"].keys() == {"right", "subject", "value", "removed", "next"}
    assert [len(row) for row in figures["map"]] == [4, 4]
    assert figures["bars"]["subject"]["right"] == pytest.approx(1 - figures["bars"]["right"])
