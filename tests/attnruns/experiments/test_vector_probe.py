"""The probe of chapter 1's vector: what it reads, and what it is measured by."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import numbers, vector_probe
from attnruns.experiments.vector_probe import SIZE, Probe, digits_of, encoder_of, shares, vectors
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_the_tested_lists_are_the_chapters():
    lists, written = vector_probe.tested()
    assert lists.shape == written.shape == (300, SIZE)
    assert lists[0].tolist() == [27, 504, 927, 493, 230, 46]
    assert written[0].tolist() == [27, 504, 927, 433, 200, 44]


def test_words_that_are_no_number_and_missing_ones_become_minus_one():
    assert vector_probe.values_of(["zwei", "und", "vierzig", ",", "und", "drei"]) == [42, -1, -1, -1, -1, -1]
    assert vector_probe.values_of(" , ".join(["null"] * 7).split()) == [0] * SIZE


def test_a_number_is_named_when_all_its_digits_are():
    lists = torch.tensor([[5, 42, 300, 999, 0, 120], [1, 2, 3, 4, 5, 6]])
    assert digits_of(lists)[0, :3].tolist() == [[0, 0, 5], [0, 4, 2], [3, 0, 0]]
    logits = torch.nn.functional.one_hot(digits_of(lists), 10).float()
    logits[0, 3, 2] = logits[0, 3, 2].roll(1)  # 990 instead of 999
    written = lists.clone()
    written[0, 3:5] = -1  # one of these two is named, and ten are written
    of = shares(lambda c: logits, torch.zeros(2, 8), lists, written)
    assert (of["of_missed"], of["of_written"]) == (0.5, 1)
    assert of["positions"] == {"1": 1, "2": 1, "3": 1, "4": 0.5, "5": 1, "6": 1}
    assert of["numbers"] == pytest.approx(11 / 12, abs=1e-4)
    assert of["exact_match"] == 0.5


@pytest.mark.parametrize("name", vector_probe.RECIPES)
def test_the_probe_reads_the_encoders_last_state_alone(name):
    torch.manual_seed(3)
    encoder, lists = encoder_of(name), vector_probe.tested()[0][:3]
    c = vectors(encoder, lists)
    batch = numbers.task().collate([example for example in numbers.task().test if example.size == SIZE][:3])
    assert torch.allclose(c, encoder(batch.source, batch.lengths).last.detach(), atol=1e-6)
    stored = numbers.trained("plain").encoder.rnn.weight_hh_l0
    assert torch.equal(encoder.rnn.weight_hh_l0, stored) == (name == "trained")
    assert Probe(128)(c).shape == (3, SIZE, 3, 10)


@pytest.mark.parametrize("name, best", once_on_the_card(vector_probe.STEPS), indirect=["best"])
def test_a_short_training_gives_shares_and_leaves_the_encoder(name, monkeypatch, tmp_path, best):
    monkeypatch.setattr(vector_probe, "LISTS", 60)
    figures = checked_run(vector_probe, Job(name, 0, 2), tmp_path, best)
    assert list(figures["positions"]) == [str(k) for k in range(1, SIZE + 1)]
    assert figures["loss"] > 1
    assert figures["exact_match"] <= figures["numbers"] <= 1


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="there is: trained"):
        encoder_of("nothing")


def test_the_record_has_three_seeds_of_each():
    runs = [(run["model"], run["seed"]) for run in load_result("vector_probe")["runs"]]
    assert sorted(runs) == [(name, seed) for name in sorted(vector_probe.RECIPES) for seed in (0, 1, 2)]
