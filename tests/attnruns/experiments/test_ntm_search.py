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


def test_a_stored_machine_is_tested_in_each_way(monkeypatch, tmp_path):
    for name, value in {"LISTS": 2, "ROWS": 8, "LENGTH": 6, "LENGTHS": (2,)}.items():
        monkeypatch.setattr(ntm_search, name, value)
    figures = checked_run(ntm_search, Job("13_ntm", 3, 1), tmp_path, "cpu")
    assert figures["grid"] == {"2": {"8": 0.0}}
    assert set(figures["searches"]) == {"nothing", "closed", "closed at the mark", "equal 0", "equal 5"}
    assert figures["searches"]["nothing"]["wrong"] < 0.01
    assert figures["searches"]["nothing"]["at_mark"] > 0.5


def test_the_record_says_who_finds_row_0_again_and_who_depends_on_it():
    runs = sorted(load_result("ntm_search")["runs"], key=lambda run: run["seed"])
    few = {name: [run["searches"][name]["wrong"] < 0.06 for run in runs] for name in runs[0]["searches"]}
    assert few == {
        "nothing": [True] * 5,
        "closed at the mark": [True] * 5,
        "closed": [True, True, True, False, False],
        "equal 0": [False, False, False, True, False],
        "equal 5": [True, True, False, True, True],
    }
