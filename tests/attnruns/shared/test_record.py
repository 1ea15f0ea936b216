"""Records: written on demand, from a clean commit, and never by a run that was only tried out."""

import json
import os
import platform
import subprocess
from argparse import Namespace
from pathlib import Path

import numpy
import pytest
import torch

from attnruns.shared import record
from attnruns.shared.record import Refusal, changes, checkout, command, commit, destination, provenance, read_runs
from attnruns.shared.runner import Experiment

WHO = {f"GIT_{who}_{what}": "tester@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit, in which the package seems to lie."""
    package = tmp_path / "course" / "package"
    package.mkdir(parents=True)
    (package / "record.py").write_text("here\n")
    (tmp_path / "course" / "results").mkdir()
    (tmp_path / "course" / "results" / "tiny.json").write_text("{}\n")
    git(package.parent, "init", "-q")
    git(package.parent, "add", ".")
    git(package.parent, "commit", "-qm", "All of it")
    monkeypatch.setattr(record, "HERE", package)
    monkeypatch.chdir(tmp_path)
    return package.parent


@pytest.fixture
def no_repository(tmp_path, monkeypatch):
    """A package that lies outside of any repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(record, "HERE", tmp_path)
    monkeypatch.chdir(tmp_path)


# ---- the repository


def test_the_commit_is_named_and_marked_when_something_has_changed(repository):
    short = git(repository, "rev-parse", "--short", "HEAD")
    assert checkout().samefile(repository)
    assert commit() == short
    (repository / "new.txt").write_text("new\n")
    assert commit() == f"{short}-dirty"


def test_outside_of_a_repository_the_commit_is_unknown(no_repository):
    assert checkout() is None
    assert commit() == "unknown"


def test_a_package_that_its_repository_does_not_track_has_no_commit(repository, monkeypatch):
    environment = repository / "environment"
    environment.mkdir()
    (environment / "record.py").write_text("installed\n")
    monkeypatch.setattr(record, "HERE", environment)
    assert checkout() is None


def test_without_git_the_commit_is_unknown(repository, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    assert commit() == "unknown"


def test_changes_are_files_tracked_or_not_but_not_those_of_the_results(repository):
    assert changes(repository) == []
    (repository / "results" / "tiny.json").write_text("[]\n")
    (repository / "results" / "new.json").write_text("[]\n")
    assert changes(repository) == []
    (repository / "package" / "record.py").write_text("there\n")
    (repository / "new.txt").write_text("new\n")
    assert changes(repository) == ["package/record.py", "new.txt"]


# ---- where to


def test_results_go_to_scratch_or_where_one_says(repository):
    assert destination(None, record=False, steps=20) == Path("scratch")
    assert destination(Path("here"), record=False, steps=None) == Path("here")


def test_a_record_goes_to_the_results_of_the_repository_wherever_one_stands(repository):
    assert destination(None, record=True, steps=None).samefile(repository / "results")


@pytest.mark.parametrize(
    "out, steps, message",
    [
        (Path("here"), None, "--record writes to results/, so it goes without --out"),
        (None, 20, "--record trains each model for its own number of steps, so it goes without --steps"),
    ],
)
def test_a_record_with_steps_or_folder_is_refused(out, steps, message, repository):
    with pytest.raises(Refusal, match=message):
        destination(out, record=True, steps=steps)


def test_a_record_outside_of_a_repository_is_refused(no_repository):
    with pytest.raises(Refusal, match="it works in a git checkout with a commit only"):
        destination(None, record=True, steps=None)


def test_a_record_before_the_first_commit_is_refused(repository):
    git(repository, "checkout", "-q", "--orphan", "empty")
    with pytest.raises(Refusal, match="it works in a git checkout with a commit only"):
        destination(None, record=True, steps=None)


def test_a_record_with_changes_is_refused_and_they_are_named(repository):
    for name in "abcde":
        (repository / name).write_text("new\n")
    with pytest.raises(Refusal, match=r"commit or stash what has changed since: a, b, c and 2 more\."):
        destination(None, record=True, steps=None)


@pytest.mark.parametrize("name", ["results", "./results/", "results/deeper", "../course/results", "link"])
def test_the_results_of_the_repository_are_refused_as_another_folder(name, repository, monkeypatch):
    monkeypatch.chdir(repository)
    if name == "link" and os.name == "nt":
        pytest.skip("Windows lets few people make links")
    if name == "link":
        Path("link").symlink_to("results", target_is_directory=True)
    with pytest.raises(Refusal, match="holds the results of record; give another folder, or --record"):
        destination(Path(name), record=False, steps=None)


# ---- the file


def test_a_run_that_names_no_commit_has_that_of_its_file(tmp_path):
    runs = [{"model": "a"}, {"model": "b", "commit": "old"}]
    record.write(tmp_path / "tiny.json", {"commit": "new", "runs": runs})
    assert [run["commit"] for run in read_runs(tmp_path / "tiny.json")] == ["new", "old"]
    assert read_runs(tmp_path / "none.json") == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"runs": [{}]}'])
def test_a_damaged_file_is_refused(text, tmp_path):
    (tmp_path / "tiny.json").write_text(text)
    with pytest.raises(Refusal, match=r"tiny\.json is damaged .*; delete it, or restore it"):
        read_runs(tmp_path / "tiny.json")


def test_an_interrupted_write_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "tiny.json"
    record.write(path, {"runs": []})

    def no_move(half, whole):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", no_move)
    with pytest.raises(KeyboardInterrupt):
        record.write(path, {"runs": [1, 2, 3]})
    assert json.loads(path.read_text()) == {"runs": []}
    assert os.listdir(path.parent) == ["tiny.json"]


def test_runs_are_named_by_model_seed_and_steps():
    runs = [{"model": name, "seed": 0, "steps": 9} for name in "abcd"]
    assert record.name_runs(runs[:2]) == "a, seed 0, 9 steps; b, seed 0, 9 steps"
    assert record.name_runs(runs, most=1) == "a, seed 0, 9 steps; and 3 more"


# ---- where from


EXPERIMENT = Experiment("tiny", {"small": 10, "big": 20}, print, {"task": "none"})
RUNS = [{"model": model, "seed": seed, "steps": 10} for model in ("big", "small") for seed in (1, 0)]


def test_the_command_repeats_the_runs():
    line = "python -m attnbook.experiments tiny --seeds 0 1"
    assert command(EXPERIMENT, RUNS) == line
    assert command(EXPERIMENT, RUNS, record=True) == f"{line} --record"
    assert command(EXPERIMENT, RUNS[:2], steps=10) == f"{line} --models big --steps 10"


def test_the_provenance_says_where_figures_come_from():
    said = provenance(EXPERIMENT, RUNS, Namespace(steps=None, record=True), "abc1234", "2025-01-01 00:00 UTC")
    assert said == {
        "name": "tiny",
        "command": "python -m attnbook.experiments tiny --seeds 0 1 --record",
        "commit": "abc1234",
        "started": "2025-01-01 00:00 UTC",
        "device": "cpu",
        "threads": 1,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__},
        "seeds": [0, 1],
        "settings": {"task": "none"},
    }


def test_the_time_is_that_of_the_world():
    assert record.now().endswith(" UTC")
