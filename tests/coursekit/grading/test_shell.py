"""What stands for Jupyter in the process that runs answers."""

import os

import pytest

from coursekit.grading.shell import NAMES, SHELL, Captured, display, get_ipython


def test_time_runs_its_line_where_it_stands():
    assert get_ipython().run_line_magic("time", "1 + 1") == 2

    def squared(number):
        return get_ipython().run_line_magic("time", "number * number")

    assert squared(3) == 9


def test_time_binds_names_at_the_outermost_level():
    names = {"get_ipython": get_ipython}
    exec("get_ipython().run_line_magic('time', 'x = 3')", names)
    assert names["x"] == 3


def test_time_raises_what_its_line_raises():
    with pytest.raises(ZeroDivisionError):
        SHELL.run_line_magic("time", "1 / 0")
    with pytest.raises(SyntaxError):
        SHELL.run_line_magic("time", "1 +")


def test_the_folder_is_known():
    assert SHELL.run_line_magic("pwd", "") == os.getcwd()


@pytest.mark.parametrize("lines", [SHELL.getoutput("ls"), SHELL.run_line_magic("sx", "ls")])
def test_a_command_has_one_empty_line(lines):
    assert (lines, lines.l, lines.s, lines.n, lines.p) == ([""], [""], "", "", [])
    assert lines.grep("x") == lines.fields(0) == lines[:] == [""]


def test_a_variable_is_a_text_and_all_are_a_dict(monkeypatch):
    monkeypatch.setenv("MINE", "/here")
    assert SHELL.run_line_magic("env", "MINE") == "/here"
    assert SHELL.run_line_magic("env", "NOBODYS") == SHELL.run_line_magic("env", "MINE=3") == ""
    assert SHELL.run_line_magic("env", "")["MINE"] == os.environ["MINE"] == "/here"


def test_what_was_not_timed_has_times_that_can_be_divided():
    timed = SHELL.run_line_magic("timeit", "-o f()")
    assert timed.average / timed.best == len(timed.timings) == timed.loops == 1


def test_nothing_is_kept_of_cells_and_what_they_showed():
    assert (NAMES["In"], NAMES["Out"], NAMES["_"]) == ([""], {}, "")


def test_all_else_does_nothing():
    assert SHELL.run_line_magic("matplotlib", "inline") is None
    assert SHELL.run_cell_magic("bash", "", "exit 1") is None
    assert SHELL.system("exit 1") is None
    assert display(3, display_id=True) is None


def test_what_was_captured_is_empty():
    captured = SHELL.captured()
    assert isinstance(captured, Captured)
    assert (captured.stdout, captured.stderr, captured.outputs) == ("", "", ())
    assert captured.show() is captured() is None
