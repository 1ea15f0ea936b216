"""The command line of the experiments: what it asks for, what it refuses, how it ends."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from attnbook.device import best_device
from attnruns.experiments import __main__ as command
from attnruns.experiments import translate_endings
from attnruns.shared.pool import Stopped
from attnruns.shared.record import Refusal
from attnruns.shared.weights import keep_weights


@pytest.fixture
def asked(monkeypatch):
    """What the command line asks the runner for, instead of doing it."""
    calls = []

    def run(experiment, options):
        calls.append((experiment, options))
        return Path("scratch") / f"{experiment.name}.json"

    monkeypatch.setattr(command, "run_experiment", run)
    return calls


@pytest.mark.parametrize("name", sorted(command.EXPERIMENTS))
def test_each_experiment_runs_by_its_name_and_the_end_says_where_the_results_are(name, asked, capsys, monkeypatch):
    monkeypatch.delenv("ATTNBOOK_RESULTS", raising=False)
    assert command.main([name]) == 0
    [(experiment, options)] = asked
    assert experiment.name == name
    stored = experiment.stored_seeds
    assert options.seeds == ([0, 1, 2] if stored is None else stored())
    assert options.models is options.steps is options.out is None
    assert options.record is False
    assert capsys.readouterr().out == f"The results are in {Path('scratch') / name}.json.\n"


def test_seeds_models_steps_workers_folder_and_record_can_be_chosen(asked):
    line = "numbers --seeds 3 4 --models plain attention --steps 5 --workers 1 --out here --record"
    command.main(line.split())
    [(_, options)] = asked
    assert options.seeds == [3, 4]
    assert options.models == ["plain", "attention"]
    assert (options.steps, options.workers, options.out, options.record) == (5, 1, Path("here"), True)


def test_a_device_can_be_chosen_for_all_processes(asked, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_DEVICE", "")
    command.main(["numbers", "--device", "cpu"])
    assert os.environ["ATTNBOOK_DEVICE"] == "cpu"
    assert best_device() == torch.device("cpu")


@pytest.mark.parametrize(
    "name, device, says",
    [
        ("numbers", "gpu", "ATTNBOOK_DEVICE is 'gpu', which names no device"),
        ("numbers", "meta", "there is no such device here; there is: "),
        ("complexity", "card", "complexity measures the CPU and runs nowhere else; leave --device card out."),
    ],
)
def test_a_device_that_cannot_be_used_is_refused(name, device, says, monkeypatch, capsys):
    if device == "card":
        monkeypatch.setattr(command, "best_device", lambda: torch.device("mps"))
    monkeypatch.setenv("ATTNBOOK_DEVICE", "")
    with pytest.raises(SystemExit) as caught:
        command.main([name, "--device", device])
    assert caught.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, models",
    [
        ("--pair en-de --model transformer plain", ["transformer_en_de", "plain_en_de"]),
        ("--pair en-de --models plain_en_de", ["plain_en_de"]),
        ("--pair en-de", [f"{kind}_en_de" for kind in ("plain", "bahdanau", "luong", "gnmt", "transformer")]),
        ("--pair de-en --model tiny", ["tiny_de_en"]),
        ("", None),
    ],
)
def test_a_pair_of_languages_picks_the_models_for_it(line, models, asked):
    command.main(["translate", *line.split()])
    [(_, options)] = asked
    assert options.models == models


def test_one_seed_and_one_model_may_be_named_in_the_singular(asked):
    command.main(["numbers", "--seed", "3", "--model", "plain"])
    [(_, options)] = asked
    assert (options.seeds, options.models) == ([3], ["plain"])


@pytest.mark.parametrize(
    "line, sentence",
    [
        ("nmbers", "There is no experiment 'nmbers'; did you mean numbers? There are: acting, attention_cost,"),
        ("", "Say which experiment: acting, attention_cost,"),
        ("numbers --models plan", "numbers has no model plan; it has plain,"),
        ("numbers --seeds 1 -1", "--seeds must be whole numbers from 0 to 4294967295, got -1."),
        ("numbers --workers 0", "--workers must be at least 1, got 0."),
        ("numbers --pair de-en", "numbers has no models for the pair de-en."),
        ("translate --pair de-fr", "translate has no models for the pair de-fr."),
        ("translate --pair de-en --model huge", "translate has no model huge_de_en; it has plain_de_en,"),
        ("numbers --steps 0", "--steps must be at least 1, got 0."),
        ("numbers --steps many", "argument --steps: invalid int value: 'many'."),
        ("numbers --fast", "unrecognized arguments: --fast."),
    ],
)
def test_what_makes_no_sense_gets_one_sentence_and_status_2(line, sentence, asked, capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(line.split())
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(sentence)
    assert said.err.count("\n") == 1
    assert asked == []


def test_seeds_without_stored_weights_are_refused_before_anything_is_started(tmp_path, monkeypatch, asked, capsys):
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    keep_weights(nn.Linear(1, 1), tmp_path, "translate", translate_endings.MODEL, 4)
    command.main(["translate_endings"])
    [(_, options)] = asked
    assert options.seeds == [4]
    with pytest.raises(SystemExit) as caught:
        command.main(["translate_endings", "--seeds", "0", "4", "5"])
    assert caught.value.code == 2
    sentence = "translate_endings reads stored weights; of --seeds 0 5 there are none (there is: 4).\n"
    assert capsys.readouterr().err == sentence
    assert len(asked) == 1


def test_a_refusal_of_the_runner_has_status_2_too(monkeypatch, capsys):
    def refuse(*arguments):
        raise Refusal("Not like this.")

    monkeypatch.setattr(command, "run_experiment", refuse)
    with pytest.raises(SystemExit) as caught:
        command.main(["numbers", "--record"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == "Not like this.\n"


@pytest.mark.parametrize("status", [1, 130])
def test_a_run_that_is_stopped_says_how_to_go_on(status, monkeypatch, capsys):
    def stop(*arguments):
        raise Stopped("It ended.", status) from ValueError("there")

    monkeypatch.setattr(command, "run_experiment", stop)
    assert command.main(["numbers", "--out", "my folder"]) == status
    there, reason, how = capsys.readouterr().err.splitlines()
    assert (there, reason) == ("there", "It ended.")
    quote = '"' if os.name == "nt" else "'"
    assert how == f"To go on: python -m attnbook.experiments numbers --out {quote}my folder{quote}"


def test_ctrl_c_before_the_first_process_has_the_same_status(monkeypatch, capsys):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_experiment", interrupt)
    assert command.main(["numbers"]) == 130
    assert capsys.readouterr().err == "Cancelled. Nothing was started.\n"


def test_help_says_of_each_experiment_what_it_is_and_how_long_it_takes(asked, capsys):
    assert command.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert said.count("\n      Time: ") == len(command.EXPERIMENTS)
    for name in command.EXPERIMENTS:
        assert f"\n  {name}\n" in said
    assert "The score zoo: one small decoder, one task, nine scores.\n" in said
    assert "CPU minutes for" in said
    assert asked == []


@pytest.mark.parametrize("name", sorted(command.EXPERIMENTS))
def test_help_after_a_name_lists_its_models_with_their_steps(name, asked, capsys):
    assert command.main([name, "-h"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for model, steps in command.EXPERIMENTS[name].steps.items():
        assert [model, str(steps), "steps"] in lines
    assert asked == []


def test_help_after_a_wrong_name_is_refused_like_the_name(asked, capsys):
    with pytest.raises(SystemExit):
        command.main(["nmbers", "--help"])
    assert "did you mean numbers?" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(command.EXPERIMENTS))
def test_an_experiment_says_what_a_reader_wants_to_know(name):
    experiment = command.EXPERIMENTS[name]
    # these measure weights that others have trained
    of_others = {name for name in command.EXPERIMENTS if name.startswith("real_")}
    of_others |= {"photographs", "live_pages", "pointing_gradients", "cache_seconds", "batch_seconds"}
    of_others |= {"written_texts", "written_settings", "one_prompt", "task_pairs", "smaller_caches", "cache_distances"}
    of_others |= {"prose_heads", "sentence_copies", "written_manual", "shuffled_patches", "gift_heads", "written_tails"}
    measures = {"attention_cost", "complexity", "parallel_layers", "copying_grid", "longer_than_trained"} | of_others
    measures |= {"ntm_search"}
    measures |= {"card_layers", "card_translators"}
    measures |= {"translate_endings", "translate_alignments", "translate_ways", "translate_settings", "searching"}
    measures |= {"translate_penalties"}
    trains = name not in measures
    training = {"learning_rate", "warmup", "max_grad_norm"} if trains else set()
    if "one cycle" in str(experiment.settings.get("learning_rate")):
        training -= {"warmup"}  # is a part of the cycle
    told = {"weights"} if name in of_others else {"task"} if name == "searching" else {"task", "batch"}
    assert told | training <= experiment.settings.keys()
    assert all(steps > 0 for steps in experiment.steps.values())


# ---- the command itself, in a process of its own


TINY = """
    import os, signal, sys, time
    import torch
    from pathlib import Path
    from attnruns.experiments import __main__ as command
    from attnruns.shared.runner import Experiment, Outcome
    from attnbook.training.progress import report_steps

    def run(job):
        if job.model == "endless":
            Path("started").touch()
            while True:
                report_steps(1)
                torch.ones(100, 100) @ torch.ones(100, 100)
        if job.model == "sick":
            raise MemoryError("too much")
        figures = {"seconds": 0.1, "threads": torch.get_num_threads(), "process": os.getpid()}
        return Outcome(figures, torch.nn.Linear(1, 1))

    def main():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
        command.EXPERIMENTS["tiny"] = Experiment("tiny", {"quick": 1, "endless": 1000, "sick": 1}, run)
        sys.exit(command.main())
