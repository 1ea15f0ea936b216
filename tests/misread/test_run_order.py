"""A cell run out of order says which to run first."""

import sys

from IPython.core.interactiveshell import InteractiveShell

from misread import run_order


def test_an_exercise_that_is_missing_is_named_with_its_cell():
    assert "`def shift_right`" in run_order.advice("shift_right", ["shift_right"])


def test_anything_else_sends_to_the_top():
    advice = run_order.advice("task", ["shift_right"])
    assert "task" in advice
    assert "top" in advice


def test_a_name_that_is_near_is_asked_about_first():
    assert run_order.advice("maks", [], "mask").startswith("Did you mean mask? If not, maks is made in a cell above")


def test_a_mistyped_name_in_a_notebook_is_told_from_a_cell_that_was_not_run(monkeypatch, capsys):
    shell = InteractiveShell()
    monkeypatch.setattr(run_order, "get_ipython", lambda: shell)
    run_order.watch([])
    shell.run_cell("weights = 1\nweigths + 1")
    assert run_order.advice("weigths", [], "weights") in capsys.readouterr().out


def test_a_name_error_in_a_notebook_carries_the_advice(monkeypatch, capsys):
    shell = InteractiveShell()
    monkeypatch.setattr(run_order, "get_ipython", lambda: shell)
    run_order.watch(["shift_right"])
    result = shell.run_cell("shift_right(1, 2)")
    assert isinstance(result.error_in_exec, NameError)
    assert run_order.advice("shift_right", ["shift_right"]) in capsys.readouterr().out


def test_outside_a_notebook_nothing_happens(monkeypatch):
    monkeypatch.setattr(run_order, "get_ipython", lambda: None)
    assert run_order.watch(["shift_right"]) is None


def test_the_shell_is_that_of_the_notebook_and_nothing_outside_of_one(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert run_order.get_ipython() is shell
    monkeypatch.delitem(sys.modules, "IPython")
    assert run_order.get_ipython() is None
