"""Jobs in processes: heard of while they work, and gone when they have to be."""

import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from attnruns.shared import pool
from attnruns.shared.pool import Stopped, run_jobs, stop_signals

WORK = """
import os, signal, time
from attnbook.training.progress import report_steps

def work(folder, job):
    (folder / f"{job.model}.pid").write_text(str(os.getpid()))
    if job.model == "slow":
        time.sleep(60)
    if job.model == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.model == "sick":
        raise ValueError("no such thing.")
    if job.model == "leaving":
        raise SystemExit(3)
    report_steps(job.seed, f"loss of {job.model}")
    return {"process": os.getpid(), "model": job.model}
"""


class Job(NamedTuple):
    """What is to be done, by name."""

    model: str
    seed: int = 0


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A function that other processes can import."""
    (tmp_path / "work_of_the_pool.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "attnbook_jobs", sys.modules[__name__])
    monkeypatch.setattr(Job, "__module__", "attnbook_jobs")
    (tmp_path / "attnbook_jobs.py").write_text(
        "from typing import NamedTuple\nclass Job(NamedTuple):\n    model: str\n    seed: int = 0\n"
    )
    import work_of_the_pool

    yield partial(work_of_the_pool.work, tmp_path)
    del sys.modules["work_of_the_pool"]


def is_gone(folder: Path, name: str) -> bool:
    """Whether the process that did this job exists no longer."""
    if os.name == "nt":
        pytest.skip("Windows has no way to ask this without ending the process")
    try:
        os.kill(int((folder / f"{name}.pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
def test_jobs_are_done_in_processes_of_their_own_and_heard_of(work):
    jobs = [Job("a", 7), Job("b", 8), Job("c", 9)]
    events = list(run_jobs(work, jobs, workers=2))
    assert [event.job for event in events if event.kind == "started"] == jobs
    told = sorted((event.value, event.note) for event in events if event.kind == "steps")
    assert told == [(7, "loss of a"), (8, "loss of b"), (9, "loss of c")]
    results = {event.job: event.value for event in events if event.kind == "finished"}
    assert {job: result["model"] for job, result in results.items()} == {job: job.model for job in jobs}
    processes = {result["process"] for result in results.values()}
    assert os.getpid() not in processes
    assert len(processes) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, reason",
    [
        ("sick", "The training of sick with seed 5 failed: ValueError: no such thing."),
        ("leaving", "The process that trained leaving with seed 5 was ended with status 3."),
        pytest.param(
            "killed",
            "The process that trained killed with seed 5 was ended by signal 9; "
            "the system may have run out of memory: try --workers 1.",
            marks=pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
        ),
    ],
)
def test_a_job_that_fails_ends_all_and_is_named(name, reason, work, tmp_path):
    events = []
    with pytest.raises(Stopped) as caught:
        events.extend(run_jobs(work, [Job("a"), Job(name, 5), Job("b")], workers=1))
    assert str(caught.value) == reason
    assert caught.value.status == 1
    assert [event.job.model for event in events if event.kind == "finished"] == ["a"]
    assert not (tmp_path / "b.pid").exists()
    assert is_gone(tmp_path, name)
    if name == "sick":
        assert "in work" in str(caught.value.__cause__)  # where in the other process


@pytest.fixture
def heard_signals():
    """SIGINT is heard, also where the tests run in the background of a script, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself these signals on Windows")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_at_once(number, work, tmp_path, heard_signals):
    events = run_jobs(work, [Job("a"), Job("slow")], workers=1)
    while not (tmp_path / "slow.pid").exists():
        next(events)
    sent = time.monotonic()
    os.kill(os.getpid(), number)
    with pytest.raises(Stopped, match="Cancelled") as caught:
        list(events)
    assert time.monotonic() - sent < 10  # it would sleep for 60; how fast exactly is tested with the command
    assert caught.value.status == 130
    assert is_gone(tmp_path, "slow")


@pytest.mark.slow
def test_who_leaves_early_ends_the_processes(work, tmp_path):
    events = run_jobs(work, [Job("slow")], workers=1)
    while not (tmp_path / "slow.pid").exists():
        next(events)
    events.close()
    assert is_gone(tmp_path, "slow")


def test_without_jobs_nothing_happens(work):
    assert list(run_jobs(work, [], workers=2)) == []


def test_signals_are_noted_in_the_block_and_do_what_they_did_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with stop_signals() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGTERM)
        assert stopped()
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with stop_signals() as stopped:
            signal.raise_signal(signal.SIGTERM)
            assert not stopped()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_of_the_main_thread_signals_are_left_alone():
    heard = []

    def elsewhere():
        with stop_signals() as stopped:
            heard.append(stopped())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert heard == [False]


def test_the_status_of_a_cancelled_run_is_that_of_a_shell():
    assert pool.CANCELLED == 128 + signal.SIGINT
