"""The file of chapter 13 with other seeds: what is replaced in it is there, and its machine is tested as it should."""

import json

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM, NTMConfig
from attnruns.experiments import ntm_file
from attnruns.results import load_result
from attnruns.shared import chapter_file
from attnruns.shared.grid import copying_grid
from attnruns.shared.memory import wrong_bits
from attnruns.shared.runner import Job


@pytest.fixture
def machine():
    torch.manual_seed(0)
    return NTM(NTMConfig(inputs=11, outputs=8)).eval()


def test_the_chapter_has_what_is_replaced_and_nothing_else_changes():
    changed, plain = ntm_file.code("13_ntm", 7, 5), ntm_file.code("13_ntm", 3, 500)
    compile(changed, "13_ntm", "exec")
    pairs = [(one, two) for one, two in zip(plain.splitlines(), changed.splitlines(), strict=True) if one != two]
    assert [two for _, two in pairs] == ["torch.manual_seed(7)", "STEPS_OF_TRAINING = 5"]
    assert "vectors on 256 rows" not in plain  # the chapter's own test is left out


def test_the_file_runs_with_the_seed_and_the_steps_of_the_job_and_leaves_the_threads_alone(monkeypatch, tmp_path):
    small = {"lengths": (2,), "count": 2}
    monkeypatch.setattr(ntm_file, "copying_grid", lambda *some: copying_grid(*some[:2], rows=some[3], **small))
    torch.set_num_threads(2)
    try:
        figures = checked_run(ntm_file, Job("13_ntm", 1, 2), tmp_path, "cpu", kept=True)
        ntm_file.run(Job("13_ntm", 1, 2))
    finally:
        torch.set_num_threads(1)
    assert figures["training"]["longest"] == 4
    assert list(figures["grid"]["2"]) == ["128", "256"]
    assert set(figures["way_back"]) == set(ntm_file.LEFT_OUT)
    assert set(figures["heads"]) == {"write", "read", "ahead"}


def test_nothing_left_out_is_the_machine_itself_and_only_the_read_head_lacks_a_step(machine):
    inputs = mark_phases(copy_batch(3, 2, seed=0)).inputs  # (2, 8, 11)
    with torch.no_grad():
        logits, weights = machine(inputs, rows=6)
        plain, own = ntm_file.read_without(machine, inputs, 6, (), (4,))
        outputs, changed = ntm_file.read_without(machine, inputs, 6, ("content",), (4,))
    torch.testing.assert_close(plain, logits)
    torch.testing.assert_close(own, weights[:, :, 0])
    torch.testing.assert_close(changed[:, :4], own[:, :4])
    assert not torch.allclose(changed[:, 4], own[:, 4])
    assert not torch.equal(outputs[:, 4], logits[:, 4])  # the output of this step knows what is read now
    assert machine.config.without == ()


def test_heads_that_move_on_are_counted(machine):
    with torch.no_grad():
        machine.address.layer.weight.zero_()
        machine.address.layer.bias.zero_()
        for head in range(2):
            of_head = machine.address.layer.bias[26 * head : 26 * (head + 1)]
            of_head[21] = -20.0  # gate
            of_head[24] = 20.0  # shift forward
    found = ntm_file.heads_of_loop(machine)
    assert found["write"] == found["read"] == {"moves": [0.0, 1.0], "gate": 0.0, "shift": [0.0, 0.0, 1.0]}
    assert found["ahead"] == 0  # this read head is not on a written row


def test_the_record_holds_the_machine_of_the_chapter_among_five():
    runs = load_result("ntm_file")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 2, 3, 4]


def test_the_machine_of_the_chapter_is_kept_and_copies():
    bits = mark_phases(copy_batch(20, 5, seed=1))
    with torch.no_grad():
        logits, _ = ntm_file.trained("13_ntm", 3)(bits.inputs, rows=64)
    assert wrong_bits(logits, bits) < 0.5


def test_a_chapter_that_is_not_there_or_says_something_else_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(chapter_file, "CHAPTERS", tmp_path)
    with pytest.raises(ValueError, match=r"13_ntm\.ipynb is missing: .*run this in a checkout"):
        ntm_file.code("13_ntm", 1, 2)
    cell = {"id": "one", "source": ["torch.manual_seed(4)"], "metadata": {"tags": ["standalone"]}}
    (tmp_path / "13_ntm.ipynb").write_text(json.dumps({"cells": [cell]}))
    with pytest.raises(ValueError, match=r"13_ntm must hold 'torch.manual_seed\(3\)'"):
        ntm_file.code("13_ntm", 1, 2)
    with pytest.raises(ValueError, match="there is: 13_ntm"):
        ntm_file.code("nothing", 1, 2)