"""


@pytest.fixture
def tiny(tmp_path):
    """Starts the command with a tiny experiment, in an empty folder and a group of its own: ``tiny("quick")``."""
    (tmp_path / "tiny_experiment.py").write_text(textwrap.dedent(TINY))
    (tmp_path / "here").mkdir()
    path = os.pathsep.join([str(tmp_path), *filter(None, map(os.path.abspath, sys.path))])
    started = []

    def start(*arguments: str) -> subprocess.Popen:
        words = [sys.executable, "-c", "import tiny_experiment; tiny_experiment.main()", "tiny", "--seeds", "0"]
        process = subprocess.Popen(
            [*words, *arguments], cwd=tmp_path / "here", env={**os.environ, "PYTHONPATH": path}, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_for(condition, seconds: float = 120) -> bool:
    """Whether ``condition()`` comes true in so many seconds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(condition())


@pytest.mark.slow
def test_jobs_run_in_processes_of_their_own_and_one_that_fails_is_named_and_what_was_finished_is_kept(tiny, tmp_path):
    process = tiny("--models", "quick", "sick", "--workers", "1")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "in run" in said  # the trace of the process
    *_, reason, how = said.splitlines()
    file = Path("scratch", "tiny.json")
    assert reason == (
        "The training of sick with seed 0 failed: MemoryError: too much. "
        f"1 of 2 trainings are finished and kept in {file}."
    )
    assert how == "To go on: python -m attnbook.experiments tiny --seeds 0 --models quick sick --workers 1"
    [run] = json.loads((tmp_path / "here" / file).read_text())["runs"]
    assert (run["model"], run["threads"]) == ("quick", 1)
    assert run["process"] != process.pid
    assert (tmp_path / "here" / "scratch" / "weights" / "tiny_quick_0.pt").exists()
    again = tiny("--models", "quick")  # what is there is not trained again, so no process is started
    said, _ = again.communicate(timeout=120)
    assert (again.returncode, said) == (0, f"The results are in {file}.\n")


