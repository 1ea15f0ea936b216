"""What is read behind a number: the ways to read, and the record."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import read_behind, ten_exchange
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_the_beginning_of_a_list_is_its_first_numbers():
    german = ["zwei", "und", "vierzig", ",", "sieben", ",", "acht"]
    assert read_behind.beginning(german, 2) == ["zwei", "und", "vierzig", ",", "sieben"]


def test_each_case_has_a_share_per_number_and_draws_the_same_lists_again():
    names = ten_exchange.file_with("global", 0)
    torch.manual_seed(0)
    model = names["Translator"](False).eval()
    found = read_behind.units_found(names, model, 0, lists=4)
    assert {case: len(shares) for case, shares in found.items()} == dict.fromkeys(read_behind.CASES, 5)
    assert found == read_behind.units_found(names, model, 0, lists=4)


def test_the_kept_model_finds_all_units_of_a_list_of_five():
    names, model = ten_exchange.file_with("global", 0), ten_exchange.trained("global")
    found = read_behind.units_found(names, model, 0, lists=20)
    assert found["a list of five"] == [1] * 5
    assert found["all fifteen"][3] < 0.2


def test_with_the_same_states_only_annotations_and_words_allowed_differ():
    names, model = ten_exchange.file_with("global", 0), ten_exchange.trained("global")
    found = read_behind.two_by_two(names, model, 0, lists=20)
    assert found["same states"]["a list of five"] == found["own states"]["a list of five"] == [1] * 5
    own = {case: shares for case, shares in found["own states"].items() if case in read_behind.CASES}
    assert own == read_behind.units_found(names, model, 0, lists=20)
    assert found["fourth goes to"]["a list of five"] == [0, 0, 0, 1] + [0] * 11
    for of_states in found.values():
        assert of_states.keys() == {*read_behind.CASES, read_behind.ALONE_AMONG_ALL}


@torch.no_grad()
def test_mixed_annotations_are_those_of_the_five_and_then_those_of_the_fifteen():
    names, model = ten_exchange.file_with("global", 0), ten_exchange.trained("global")
    of = read_behind.read_lists(names, model, 0, lists=3)
    for row, S in enumerate(of.S_short.tolist()):
        assert torch.equal(of.h_mixed[row, :S], of.h_short[row, :S])
        assert torch.equal(of.h_mixed[row, S:], of.h_long[row, S:])


def test_a_run_trains_and_counts(tmp_path):
    figures = checked_run(read_behind, Job("global", 0, 2), tmp_path, "cpu")
    assert figures["units_found"].keys() == set(read_behind.CASES)
    assert figures["two_by_two"].keys() == {"own states", "same states", "fourth goes to"}


def test_the_record_has_the_trainings_of_the_other_one():
    runs = load_result("read_behind")["runs"]
    assert [(run["model"], run["seed"]) for run in runs] == [("global", seed) for seed in range(3)]
    other = {run["seed"]: run["exact_match"] for run in load_result("centre_rules")["runs"] if run["model"] == "global"}
    for run in runs:
        assert run["exact_match"] == pytest.approx({n: other[run["seed"]][n] for n in run["exact_match"]}, abs=0.02)
