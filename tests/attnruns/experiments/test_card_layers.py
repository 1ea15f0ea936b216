"""The experiment on a graphics card's layers: every figure where it belongs; what is tested is not the machine."""

import pytest
import torch
from experiment_runs import once_on_the_card

from attnruns.experiments import card_layers
from attnruns.shared import timing
from attnruns.shared.runner import Job, run_job


@pytest.mark.parametrize("name, best", once_on_the_card(card_layers.LAYERS), indirect=["best"])
def test_a_run_has_words_per_second_of_the_processor_and_of_a_card(name, best, monkeypatch, tmp_path):
    for constant, value in {"LENGTH": 8, "BATCHES": (1, 2), "CARD_LENGTHS": (4, 8), "CARD_BATCHES": (1, 3)}.items():
        monkeypatch.setattr(card_layers, constant, value)
    monkeypatch.setattr(card_layers.os, "cpu_count", lambda: 2)
    figures = run_job(card_layers.EXPERIMENT, tmp_path, Job(name, 0, 1))
    assert figures["device"] == best
    assert figures["card"] is None  # it is a CUDA card that has a name
    assert {threads: list(of) for threads, of in figures["processor"].items()} == {"1": ["1", "2"], "2": ["1", "2"]}
    assert ("on_card" in figures) == (best == "card")
    on_card = figures.get("on_card", {})
    assert {length: list(of) for length, of in on_card.items()} == (
        {"4": ["1", "3"], "8": ["1", "3"]} if best == "card" else {}
    )
    assert all(speed > 0 for of in [*figures["processor"].values(), *on_card.values()] for speed in of.values())


def test_the_first_step_only_warms_up_and_the_fastest_of_the_others_counts(monkeypatch):
    seconds = iter([0.001, 0.5, 0.25, 0.4])
    monkeypatch.setattr(timing, "wall_seconds", lambda *arguments, device: next(seconds))
    found = card_layers.words_per_second(torch.nn.Identity(), batch=2, length=5, device=torch.device("cpu"), repeats=3)
    assert found == 40  # 10 words in a quarter of a second
