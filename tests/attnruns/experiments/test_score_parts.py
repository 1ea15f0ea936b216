"""Scores taken apart: what is counted of a model that reads correct words, and the record."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import score_parts
from attnruns.results import load_result
from attnruns.shared.runner import Job

ENGLISH = ["two", ",", "three", ",", "four", ",", "forty", "five"]
GERMAN = ["zwei", ",", "drei", ",", "vier", ",", "fünf", "und", "vierzig"]
LIST = (ENGLISH, GERMAN)


def at_positions(positions, words=8):
    """Weights ``(1, T, Tk)`` that are all on these positions."""
    return torch.nn.functional.one_hot(torch.tensor([positions]), words).float()


def test_without_marks_global_attention_has_the_same_largest_weights():
    names = score_parts.file_with("global", 0)
    torch.manual_seed(0)
    model = names["Translator"](False).eval()
    source, target = names["batch_of"]([LIST])
    _, weights, alone = score_parts.watched(model, source, target)
    assert torch.allclose(alone.softmax(dim=-1), weights, atol=1e-6)


def test_units_are_found_from_the_fourth_number_on_among_all_words_or_near_the_last_position():
    units = score_parts.file_with("global", 0)["UNITS"]
    weights = at_positions([0, 1, 2, 3, 4, 5, 7, 7, 6, 7])  # all words of the list are found
    alone = at_positions([0, 1, 2, 3, 4, 5, 1, 7, 6, 7])  # the fourth unit isn't: two is preferred, five positions away
    alone[0, 6, 7] = 0.5  # and after it the unit
    found = score_parts.units_found([LIST], units, weights, alone)
    assert found == dict(zip(score_parts.CASES, (1, 0, 1), strict=True))


def test_wrong_words_are_counted_by_kind_and_units_by_the_other_units_that_are_allowed():
    names = score_parts.file_with("global", 0)
    _, target = names["batch_of"]([LIST])
    weights = at_positions([0, 1, 2, 3, 4, 5, 7, 7, 6, 7])
    weights[0, 2, 0] = 0.5  # at drei, two may be attended to
    written = target.clone()
    written[0, 2] = written[0, 9] = 0  # drei and the end are wrong
    assert score_parts.wrong_words(names, [LIST], written, target, weights) == {
        "unit, no other allowed": [0, 3], "unit, another allowed": [1, 1], ",": [0, 3], "und": [0, 1], "ten": [0, 1],
        "end": [1, 1],
    }  # fmt: skip


@torch.no_grad()
def test_the_oracles_gaussian_multiplies_its_weights():
    found = {}
    for name in ("oracle", "oracle_gaussian"):
        names = score_parts.file_with(name, 0)
        torch.manual_seed(0)
        model = names["Translator"](True).eval()
        found[name] = model(names["batch_of"]([LIST])[0], 10)[1][0, 0, :4]
    bell = torch.exp(-torch.tensor([0.0, 1.0, 4.0, 9.0]) / 2)
    assert torch.allclose(found["oracle_gaussian"], found["oracle"] * bell, atol=1e-6)


def test_a_name_that_is_no_rule_is_refused():
    with pytest.raises(ValueError, match="sideways"):
        score_parts.file_with("sideways", 0)


def test_a_run_trains_and_counts(tmp_path):
    figures = checked_run(score_parts, Job("oracle_gaussian", 0, 2), tmp_path, "cpu")
    assert figures["units_found"].keys() == figures["wrong"].keys() == {"5", "15"}


def test_the_record_has_three_seeds_of_the_last_weights_and_the_other_records_figures():
    runs = load_result("score_parts")["runs"]
    assert {("last_weights", seed) for seed in range(3)} <= {(run["model"], run["seed"]) for run in runs}
    other = {(run["model"], run["seed"]): run["exact_match"] for run in load_result("centre_rules")["runs"]}
    for run in runs:
        if run["model"] == "last_weights":  # the oracle's differ more from processor to processor
            assert run["exact_match"] == pytest.approx(other[run["model"], run["seed"]], abs=0.05)
