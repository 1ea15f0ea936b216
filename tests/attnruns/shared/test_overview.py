"""What the command line tells: what an experiment is, how long it takes, and which name was meant."""

import json
import sys
import types

import pytest

from attnruns.shared.overview import describe, details, duration, minutes, overview, unknown
from attnruns.shared.runner import Experiment


@pytest.fixture
def experiment(monkeypatch, tmp_path):
    """An experiment in a module with a docstring; its records lie in a folder that is empty at first."""
    module = types.ModuleType("tiny_module", "How small can it be? A comparison.\n\nMore of it.")
    exec("def run(job): ...", module.__dict__)
    monkeypatch.setitem(sys.modules, "tiny_module", module)
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    return Experiment("tiny", {"small": 10, "larger": 2000}, module.run)


def test_an_experiment_is_described_by_the_first_line_of_its_module(experiment):
    assert describe(experiment) == "How small can it be? A comparison"


def test_how_long_it_takes_is_read_from_the_record(experiment, tmp_path):
    (tmp_path / "tiny.json").write_text(json.dumps({"seconds": 3643.8, "runs": [{}] * 30}))
    assert duration(experiment) == "61 CPU minutes for 30 recorded runs; on two processes about 30 minutes"


@pytest.mark.parametrize("text", [None, "{", '{"runs": []}', '{"runs": [], "seconds": null}'])
def test_what_has_no_record_or_a_damaged_one_is_not_recorded_yet(text, experiment, tmp_path):
    if text is not None:
        (tmp_path / "tiny.json").write_text(text)
    assert duration(experiment) == "not recorded yet"


def test_a_folder_of_results_that_is_not_there_breaks_nothing(experiment, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_RESULTS", "nowhere")
    assert duration(experiment) == "not recorded yet"


def test_minutes_are_whole_and_never_none():
    assert [minutes(seconds) for seconds in (1, 89, 91, 3600)] == ["1 minute", "1 minute", "2 minutes", "60 minutes"]


def test_the_overview_has_a_paragraph_for_each_experiment(experiment):
    text = overview({"tiny": experiment})
    assert text.splitlines() == [
        "experiments:",
        "  tiny",
        "      How small can it be? A comparison.",
        "      Time: not recorded yet.",
    ]


def test_details_name_each_model_with_its_steps(experiment):
    text = details(experiment)
    assert "  small      10 steps" in text.splitlines()
    assert "  larger   2000 steps" in text.splitlines()
    assert "tiny: How small can it be? A comparison." in text


def test_an_unknown_name_is_answered_with_the_nearest_one(experiment):
    assert unknown("tny", {"tiny": experiment}) == "There is no experiment 'tny'; did you mean tiny? There are: tiny."
    assert unknown("zebra", {"tiny": experiment}) == "There is no experiment 'zebra'. There are: tiny."
