"""Whether a read head searches: what is done to its weights, and what the record says of the five machines."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM, NTMConfig
from attnruns.experiments import ntm_search
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.fixture
def machine():
    torch.manual_seed(0)
    return NTM(NTMConfig(inputs=11, outputs=8)).eval()


def test_from_equal_weights_only_the_search_finds_a_row(machine):
    inputs = mark_phases(copy_batch(3, 2, seed=0)).inputs  # (2, 8, 11)
    with torch.no_grad():
        own = machine(inputs, rows=6)[1][:, :, 0]  # (2, 8, 6)
        searching = ntm_search.read_from_equal(machine, inputs, 6, 3)[1]
        machine.address.layer.weight[21].zero_()
        machine.address.layer.bias[21] = -100.0  # the read head's gate
        held = machine(inputs, rows=6)[1][:, :3, 0]
        blind = ntm_search.read_from_equal(machine, inputs, 6, 3)[1]
    torch.testing.assert_close(searching[:, :3], own[:, :3])
    assert (searching[:, 3:] - 1 / 6).abs().max() > 1e-3
    torch.testing.assert_close(blind[:, :3], held)
    torch.testing.assert_close(blind[:, 3:], torch.full((2, 5, 6), 1 / 6))  # shift and sharpening break no tie


def test_a_blind_search_spreads_the_weights_and_prefers_no_row(machine):
    inputs = mark_phases(copy_batch(3, 2, seed=0)).inputs  # (2, 8, 11)
    with torch.no_grad():
        own = machine(inputs, rows=6)
        untouched = ntm_search.read_alike(machine, inputs, 6, ())
        machine.address.layer.weight[21].zero_()
        machine.address.layer.bias[21] = 100.0  # the read head's gate
        logits, blind = ntm_search.read_alike(machine, inputs, 6, range(2, 5))
    torch.testing.assert_close(untouched, (own[0], own[1][:, :, 0]))
    torch.testing.assert_close(blind[:, 2:5], torch.full((2, 3, 6), 1 / 6))
    assert (blind[:, 5:] - 1 / 6).abs().max() > 1e-3
    assert logits.shape == (2, 8, 8)


def test_a_copy_that_comes_late_or_early_has_slipped_and_a_wrong_one_has_not():
    wanted = torch.rand(2, 30, 8, generator=torch.Generator().manual_seed(1)) > 0.5
    for late in (-3, 0, 2, 10):
        assert ntm_search.slipped(wanted.roll(late, dims=1), wanted).tolist() == [0, 0]
    assert (ntm_search.slipped(wanted.roll(11, dims=1), wanted) > 0.3).all()
    assert ntm_search.slipped(wanted.roll(1, dims=1)[:, :2], wanted[:, :2]).min() > 0.2  # too short to be compared


def test_figures_say_how_many_bits_are_wrong_and_where_the_head_was():
    wanted = torch.zeros(2, 2, 8, dtype=torch.bool)
    logits = torch.full((2, 6, 8), -1.0)  # two vectors: their outputs are the steps 4 and 5, the mark is step 3
    logits[0, 4:] = 1.0
    weights = torch.eye(4)[[0, 0, 0, 0, 1, 2]].repeat(2, 1, 1)
    weights[1, 3] = torch.tensor([0.4, 0.6, 0, 0])
    assert ntm_search.figures(logits, weights, wanted) == {
        "wrong": 0.5, "slipped": 0.5, "off": 0.5, "before": 1.0, "at_mark": 0.7,
    }  # fmt: skip


def test_a_stored_machine_is_tested_in_each_way(monkeypatch, tmp_path):
    for name, value in {"LISTS": 2, "ROWS": 8, "LENGTH": 4, "LENGTHS": (2,), "EARLIER": (0, 3)}.items():
        monkeypatch.setattr(ntm_search, name, value)
    figures = checked_run(ntm_search, Job("13_ntm", 3, 1), tmp_path, "cpu")
    assert set(figures["by_length"]["2"]) == {"nothing", "waiting", "mark", "alike"}
    assert set(figures["equal"]) == {"0", "3"}
    untouched = figures["by_length"]["2"]["nothing"]
    assert untouched["wrong"] == untouched["off"] == 0
    assert untouched["at_mark"] > 0.5


def test_the_record_says_who_drifts_off_row_0_without_a_search_and_that_copies_slip():
    runs = sorted(load_result("ntm_search")["runs"], key=lambda run: run["seed"])
    at_120 = {way: [run["by_length"]["120"][way]["off"] for run in runs] for way in ("nothing", "waiting")}
    assert max(at_120["nothing"][:4]) == 0
    assert [share > 0.1 for share in at_120["waiting"]] == [True, True, False, True, True]
    alike = [run["by_length"]["120"]["alike"]["off"] for run in runs]
    kept = [lost < share for lost, share in zip(alike, at_120["waiting"], strict=True)]
    assert kept == [True, True, False, True, True]
    at_40 = [run["by_length"]["40"]["waiting"] for run in runs]
    assert max(found["slipped"] for found in at_40) < 0.01
    assert max(found["wrong"] for found in at_40) > 0.4
