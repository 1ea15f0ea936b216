"""The command line of the experiments."""

from pathlib import Path

import pytest

from attnbook.experiments import __main__ as command


@pytest.fixture
def asked(monkeypatch):
    """What the command line asks the runner for, instead of doing it."""
    calls = []
    monkeypatch.setattr(command, "run_experiment", lambda *arguments: calls.append(arguments))
    return calls


@pytest.mark.parametrize("name", ["numbers", "reading", "reversal", "scores", "sharpening", "single_numbers"])
def test_each_experiment_runs_by_its_name(name, asked):
    command.main([name])
    [(experiment, options)] = asked
    assert experiment.name == name
    assert options.seeds == [0, 1, 2]
    assert options.models is options.steps is None
    assert options.out == Path("results")


def test_seeds_models_steps_workers_and_folder_can_be_chosen(asked):
    line = "numbers --seeds 3 4 --models plain attention --steps 5 --workers 1 --out here"
    command.main(line.split())
    [(_, options)] = asked
    assert options.seeds == [3, 4]
    assert options.models == ["plain", "attention"]
    assert (options.steps, options.workers, options.out) == (5, 1, Path("here"))


def test_an_unknown_name_is_refused_with_the_known_ones(asked, capsys):
    with pytest.raises(SystemExit):
        command.main(["nmbers"])
    said = capsys.readouterr().err
    assert "nmbers" in said
    assert "single_numbers" in said
    assert asked == []


@pytest.mark.parametrize("name", sorted(command.EXPERIMENTS))
def test_an_experiment_says_what_a_reader_wants_to_know(name):
    experiment = command.EXPERIMENTS[name]
    wanted = {"task", "batch"} if name == "complexity" else {"task", "batch", "rate", "warmup", "clip"}
    assert wanted <= experiment.settings.keys()  # complexity trains nothing
    assert all(steps > 0 for steps in experiment.steps.values())
