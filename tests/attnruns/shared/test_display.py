"""The line that one sees: steps of all jobs, how many are finished, which are running."""

import pytest

from attnruns.shared.display import Display
from attnruns.shared.pool import Event
from attnruns.shared.runner import Job

SHORT, LONG = Job("short", 0, 10), Job("long", 1, 30)


@pytest.fixture
def display():
    with Display("tiny", [SHORT, LONG]) as shown:
        yield shown


def state(display) -> tuple:
    return display.bar.n, display.bar.total, display.bar.postfix


def test_steps_of_all_jobs_are_added(display):
    for event in (Event("started", SHORT), Event("started", LONG), Event("steps", SHORT, 4), Event("steps", LONG, 9)):
        display.show(event)
    assert state(display) == (13, 40, "0 of 2 done, now short 0 + long 1")
    display.show(Event("steps", SHORT, 6))
    assert state(display)[0] == 15


def test_behind_each_job_stands_what_it_said_last_of_itself(display):
    for event in (
        Event("started", SHORT), Event("started", LONG),
        Event("steps", SHORT, 4, "loss 2.500, 900 tokens/s"), Event("tick"),
    ):  # fmt: skip
        display.show(event)
    assert state(display)[2] == "0 of 2 done, now short 0 (loss 2.500, 900 tokens/s) + long 1"
    display.show(Event("steps", LONG, 1, "loss 3.000"))
    display.show(Event("steps", SHORT, 5, "loss 2.400, 910 tokens/s"))
    assert state(display)[2] == "0 of 2 done, now short 0 (loss 2.400, 910 tokens/s) + long 1 (loss 3.000)"
    display.show(Event("finished", SHORT, {}))
    assert state(display)[2] == "1 of 2 done, now long 1 (loss 3.000)"


def test_a_finished_job_counts_with_all_its_steps_whatever_it_told(display):
    display.show(Event("started", SHORT))
    display.show(Event("finished", SHORT, {}))
    assert state(display) == (10, 40, "1 of 2 done")
    display.show(Event("started", LONG))
    display.show(Event("steps", LONG, 29))
    display.show(Event("tick"))
    assert state(display) == (39, 40, "1 of 2 done, now long 1")
    display.show(Event("finished", LONG, {}))
    assert state(display) == (40, 40, "2 of 2 done")


def test_a_job_that_trains_more_often_than_known_does_not_take_the_steps_of_others(display):
    display.show(Event("started", SHORT))
    display.show(Event("steps", SHORT, 25))
    assert state(display)[0] == 10


def test_several_trainings_of_a_job_are_counted():
    with Display("tiny", [SHORT], trainings=3) as display:
        display.show(Event("started", SHORT))
        display.show(Event("steps", SHORT, 25))
        assert state(display)[:2] == (25, 30)


def test_steps_taken_before_an_interruption_do_not_shorten_the_time_left(display):
    display.show(Event("started", LONG))
    display.show(Event("steps", LONG, 20))
    display.bar.start_t -= 100  # what follows took 100 seconds
    display.show(Event("steps", LONG, 24))
    shown = display.bar.format_dict
    assert (shown["n"], shown["initial"]) == (24, 20)
    assert ", 01:40 gone, 06:40 left" in str(display.bar)  # 16 of 40 steps are missing: 4 times what 4 steps took


def test_the_line_goes_to_stderr_with_the_time_left(capsys):
    with Display("tiny", [SHORT]) as display:
        display.show(Event("started", SHORT))
        display.show(Event("finished", SHORT, {}))
    said = capsys.readouterr()
    assert said.out == ""
    assert "10 of 10 steps" in said.err
    assert " left" in said.err
    assert "1 of 1 done" in said.err
