"""The runner: each training once, what is finished stays, and the file says where its figures come from."""

import json
import os
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from attnbook.device import best_device
from attnbook.training import load_checkpoint
from attnbook.training.progress import report_steps
from attnruns.experiments.__main__ import EXPERIMENTS
from attnruns.shared import record, runner
from attnruns.shared.pool import Event, Stopped
from attnruns.shared.record import Refusal
from attnruns.shared.runner import Experiment, Outcome, run_experiment, seeds_of
from attnruns.shared.weights import stored_seeds

RESULTS = Path(__file__).parents[3] / "results"


def in_this_process(work, jobs, workers):
    """Stands for the pool of processes: does each job at once, here."""
    assert workers == 2
    for job in jobs:
        yield Event("started", job)
        yield Event("finished", job, work(job))


@pytest.fixture(autouse=True)
def quick_pool(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # the runner sets it; so that it is put back
    monkeypatch.setattr(runner, "run_jobs", in_this_process)
    monkeypatch.setattr(runner.record, "commit", lambda: "abc1234-dirty")


@pytest.fixture
def jobs():
    """The jobs that were run, in their order."""
    return []


@pytest.fixture
def experiment(jobs):
    """Two models that train in no time; one of them keeps its weights."""

    def run(job):
        jobs.append((job.model, job.seed, job.steps))
        torch.manual_seed(job.seed)
        model = nn.Linear(2, 1)
        return Outcome({"seconds": 1.5, "loss": job.seed / 10}, model if job.model == "big" else None)

    return Experiment("tiny", {"small": 10, "big": 20}, run, {"task": "none", "batch": 4})


def options(out: Path | None, **others) -> Namespace:
    defaults = {"seeds": [0, 1], "models": None, "steps": None, "workers": 2, "out": out, "record": False}
    return Namespace(**(defaults | others))


def run(experiment: Experiment, out: Path | None, **others) -> dict:
    """What the file holds after a run."""
    return json.loads(run_experiment(experiment, options(out, **others)).read_text(encoding="utf-8"))


def runs(result: dict) -> list[tuple]:
    return [(run["model"], run["seed"], run["steps"]) for run in result["runs"]]


def test_each_model_is_trained_with_each_seed_and_written_down(experiment, jobs, tmp_path):
    result = run(experiment, tmp_path / "new")
    assert jobs == [("small", 0, 10), ("small", 1, 10), ("big", 0, 20), ("big", 1, 20)]
    assert runs(result) == [("big", 0, 20), ("big", 1, 20), ("small", 0, 10), ("small", 1, 10)]
    assert [run["loss"] for run in result["runs"]] == [0, 0.1, 0, 0.1]
    assert result["seconds"] == 6.0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["tiny.json", "weights"]


def test_without_a_folder_results_go_to_scratch_and_the_path_is_returned(experiment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_experiment(experiment, options(None)) == Path("scratch/tiny.json")
    assert os.listdir(tmp_path) == ["scratch"]


def test_the_file_says_where_its_figures_come_from(experiment, tmp_path):
    result = run(experiment, tmp_path)
    assert result["command"] == "python -m attnbook.experiments tiny --seeds 0 1"
    assert result["commit"] == "abc1234-dirty"
    assert result["started"].endswith("UTC")
    assert result["settings"] == {"task": "none", "batch": 4}
    for done in result["runs"]:
        assert {"model", "seed", "steps", "device", "seconds", "loss", "commit"} == done.keys()
        assert done["device"] == best_device().type


def test_another_length_of_training_stands_in_the_command(experiment, tmp_path):
    result = run(experiment, tmp_path, seeds=[5], steps=3)
    assert result["command"] == "python -m attnbook.experiments tiny --seeds 5 --steps 3"
    assert runs(result) == [("big", 5, 3), ("small", 5, 3)]


def test_a_model_or_a_seed_that_is_named_twice_is_trained_once(experiment, jobs, tmp_path):
    run(experiment, tmp_path, seeds=[1, 1], models=["small", "small"])
    assert jobs == [("small", 1, 10)]


# ---- what is there already


def test_finished_runs_are_kept(experiment, jobs, tmp_path):
    first = run(experiment, tmp_path, seeds=[0])
    jobs.clear()
    result = run(experiment, tmp_path, seeds=[0, 2])
    assert jobs == [("small", 2, 10), ("big", 2, 20)]
    assert runs(result) == [("big", 0, 20), ("big", 2, 20), ("small", 0, 10), ("small", 2, 10)]
    assert result["runs"][::2] == first["runs"]


def test_when_all_is_there_the_file_is_left_as_it_is_and_that_is_said(experiment, jobs, tmp_path, monkeypatch, capsys):
    run(experiment, tmp_path)
    before = (tmp_path / "tiny.json").read_bytes()
    jobs.clear()
    monkeypatch.setattr(runner.record, "commit", lambda: "another")
    run(experiment, tmp_path)
    assert jobs == []
    assert (tmp_path / "tiny.json").read_bytes() == before
    assert "so nothing was trained" in capsys.readouterr().err


def test_a_kept_run_names_the_commit_that_it_was_run_at(experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(runner.record, "commit", lambda: "old")
    run(experiment, tmp_path, seeds=[0], models=["small"])
    monkeypatch.setattr(runner.record, "commit", lambda: "new")
    result = run(experiment, tmp_path, seeds=[0])
    assert {run["model"]: run["commit"] for run in result["runs"]} == {"small": "old", "big": "new"}


def test_seeds_and_command_name_all_runs_of_the_file(experiment, tmp_path):
    run(experiment, tmp_path, seeds=[0, 1])
    result = run(experiment, tmp_path, seeds=[3])
    assert result["seeds"] == [0, 1, 3]
    assert result["command"].endswith("--seeds 0 1 3")


def test_models_can_be_added_to_what_is_there(experiment, jobs, tmp_path):
    assert run(experiment, tmp_path, models=["small"])["command"].endswith("--seeds 0 1 --models small")
    result = run(experiment, tmp_path, models=["big"], seeds=[0])
    assert jobs == [("small", 0, 10), ("small", 1, 10), ("big", 0, 20)]
    assert runs(result) == [("big", 0, 20), ("small", 0, 10), ("small", 1, 10)]


def test_runs_of_another_length_are_put_aside_and_that_is_said(experiment, jobs, tmp_path, capsys):
    short = run(experiment, tmp_path, seeds=[0], steps=3)
    jobs.clear()
    result = run(experiment, tmp_path, seeds=[1])
    assert jobs == [("small", 1, 10), ("big", 1, 20)]
    assert runs(result) == [("big", 1, 20), ("small", 1, 10)]
    assert json.loads((tmp_path / "tiny.before.json").read_text()) == short
    said = capsys.readouterr().err
    assert "held runs of another number of steps (big, seed 0, 3 steps; small, seed 0, 3 steps)" in said
    assert "it is now" in said


def test_of_two_lengths_those_that_fit_are_kept(experiment, jobs, tmp_path):
    run(experiment, tmp_path, seeds=[0], steps=10)
    jobs.clear()
    run(experiment, tmp_path, seeds=[0])
    assert jobs == [("big", 0, 20)]


def test_what_was_put_aside_before_stays_there(experiment, tmp_path):
    run(experiment, tmp_path, seeds=[0], steps=3)
    run(experiment, tmp_path, seeds=[1], models=["small"])
    run(experiment, tmp_path, seeds=[2], steps=4)
    aside = [json.loads((tmp_path / name).read_text()) for name in ("tiny.before.json", "tiny.before2.json")]
    assert [runs(result) for result in aside] == [[("big", 0, 3), ("small", 0, 3)], [("small", 1, 10)]]


def test_where_nothing_is_left_to_train_nothing_is_put_aside(experiment, jobs, tmp_path):
    run(experiment, tmp_path, seeds=[0], steps=10)
    jobs.clear()
    assert runs(run(experiment, tmp_path, seeds=[0], models=["small"])) == [("big", 0, 10), ("small", 0, 10)]
    assert jobs == []


# ---- two runs at once


def meanwhile(monkeypatch, other):
    """Let ``other()`` be called while the first job of a run is under way, once."""
    calls = [other]

    def pool(work, jobs, workers):
        for event in in_this_process(work, jobs, workers):
            if calls:
                calls.pop()()
            yield event

    monkeypatch.setattr(runner, "run_jobs", pool)


@pytest.mark.parametrize("choice", [({"models": ["small"]}, {"models": ["big"]}), ({"seeds": [0]}, {"seeds": [1]})])
def test_two_runs_may_fill_one_file_and_it_holds_what_both_have_measured(
    choice, experiment, jobs, tmp_path, monkeypatch
):
    ours, theirs = choice
    meanwhile(monkeypatch, lambda: run(experiment, tmp_path, **theirs))
    result = run(experiment, tmp_path, **ours)
    assert runs(result) == [("big", 0, 20), ("big", 1, 20), ("small", 0, 10), ("small", 1, 10)]
    assert len(jobs) == 4
    assert result["command"] == "python -m attnbook.experiments tiny --seeds 0 1"
    assert sorted(os.listdir(tmp_path)) == ["tiny.json", "weights"]


def test_a_training_that_another_run_is_at_is_refused_in_one_sentence(experiment, tmp_path, monkeypatch):
    words = r"^Another run is training small with seed 0 for .*tiny\.json; wait for its end, or give another --out\.$"

    def other():
        with pytest.raises(Refusal, match=words):
            run(experiment, tmp_path, seeds=[1, 0])

    meanwhile(monkeypatch, other)
    assert len(run(experiment, tmp_path, seeds=[0])["runs"]) == 2
    assert len(run(experiment, tmp_path, seeds=[1, 0])["runs"]) == 4  # what it did not get is free again


def test_a_run_of_another_length_meanwhile_loses_nothing(experiment, tmp_path, monkeypatch):
    meanwhile(monkeypatch, lambda: run(experiment, tmp_path, seeds=[1], models=["small"], steps=3))
    assert runs(run(experiment, tmp_path, seeds=[0])) == [("big", 0, 20), ("small", 0, 10), ("small", 1, 3)]


@pytest.mark.parametrize("place", ["file/deeper", "file", "taken"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_trained(place, experiment, jobs, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "weights").touch()
    with pytest.raises(Refusal, match=r"^Nothing can be written into .* \(.+\); give another --out\.$"):
        run(experiment, tmp_path / place)
    assert jobs == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_folder_without_permission_is_refused_before_anything_is_trained(experiment, jobs, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(Refusal, match="Permission denied"):
        run(experiment, tmp_path / "closed")
    assert jobs == []


# ---- records


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A folder of records in a repository that seems clean."""
    monkeypatch.setattr(runner.record, "checkout", lambda: tmp_path)
    monkeypatch.setattr(runner.record, "changes", lambda root: [])
    monkeypatch.setattr(runner.record, "_git", lambda *arguments: "abc1234")
    monkeypatch.setattr(runner.record, "commit", lambda: "abc1234")
    return tmp_path / "results"


def test_a_record_is_written_on_demand_and_its_command_says_so(experiment, records):
    result = run(experiment, None, record=True)
    assert (records / "tiny.json").exists()
    assert (records / "weights" / "tiny_big_0.pt").exists()
    assert result["command"] == "python -m attnbook.experiments tiny --seeds 0 1 --record"
    assert result["commit"] == "abc1234"


@pytest.mark.parametrize("wrong", [{"record": True, "steps": 3}, {"out": Path("results")}])
def test_what_would_spoil_a_record_is_refused_and_writes_nothing(wrong, experiment, jobs, records, monkeypatch):
    monkeypatch.chdir(records.parent)
    run(experiment, None, record=True, seeds=[0])
    before = {path: path.read_bytes() for path in records.rglob("*") if path.is_file()}
    jobs.clear()
    with pytest.raises(Refusal):
        run_experiment(experiment, options(**{"out": None} | wrong))
    assert jobs == []
    assert {path: path.read_bytes() for path in records.rglob("*") if path.is_file()} == before


def test_a_record_never_replaces_runs_of_another_length(experiment, jobs, records):
    run(experiment, None, record=True, seeds=[0])
    before = (records / "tiny.json").read_bytes()
    jobs.clear()
    longer = Experiment("tiny", experiment.steps | {"big": 30}, experiment.run)
    with pytest.raises(Refusal, match=r"than the experiment has now \(big, seed 0, 20 steps\); take them out"):
        run(longer, None, record=True)
    assert jobs == []
    assert (records / "tiny.json").read_bytes() == before


def test_no_stored_record_has_another_number_of_steps_than_its_experiment():
    stored = {name: record.read_runs(RESULTS / f"{name}.json") for name in EXPERIMENTS}
    assert {
        (name, run["model"])
        for name, found in stored.items()
        for run in found
        if run["steps"] != EXPERIMENTS[name].steps[run["model"]]
    } == set()


# ---- what goes wrong


def test_a_run_that_is_stopped_keeps_what_is_finished_and_the_next_call_does_the_rest(
    experiment, jobs, tmp_path, monkeypatch
):
    def stopped_after_two(work, jobs, workers):
        for job in jobs[:2]:
            yield Event("finished", job, work(job))
        yield Event("started", jobs[2])
        (tmp_path / "weights").mkdir()
        (tmp_path / "weights" / "tiny_big_0.ptabcd.part").write_text("half")
        raise Stopped("Cancelled.", 130)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "run_jobs", stopped_after_two)
        with pytest.raises(Stopped, match=r"^Cancelled\. 2 of 4 trainings are finished and kept in .*tiny\.json\.$"):
            run(experiment, tmp_path)
    assert runs(json.loads((tmp_path / "tiny.json").read_text())) == [("small", 0, 10), ("small", 1, 10)]
    assert os.listdir(tmp_path / "weights") == []
    jobs.clear()
    run(experiment, tmp_path)
    assert jobs == [("big", 0, 20), ("big", 1, 20)]


def test_a_run_that_is_stopped_before_anything_is_finished_says_so(experiment, tmp_path, monkeypatch):
    def stopped_at_once(work, jobs, workers):
        raise Stopped("Cancelled.", 130)
        yield

    monkeypatch.setattr(runner, "run_jobs", stopped_at_once)
    with pytest.raises(Stopped, match=r"^Cancelled\. 0 of 4 trainings are finished\.$") as caught:
        run(experiment, tmp_path)
    assert caught.value.status == 130
    assert os.listdir(tmp_path) == []


def test_weights_are_kept_at_half_precision(experiment, tmp_path):
    run(experiment, tmp_path, seeds=[1])
    assert os.listdir(tmp_path / "weights") == ["tiny_big_1.pt"]
    saved = load_checkpoint(tmp_path / "weights" / "tiny_big_1.pt")["model"]
    torch.manual_seed(1)
    for name, tensor in nn.Linear(2, 1).state_dict().items():
        assert torch.equal(saved[name], tensor.half())


def test_an_unknown_model_is_refused_before_anything_runs(experiment, jobs, tmp_path):
    with pytest.raises(Refusal, match=r"tiny has no model huge; it has small, big\."):
        run(experiment, tmp_path, models=["small", "huge"])
    assert jobs == []
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("stored, asked, seeds", [(None, None, [0, 1, 2]), ([1, 4], None, [1, 4]), ([1, 4], [4], [4])])
def test_without_seeds_there_are_three_or_those_of_the_stored_weights(stored, asked, seeds, experiment):
    assert seeds_of(replace(experiment, stored_seeds=stored and (lambda: stored)), asked) == seeds


@pytest.mark.parametrize(
    "stored, asked, sentence",
    [
        ([1, 4], [0, 1, 2], r"^tiny reads stored weights; of --seeds 0 2 there are none \(there is: 1 4\)\.$"),
        ([], [0], r"of --seeds 0 there are none \(there is: none\)\.$"),
        ([], None, r"^tiny reads stored weights, and there are none of small, big\.$"),
        (None, [3, 2**32], r"^--seeds must be whole numbers from 0 to 4294967295, got 4294967296\.$"),
        (None, [3, -1], r"^--seeds must be whole numbers from 0 to 4294967295, got -1\.$"),
    ],
)
def test_seeds_that_cannot_be_run_are_refused_before_anything_runs(stored, asked, sentence, experiment, jobs, tmp_path):
    reads = replace(experiment, stored_seeds=None if stored is None else (lambda: stored))
    with pytest.raises(Refusal, match=sentence):
        run(reads, tmp_path, seeds=asked)
    assert jobs == []
    assert os.listdir(tmp_path) == []


def test_a_folder_of_results_that_is_not_there_is_a_refusal_too(experiment, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path / "none"))
    with pytest.raises(Refusal, match=r"which is no folder\.$"):
        seeds_of(replace(experiment, stored_seeds=partial(stored_seeds, "tiny", "big")), None)


def test_a_job_has_one_thread(experiment, tmp_path):
    def threads(job):
        return Outcome({"seconds": 0, "threads": torch.get_num_threads()})

    torch.set_num_threads(2)
    job = runner.Job("small", 0, 1)
    assert runner.run_job(Experiment("tiny", {}, threads), tmp_path, job)["threads"] == 1


# ---- several processes, started by torchrun


@pytest.fixture
def as_process(monkeypatch):
    """``as_process(1)``: as if this were that one of two processes; the first has sent its jobs."""

    def pretend(rank: int) -> None:
        monkeypatch.setattr(runner.parallel, "size", lambda: 2)
        monkeypatch.setattr(runner.parallel, "rank", lambda: rank)
        monkeypatch.setattr(runner.parallel, "from_first", lambda value: value)

    return pretend


def test_the_first_of_two_processes_does_the_jobs_itself_and_writes(as_process, experiment, jobs, tmp_path):
    as_process(0)
    result = run(experiment, tmp_path, workers=7)  # there is no pool whose workers would count
    assert len(jobs) == len(result["runs"]) == 4
    assert result["command"].startswith("torchrun --nproc_per_node=2 -m attnbook.experiments tiny")
    assert len(list((tmp_path / "weights").iterdir())) == 2


def test_the_first_shows_what_a_training_says_of_itself(as_process, tmp_path, monkeypatch):
    as_process(0)
    shown = []
    monkeypatch.setattr(runner.Display, "show", lambda self, event: shown.append(event))

    def run(job):
        report_steps(3, "loss 1.000")
        return Outcome({"seconds": 0})

    run_experiment(Experiment("tiny", {"small": 10}, run), options(tmp_path, seeds=[0]))
    assert [(event.kind, event.note) for event in shown] == [("started", ""), ("steps", "loss 1.000"), ("finished", "")]


def test_the_second_does_the_same_jobs_and_writes_nothing(as_process, experiment, jobs, tmp_path, capsys):
    as_process(1)
    assert run_experiment(experiment, options(tmp_path / "new")) == tmp_path / "new" / "tiny.json"
    assert len(jobs) == 4
    assert not (tmp_path / "new").exists()
    assert capsys.readouterr().err == ""


def test_a_record_by_several_processes_is_refused(as_process, experiment, jobs):
    as_process(0)
    with pytest.raises(Refusal, match="--record trains each model in one process"):
        run_experiment(experiment, options(None, record=True))
    assert jobs == []


def test_an_interrupted_training_of_several_processes_is_cancelled(as_process, tmp_path):
    as_process(0)

    def interrupted(job):
        raise KeyboardInterrupt

    with pytest.raises(Stopped, match=r"Cancelled\. 0 of 2 trainings are finished"):
        run_experiment(Experiment("tiny", {"small": 10}, interrupted), options(tmp_path))
