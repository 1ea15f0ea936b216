"""The experiment that exchanges one value of one head, with a tiny model in SmolLM2's place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_reader

from attnbook.attention import causal_mask
from attnbook.measure.inside import attentions_of, residuals
from attnruns.experiments import real_values
from attnruns.shared.runner import Job

TEXT = "The keys near the cabinet of the farmer"


@pytest.fixture(autouse=True)
def reader(monkeypatch):
    return tiny_reader(monkeypatch, real_values)


@pytest.fixture
def pair(reader):
    """What enters the second layer for a sentence and its twin, ``(2, T, D)``, and the tokens of the two verbs."""
    return residuals(reader.pretrained.model, real_values.pairs_of(reader, [TEXT], 1)[0])[1], reader.verb_tokens()


def test_a_twin_differs_in_one_word():
    assert real_values.in_other_number(TEXT, 1) == "The key near the cabinet of the farmer"
    assert real_values.in_other_number(TEXT, 4) == "The keys near the cabinets of the farmer"


def test_another_noun_is_new_in_the_text_and_of_the_same_number():
    assert real_values.another_noun(TEXT, 1) == "The tables near the cabinet of the farmer"
    assert real_values.another_noun("The king near the keys", 1) == "The cabinet near the keys"


def test_pairs_hold_both_directions(reader):
    tokens, plural = real_values.pairs_of(reader, [TEXT, TEXT], 1)
    assert tokens.shape[0] == 4
    assert plural.tolist() == [True, True, False, False]


def test_verb_odds_are_the_readers(reader, pair):
    found = real_values.verb_odds(reader.pretrained.model, pair[0], 1, pair[1])
    assert torch.allclose(found[0], reader.verbs(TEXT), atol=1e-5)


def test_values_and_weights_give_the_heads_context(reader, pair):
    model, seen = reader.pretrained.model, []
    values, weights = real_values.values_and_weights(model, pair[0], (1, 2))
    attention = attentions_of(model)[1]
    handle = attention.project_output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    model(real_values.pairs_of(reader, [TEXT], 1)[0])
    handle.remove()
    assert torch.allclose(weights @ values, seen[0].unflatten(-1, (4, -1))[:, :, 2], atol=1e-5)


def test_a_change_is_added_to_that_head_alone(reader, pair):
    """Minus its own contexts leaves zeros in its place, and every other head as it was."""
    model, (x, _), seen = reader.pretrained.model, pair, []
    attention, block = attentions_of(model)[1], model.blocks.layers[1]
    values, weights = real_values.values_and_weights(model, x, (1, 2))
    see = lambda _, inputs: seen.append(inputs[0].unflatten(-1, (4, -1)))  # noqa: E731 (B, T, H, D/H)
    for change in (torch.zeros_like(values), -(weights @ values)):
        with real_values.added(attention, 2, change):
            handle = attention.project_output.register_forward_pre_hook(see)
            block(x, causal_mask(x.shape[1]))
            handle.remove()
    before, after = seen
    assert before[:, :, 2].abs().max() > 1e-3
    assert torch.allclose(after[:, :, 2], torch.zeros_like(after[:, :, 2]), atol=1e-6)
    assert torch.equal(after[:, :, [0, 1, 3]], before[:, :, [0, 1, 3]])


def test_a_change_is_added_and_taken_back(reader, pair):
    model, (x, verbs) = reader.pretrained.model, pair
    before = real_values.verb_odds(model, x, 1, verbs)
    with real_values.added(attentions_of(model)[1], 2, torch.ones(2, x.shape[1], 4)):
        assert not torch.allclose(real_values.verb_odds(model, x, 1, verbs), before, atol=1e-4)
    assert torch.equal(real_values.verb_odds(model, x, 1, verbs), before)


def test_one_value_changes_only_what_reads_it(reader, pair):
    model, (x, verbs) = reader.pretrained.model, pair
    before = real_values.verb_odds(model, x, 1, verbs)
    assert not torch.allclose(real_values.exchanged(model, x, verbs, 1, (1, 2)), before, atol=1e-6)
    same = x[:1].repeat(2, 1, 1)  # a twin with the same words has the same value
    unmoved = real_values.exchanged(model, same, verbs, 1, (1, 2))
    assert torch.allclose(unmoved, before[:1].repeat(2, 1), atol=1e-5)


def test_the_first_rows_alone_move_as_among_all(reader, pair):
    model, (x, verbs) = reader.pretrained.model, pair
    everything = real_values.exchanged(model, x, verbs, 1, (1, 2))
    assert torch.allclose(real_values.exchanged(model, x, verbs, 1, (1, 2), rows=1), everything[:1], atol=1e-5)


def test_a_change_is_the_weight_times_the_difference_of_the_values(reader, pair):
    model, (x, _) = reader.pretrained.model, pair
    values, weights = real_values.values_and_weights(model, x, (1, 2))
    found = real_values.change_of(model, x, 1, (1, 2))
    assert torch.allclose(found[0, -1], weights[0, -1, 1] * (values[1, 1] - values[0, 1]), atol=1e-6)


def test_how_far_the_other_verb_is_ahead():
    found = real_values.towards_other(torch.tensor([[0.0, -1.0], [0.0, -1.0]]), torch.tensor([False, True]))
    assert found.tolist() == [-1.0, 1.0]


def test_moved_counts_nats_towards_the_new_number():
    before, after = torch.tensor([[0.0, -1.0], [-1.0, 0.0]]), torch.tensor([[0.0, 1.0], [-1.0, 0.5]])
    found = real_values.moved(before, after, torch.tensor([False, True]))
    assert found["to_plural"] == {"nats": 2.0, "size": 2.0, "towards": 1.0, "before": 0.0, "after": 1.0}
    assert found["to_singular"] == {"nats": -0.5, "size": 0.5, "towards": 0.0, "before": 0.0, "after": 0.0}


def test_a_noun_in_the_other_number_is_the_twin(reader):
    found = real_values.at_noun(reader, [TEXT], 1, 1, [2, 0])
    assert found.keys() == {"noun", "2.3", "2.1"}
    twin = real_values.in_other_number(TEXT, 1)
    plural, singular = ((odds[1] - odds[0]).item() for odds in (reader.verbs(TEXT), reader.verbs(twin)))
    assert abs(plural - singular) > 0.01
    for direction in ("to_plural", "to_singular"):
        assert found["noun"][direction]["nats"] == pytest.approx(plural - singular, abs=2e-3)


def test_the_example_keeps_its_probabilities_before(reader):
    found = real_values.example(reader, 1)
    assert found["before"] == pytest.approx(reader.verbs(TEXT).exp().tolist(), abs=1e-4)


def test_a_run_measures_subject_and_other_noun(tmp_path):
    figures = checked_run(real_values, Job("values", 0, 4), tmp_path, "cpu")
    assert figures["subject"].keys() == {"noun", "2.1", "2.2", "2.3", "2.4"}
    assert figures["other"].keys() == {"noun", "2.3"}
    assert figures["same"].keys() == {"noun", "2.3"}
    assert figures["example"].keys() == {"subject", "other", "same"}
