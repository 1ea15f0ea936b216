"""What is read behind a number: the three ways to read, and the record."""

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


def test_a_run_trains_and_counts(tmp_path):
    figures = checked_run(read_behind, Job("global", 0, 2), tmp_path, "cpu")
    assert figures["units_found"].keys() == set(read_behind.CASES)


def test_the_record_has_the_trainings_of_the_other_one():
    runs = load_result("read_behind")["runs"]
    assert [(run["model"], run["seed"]) for run in runs] == [("global", seed) for seed in range(3)]
    other = {run["seed"]: run["exact_match"] for run in load_result("centre_rules")["runs"] if run["model"] == "global"}
    for run in runs:
        assert run["exact_match"] == pytest.approx({n: other[run["seed"]][n] for n in run["exact_match"]}, abs=0.02)
