"""The experiment on decoders that train until they copy the trained length, and are then read in other ways."""

import math

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.attention import LinearBias, NoPositions, Rotary, WindowedRotary
from attnruns.experiments import decoder_reach
from attnruns.experiments.decoder_lengths import strings
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few_strings(monkeypatch):
    monkeypatch.setattr(decoder_reach, "SIZES", (2, 12, 24))
    monkeypatch.setattr(decoder_reach, "TRAINING", {**decoder_reach.TRAINING, "validate_every": 2})


def logits_of(model, size):
    with torch.no_grad():
        return model.copy(strings(3, size, seed=1))


def test_names_say_how_a_model_knows_positions():
    kinds = dict.fromkeys(decoder_reach.STEPS, (NoPositions, NoPositions)) | {
        "rotary": (Rotary, Rotary),
        "linear_bias": (LinearBias, LinearBias),
        "rotary_window": (WindowedRotary, NoPositions),
        "window_then_rotary": (WindowedRotary, Rotary),
    }
    for name, types in kinds.items():
        layers = decoder_reach.build(name).blocks.layers
        assert tuple(type(layer.self_attention.positions) for layer in layers) == types
    assert decoder_reach.build("sinusoidal").embed.add_positions is not None


def test_the_factor_is_one_at_the_trained_length_and_grows_with_the_logarithm():
    assert decoder_reach.factor_of(12) == 1
    assert decoder_reach.factor_of(288) == pytest.approx(2)  # 576 positions, the square of 24


def test_at_the_trained_length_nothing_is_changed():
    model = decoder_reach.build("rotary").eval()
    plain = logits_of(model, 12)
    for way in decoder_reach.WAYS["rotary"]:
        with decoder_reach.changed(model, "rotary", way, 12):
            torch.testing.assert_close(logits_of(model, 12), plain)


def test_a_factor_multiplies_all_scores_and_interpolation_halves_the_positions():
    model = decoder_reach.build("rotary").eval()
    layer, x = model.blocks.layers[0].self_attention, torch.randn(1, 4, 48, 16)
    near, far = torch.arange(24), 2 * torch.arange(24)
    plain, turned = layer.positions.rotate(x[:, :, :24], near), layer.positions.rotate(x, torch.arange(48))
    with decoder_reach.changed(model, "rotary", "interpolated", 24):
        torch.testing.assert_close(layer.positions.rotate(x[:, :, :24], far), plain)
    with decoder_reach.changed(model, "rotary", "factor", 24):
        query = layer.positions.rotate(x, torch.arange(48))
    torch.testing.assert_close(query @ query.mT, (turned @ turned.mT) * math.log(48) / math.log(24))
    with decoder_reach.changed(model, "rotary", "both", 24):
        query = layer.positions.rotate(x[:, :, :24], far)
    torch.testing.assert_close(query @ query.mT, (plain @ plain.mT) * math.log(48) / math.log(24))


@pytest.mark.parametrize("way, changed", [("first", [True, False]), ("second", [False, True])])
def test_positions_are_multiplied_in_one_layer_only(way, changed):
    model = decoder_reach.build("rotary").eval()
    x = torch.randn(1, 4, 24, 16)
    attentions = [layer.self_attention for layer in model.blocks.layers]
    plain = [attention.positions.rotate(x, torch.arange(24)) for attention in attentions]
    halved = [attention.positions.rotate(x, torch.arange(24) / 2) for attention in attentions]
    with decoder_reach.changed(model, "rotary", f"interpolated_{way}", 24):
        for attention, is_changed, before, after in zip(attentions, changed, plain, halved, strict=True):
            turned = attention.positions.rotate(x, torch.arange(24))
            torch.testing.assert_close(turned, after if is_changed else before)


def test_afterwards_the_model_reads_as_before_even_after_an_error():
    model = decoder_reach.build("rotary_window").eval()
    plain = logits_of(model, 24)
    with decoder_reach.changed(model, "rotary_window", "factor", 24):
        assert not torch.allclose(logits_of(model, 24), plain)
        assert isinstance(model.blocks.layers[0].self_attention.positions, WindowedRotary)
    torch.testing.assert_close(logits_of(model, 24), plain)
    with pytest.raises(RuntimeError, match="stopped"), decoder_reach.changed(model, "rotary_window", "factor", 24):
        raise RuntimeError("stopped")
    torch.testing.assert_close(logits_of(model, 24), plain)


def test_a_sharpened_bias_is_kept_as_it_is():
    positions, at = LinearBias(4), torch.arange(5)
    sharpened = decoder_reach.Sharpened(positions, 2.0)
    assert torch.equal(sharpened.bias(at, at), positions.bias(at, at))


def test_a_kind_is_read_in_its_own_ways_only():
    model = decoder_reach.build("none")
    with (
        pytest.raises(ValueError, match="none is read in the ways factor, got interpolated"),
        decoder_reach.changed(model, "none", "interpolated", 24),
    ):
        pass


def test_strings_for_validation_are_held_out():
    seeds = {decoder_reach.VALIDATION_SEED, *range(49)}
    assert len(seeds) == 50
    assert 0 <= decoder_reach.validation(decoder_reach.build("none")) <= 1


@pytest.mark.parametrize("name, best", once_on_the_card(decoder_reach.STEPS), indirect=["best"])
def test_a_run_measures_each_size_and_way(name, best, tmp_path):
    figures = checked_run(decoder_reach, Job(name, 0, 2), tmp_path, best, kept=name in decoder_reach.KEPT)
    assert set(figures["copied"]) == {"2", "12", "24"}
    assert figures["trained_steps"] == 2
    for way in decoder_reach.WAYS.get(name, ()):
        assert set(figures[way]) == {"12", "24"}
        assert figures[way]["12"] == figures["copied"]["12"]
