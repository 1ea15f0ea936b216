"""The experiments about repeated copies and about associative recall."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import recalling
from attnruns.shared.runner import Job


def test_vectors_and_copies_are_drawn_from_their_ranges():
    shapes = set()
    for seed in range(100):
        bits, _ = recalling.draw_repeat(3, 1, seed, torch.Generator().manual_seed(seed))
        length = int(bits.inputs[0, :, 8].argmax())
        shapes.add((length, (bits.inputs.shape[1] - length - 2) // length))
    assert shapes == {(length, repeats) for length in (1, 2, 3) for repeats in (1, 2, 3)}


def test_items_are_drawn_from_2_on():
    draws = [recalling.draw_recall(4, 1, seed, torch.Generator().manual_seed(seed)) for seed in range(50)]
    assert {(bits.inputs.shape[1] - 8) // 4 for bits, _ in draws} == {2, 3, 4}


@pytest.mark.parametrize("kind", recalling.TASKS)
def test_a_memory_has_room_for_the_longest_test_and_the_choice_is_not_made_on_it(kind):
    task = recalling.TASKS[kind]
    bits, rows = task.exact(max(task.tests), 1, 0)
    assert int((~bits.mask[0]).sum()) <= rows
    assert not set(task.validation) & set(task.tests)
    assert bits.inputs.shape[-1] == task.inputs
    assert bits.target.shape[-1] == task.outputs


@pytest.mark.parametrize("name, best", once_on_the_card(recalling.STEPS), indirect=["best"])
def test_a_run_trains_and_tests_a_model_of_its_name(name, monkeypatch, best, tmp_path):
    small = {kind: replace(task, validation=(2,), tests=(3,)) for kind, task in recalling.TASKS.items()}
    monkeypatch.setattr(recalling, "TASKS", small)
    figures = checked_run(recalling, Job(name, 0, 2), tmp_path, best)
    assert figures["wrong_bits"].keys() == {"3"}
    assert figures["parameters"] > 10_000
