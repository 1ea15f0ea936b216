"""Calling a student's function: on copies, in time, with its errors kept."""

import signal
import sys
import threading
import time

import pytest
import torch

from misread import sandbox
from misread.sandbox import OUTPUT, Capped, TimeIsUp, guarded, run, within


def spin():
    while True:
        pass


def test_the_arguments_are_copies():
    given = torch.zeros(2)
    outcome = run(lambda x: x.add_(1), (given,))
    assert torch.equal(given, torch.zeros(2))
    assert torch.equal(outcome.value, torch.ones(2))
    assert outcome.changed == [0]


def test_output_is_kept_up_to_a_length():
    kept = Capped()
    for _ in range(10):
        assert kept.write("x" * OUTPUT) == OUTPUT
    assert len(kept.getvalue()) == OUTPUT


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_answer_that_prints_without_end_fills_no_memory_and_no_notebook(stream, monkeypatch, capsys):
    monkeypatch.setattr(sandbox, "SECONDS", 0.3)

    def chatty():
        while True:
            print("and so on" * 1000, file=getattr(sys, stream))

    outcome = run(chatty, ())
    assert outcome.failure.timed_out
    assert len(outcome.printed) == (OUTPUT if stream == "stdout" else 0)
    assert capsys.readouterr() == ("", "")


def test_a_failure_tells_the_last_line_outside_the_libraries():
    def deep(x):
        return torch.nn.functional.softmax(x, dim="no")

    failure = run(lambda x: deep(x), (torch.ones(2),)).failure
    assert failure.function == "deep"
    assert failure.code == 'return torch.nn.functional.softmax(x, dim="no")'
    assert not failure.unwritten


def mistyped(weights):
    return weigths  # noqa: F821


def unbound(weights):
    weight = weight + 1  # noqa: F821, F841
    return weights


@pytest.mark.parametrize("function, told", [(mistyped, "is not defined. Did you mean `weights`?"), (unbound, "value")])
def test_a_mistyped_name_is_told_with_the_one_that_is_near_and_a_variable_without_a_value_is_not(function, told):
    assert run(function, (torch.zeros(2),)).failure.text.endswith(told)


@pytest.mark.parametrize("swallow", [False, True])
def test_a_loop_without_end_is_stopped(swallow):
    def stubborn():
        while True:
            try:
                spin()
            except Exception:
                time.sleep(0)

    started = time.monotonic()
    with pytest.raises(TimeIsUp):
        within(0.2, stubborn if swallow else spin, ())
    assert time.monotonic() - started < 5


def test_sleeping_takes_no_time_of_the_processor_and_is_stopped_later():
    started = time.monotonic()
    with pytest.raises(TimeIsUp):
        within(0.1, time.sleep, (30,))
    assert 0.4 <= time.monotonic() - started < 10


def test_another_thread_has_its_time_limit_too():
    found = []

    def work():
        found.append(within(2, lambda x: x + 1, (1,)))
        try:
            within(0.2, spin, ())
        except TimeIsUp as error:
            found.append(type(error))
        found.append(guarded(lambda: 1 / 0, ())[1].text)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert found == [2, TimeIsUp, "division by zero"]


def test_an_alarm_set_before_still_rings():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert within(5, lambda: "done", ()) == "done"
        time.sleep(0.6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rang == [signal.SIGALRM]


def test_the_keyboard_still_interrupts():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded(interrupted, ())


def test_what_an_answer_sets_for_all_of_torch_is_set_back():
    def rude():
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)

    run(rude, ())
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_warnings_and_printing_stay_inside(capsys, recwarn):
    outcome = run(lambda x: print("hello") or torch.tensor(x), (torch.ones(2),))
    assert outcome.printed == "hello\n"
    assert capsys.readouterr().out == ""
    assert len(recwarn) == 0


def test_time_enough_for_a_slow_machine():
    assert sandbox.SECONDS >= 3
