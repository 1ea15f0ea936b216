import time

import duration
import pytest
from duration import at_most


def busy():
    return sum(range(200_000))


def test_what_takes_too_long_each_time_fails_and_says_how_long():
    with pytest.raises(AssertionError, match=r"took (0\.\d+ \(0\.000 allowed then\)(, )?){3} CPU seconds"):
        at_most(0.0001, busy)


def test_what_a_neighbour_slowed_down_twice_is_measured_a_third_time(monkeypatch):
    clock = iter([0, 0, 0, 5, 0, 0] * 2 + [0, 0, 0, 0.5, 0, 0])  # yardstick, work and yardstick, thrice
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    at_most(1.0, lambda: None)
    assert next(clock, None) is None


def test_what_fits_is_done_once():
    done = []
    at_most(1.0, lambda: done.append(busy()))
    assert len(done) == 1


def test_a_slow_machine_has_longer(monkeypatch):
    monkeypatch.setattr(duration, "YARDSTICK", 1e-6)
    at_most(0.0001, busy)


def test_a_fast_machine_has_no_less(monkeypatch):
    monkeypatch.setattr(duration, "YARDSTICK", 1e6)
    at_most(1.0, busy)
