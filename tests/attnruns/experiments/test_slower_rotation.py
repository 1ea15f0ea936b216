"""Copiers that are read with slower rotation: what a way changes, and that a model stays as it was."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import decoder_reach, slower_rotation
from attnruns.experiments.slower_rotation import WAYS, scales_of
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("way", WAYS)
def test_at_the_trained_length_no_way_changes_anything(way):
    for scales in scales_of(way, 12):
        torch.testing.assert_close(scales, torch.ones(8, dtype=torch.float64))


def test_ways_change_layers_and_pairs_as_they_say():
    ones, half = torch.ones(8, dtype=torch.float64), torch.full((8,), 0.5, dtype=torch.float64)
    for way, expected in {
        "trained": (ones, ones),
        "first": (half, ones),
        "second": (ones, half),
        "both": (half, half),
    }.items():
        torch.testing.assert_close(scales_of(way, 24), list(expected))
    base, more, parts = (scales_of(way, 24)[0] for way in ("base", "base_more", "wavelengths"))
    assert base[0] == more[0] == parts[0] == 1  # the pair that finds neighbours
    assert base[7].item() == pytest.approx(0.5)
    assert base[2].item() == pytest.approx(2 ** (-2 / 7))
    assert more[2].item() == pytest.approx(0.5)
    assert parts[2:].tolist() == pytest.approx([0.5] * 6)
    assert 0.5 < parts[1] < 0.6
    with pytest.raises(ValueError, match="there is: trained"):
        scales_of("third", 24)


def test_a_model_of_the_file_is_read_by_scales_and_then_as_before():
    names = slower_rotation.file(0, 1)
    model = names["models"]["rotary, rotary"]
    before, state = slower_rotation.file_shares(names, model, 15, scales_of("trained", 15)), torch.get_rng_state()
    slower_rotation.file_shares(names, model, 15, scales_of("both", 15))
    assert [layer.scale for layer in model.layers] == [1.0, 1.0]
    assert slower_rotation.file_shares(names, model, 15, scales_of("trained", 15)) == before
    assert torch.equal(torch.get_rng_state(), state)


def test_blocks_are_read_as_in_decoder_reach():
    model = decoder_reach.build("rotary").eval()
    plain = decoder_reach.copied(model, 15)
    assert slower_rotation.block_shares(model, 15, scales_of("trained", 15)) == plain
    for ours, theirs in {
        "first": "interpolated_first",
        "second": "interpolated_second",
        "both": "interpolated",
    }.items():
        with decoder_reach.changed(model, "rotary", theirs, 15):
            expected = decoder_reach.copied(model, 15)
        assert slower_rotation.block_shares(model, 15, scales_of(ours, 15)) == expected
    assert decoder_reach.copied(model, 15) == plain


@pytest.mark.parametrize("name", slower_rotation.STEPS)
def test_a_run_copies_in_every_way(name, tmp_path, monkeypatch):
    monkeypatch.setattr(slower_rotation, "SIZES", (12, 15))
    monkeypatch.setattr(slower_rotation, "LENGTHS", (8, 12, 15))
    figures = checked_run(slower_rotation, Job(name, 0, 2), tmp_path, "cpu")
    assert ("window" in figures) == (name == "file")
    for way in WAYS:
        assert set(figures[way]) == ({"8", "12", "15"} if way == "trained" else {"12", "15"})
        assert set(figures[way]["15"]) == {"exact", "letters"}


def test_the_record_has_three_seeds_of_each():
    runs = load_result("slower_rotation")["runs"]
    for name in slower_rotation.STEPS:
        assert sorted(run["seed"] for run in runs if run["model"] == name) == [0, 1, 2]
