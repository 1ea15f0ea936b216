"""The fastest of several calls counts."""

import pytest

from attnruns.shared import timing


def test_the_fastest_call_counts_and_the_last_result_is_returned(monkeypatch):
    ticks = iter([0.0, 5.0, 5.0, 7.0, 7.0, 10.0])  # calls of 5, 2 and 3 seconds
    monkeypatch.setattr(timing.time, "process_time", lambda: next(ticks))
    results = iter("abc")
    assert timing.shortest_time(3, lambda: next(results)) == (2.0, "c")


def test_arguments_reach_the_work():
    seconds, out = timing.shortest_time(1, str.replace, "abc", "b", "x")
    assert (out, seconds >= 0) == ("axc", True)


def test_no_call_is_no_time():
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        timing.shortest_time(0, str.upper, "a")


def test_the_seconds_of_a_call_are_its_own(monkeypatch):
    ticks = iter([10.0, 12.5])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(ticks))
    assert timing.wall_seconds(str.upper, "a") == 2.5


def test_the_processors_seconds_of_a_call_are_its_own(monkeypatch):
    ticks = iter([10.0, 12.5])
    monkeypatch.setattr(timing.time, "process_time", lambda: next(ticks))
    assert timing.processor_seconds(str.upper, "a") == 2.5


def test_a_gpu_is_waited_for_before_each_look_at_the_clock(monkeypatch):
    done = []
    monkeypatch.setattr(timing.torch.cuda, "synchronize", lambda device: done.append(f"wait for {device}"))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: done.append("look") or 0.0)
    timing.wall_seconds(done.append, "work", device="cuda:1")
    assert done == ["wait for cuda:1", "look", "work", "wait for cuda:1", "look"]
    done.clear()
    monkeypatch.setattr(timing.torch.mps, "synchronize", lambda: done.append("wait"))
    timing.wall_seconds(done.append, "work", device="mps")
    assert done == ["wait", "look", "work", "wait", "look"]
    done.clear()
    timing.wall_seconds(done.append, "work")
    assert done == ["look", "work", "look"]