def group_is_gone(group: int) -> bool:
    """Whether no process of this group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to a whole console, that of the tests too")
@pytest.mark.parametrize(
    "send, number",
    [("killpg", signal.SIGINT), ("kill", signal.SIGTERM)],
    ids=["Ctrl-C, as a terminal sends it to all", "SIGTERM to the command alone"],
)
def test_a_signal_ends_the_run_within_two_seconds_and_keeps_what_is_finished(send, number, tiny, tmp_path):
    """One handler hears both signals. That each ends all, when one process alone hears it, `test_pool.py` shows."""
    process = tiny("--models", "quick", "endless", "--workers", "1")
    assert wait_for((tmp_path / "here" / "started").exists)
    sent = time.monotonic()
    getattr(os, send)(process.pid, number)  # Windows has no killpg
    _, said = process.communicate(timeout=60)
    idle = os.getloadavg()[0] < os.cpu_count()
    assert time.monotonic() - sent < (2 if idle else 10)  # leaving Python takes a while when others want the cores
    assert process.returncode == 130
    assert wait_for(lambda: group_is_gone(process.pid), seconds=2)
    *_, reason, how = said.splitlines()
    file = Path("scratch", "tiny.json")
    assert reason == f"Cancelled. 1 of 2 trainings are finished and kept in {file}."
    assert how == "To go on: python -m attnbook.experiments tiny --seeds 0 --models quick endless --workers 1"
    assert "Traceback" not in said
    assert [run["model"] for run in json.loads((tmp_path / "here" / file).read_text())["runs"]] == ["quick"]
    left = sorted(path.name for path in (tmp_path / "here" / "scratch").rglob("*.*"))
    assert left == ["tiny.json", "tiny_quick_0.pt"]
