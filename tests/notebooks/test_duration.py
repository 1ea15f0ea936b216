import duration
import pytest
from duration import at_most


def busy():
    return sum(range(200_000))


def test_what_takes_too_long_fails_and_says_how_long():
    with pytest.raises(AssertionError, match=r"took 0\.\d+ CPU seconds, 0\.000 are allowed"), at_most(0.0001):
        busy()


def test_a_slow_machine_has_longer(monkeypatch):
    monkeypatch.setattr(duration, "YARDSTICK", 1e-6)
    with at_most(0.0001):
        busy()


def test_a_fast_machine_has_no_less(monkeypatch):
    monkeypatch.setattr(duration, "YARDSTICK", 1e6)
    with at_most(1.0):
        busy()
