"""Exchanged tens: the twin differs in one word, only the chosen annotations change, and reading is the file's own."""

import random

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import ten_exchange
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def names():
    return ten_exchange.file_with("local_p", 0)


def some_lists(names, count=6):
    random.seed(3)
    return [pair for pair in (names["number_list"](5) for _ in range(count)) if "und" in pair[1]]


def test_a_twin_differs_in_one_ten_and_the_step_is_where_it_is_written(names):
    lists = some_lists(names)
    others, places = ten_exchange.twins(names, lists, random.Random(0))
    for (english, german), (changed, _), (step, word, now, other) in zip(lists, others, places, strict=True):
        assert [at for at, pair in enumerate(zip(english, changed, strict=True)) if pair[0] != pair[1]] == [word]
        assert german[step - 1] == "und"
        assert names["TARGET"][now] == german[step]
        assert names["ZEHNER"][names["TENS"].index(changed[word])] == names["TARGET"][other]


@torch.no_grad()
def test_without_an_exchange_it_reads_as_the_file_does(names):
    torch.manual_seed(0)
    model = names["Translator"](True).eval()
    source, target = names["batch_of"](some_lists(names))
    h, S = ten_exchange.annotations(model, source)
    words, weights, centres = ten_exchange.read(model, target, [h] * target.shape[1], S)
    logits, by_file, centres_of_file = model(source, target.shape[1], target)
    assert torch.equal(words, logits.argmax(dim=-1))
    assert torch.allclose(weights, by_file, atol=1e-6)
    assert torch.allclose(centres, centres_of_file, atol=1e-5)


def test_only_the_chosen_annotations_are_exchanged():
    h, twin = torch.zeros(1, 6, 2), torch.ones(1, 6, 2)
    ten, word = torch.tensor([4]), torch.tensor([2])
    found = {where: torch.stack(ten_exchange.exchanged(h, twin, where, ten, word, 7))[:, 0, :, 0]
             for where in ten_exchange.WHERE}  # (T, Tk) each  # fmt: skip
    assert found["nowhere"].sum() == 0
    assert found["everywhere"].sum() == 7 * 6
    assert found["unit_and_und"].sum(dim=1).tolist() == [0, 0, 6, 6, 0, 0, 0]
    assert found["ten"].sum(dim=1).tolist() == [0, 0, 0, 0, 6, 0, 0]
    assert found["vector_of_unit"].sum(dim=0).tolist() == [0, 0, 0, 7, 0, 0]
    assert found["vector_of_ten"].sum(dim=0).tolist() == [0, 0, 7, 0, 0, 0]
    with pytest.raises(ValueError, match="where must be one of"):
        ten_exchange.exchanged(h, twin, "nobody", ten, word, 7)


@pytest.mark.parametrize("name", ["global", "local_p"])
def test_a_run_trains_and_measures(name, tmp_path, monkeypatch):
    monkeypatch.setattr(ten_exchange, "LISTS", 4)
    figures = checked_run(ten_exchange, Job(name, 0, 2), tmp_path, "cpu", kept=True)
    assert figures["own"].keys() == figures["twin"].keys() == set(ten_exchange.WHERE)
    assert ("outside" in figures) == (name == "local_p")


def test_the_record_has_the_trainings_of_the_other_one():
    runs = load_result("ten_exchange")["runs"]
    assert {(run["model"], run["seed"]) for run in runs} == {(n, s) for n in ten_exchange.STEPS for s in range(3)}
    other = {(run["model"], run["seed"]): run["exact_match"] for run in load_result("centre_rules")["runs"]}
    for run in runs:
        there = {n: other[run["model"], run["seed"]][n] for n in run["exact_match"]}
        near = 0.02 if run["model"] == "local_m" else 0  # which was trained on another processor
        assert there == pytest.approx(run["exact_match"], abs=near)
