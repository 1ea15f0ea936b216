"""What runs beside a student's code, here without a process."""

import socket

import pytest
import torch

from coursekit.grading import wire
from coursekit.grading.answering import Answers, serve
from coursekit.magics import python_of
from misread.sandbox import OUTPUT


@pytest.fixture
def answers() -> Answers:
    return Answers()


def call(answers: Answers, name: str, *args, flows=(), **changes):
    given = {
        "name": name, "args": args, "flows": list(flows), "number": 1, "helpers": {}, "watched": False, "seconds": 2.0,
        "random": torch.default_generator.get_state(),
    }  # fmt: skip
    return answers.reply({"do": "call", "with": given | changes})


def run(answers: Answers, source: str, seconds: float = 2.0):
    return answers.reply({"do": "run", "with": {"source": source, "name": "cell", "seconds": seconds}})


def test_a_cell_says_what_it_printed_and_where_it_stopped(answers):
    found = run(answers, "print('a')\nx = 3\n1 / 0")
    assert found["printed"] == "a\n"
    assert (found["error"]["type"], found["error"]["line"], found["error"]["code"]) == ("ZeroDivisionError", 3, "1 / 0")
    assert answers.namespace["x"] == 3


def test_a_syntax_error_is_an_error(answers):
    assert run(answers, "def f(:")["error"]["type"] == "SyntaxError"


def test_a_cell_may_await_and_what_one_begins_a_later_one_awaits(answers):
    begun = (
        "import asyncio\nasync def slow(): return 3\nwaiting = asyncio.ensure_future(slow())\nawait asyncio.sleep(0)"
    )
    assert run(answers, begun)["error"] is None
    assert run(answers, "x = await waiting")["error"] is None
    assert answers.namespace["x"] == 3


def test_what_is_awaited_may_fail_and_has_a_clock(answers):
    failed = run(answers, "async def f(): 1 / 0\nawait f()")["error"]
    assert (failed["type"], failed["line"], failed["code"]) == ("ZeroDivisionError", 1, "async def f(): 1 / 0")
    endless = run(answers, "import asyncio\nawait asyncio.sleep(60)", seconds=0.25)["error"]
    assert endless["timed_out"]
    assert run(answers, "await asyncio.sleep(0)")["error"] is None


def test_jupyters_names_are_there_until_a_student_takes_them(answers):
    assert run(answers, "display(3)\nx = get_ipython().getoutput('ls')\ndef display(): return 7")["error"] is None
    assert run(answers, "y = display()")["error"] is None
    assert (answers.namespace["x"], answers.namespace["y"]) == ([""], 7)


def test_about_a_name(answers):
    run(answers, "def f(a, b=1, *c): pass\nx = 3")
    assert answers.reply({"do": "about", "with": {"name": "x"}}) == {"callable": False, "there": True, "type": "int"}
    assert not answers.reply({"do": "about", "with": {"name": "y"}})["there"]
    found = answers.reply({"do": "about", "with": {"name": "f"}})
    assert found["parameters"] == [["a", 1, False], ["b", 1, True], ["c", 2, False]]
    assert found["empty"]


def test_a_call_works_on_copies_and_sends_them_back(answers):
    run(answers, "def f(t):\n    t += 1\n    return t * 2")
    mine = torch.zeros(2)
    found = call(answers, "f", mine, flows=[False])
    assert mine.tolist() == [0.0, 0.0]
    assert wire.decode(found["result"], []).tolist() == [2.0, 2.0]
    assert wire.decode(found["after"], [])[0].tolist() == [1.0, 1.0]


def test_gradients_arrive(answers):
    run(answers, "def f(t): return t * 3")
    call(answers, "f", torch.ones(2), flows=[True])
    found = answers.reply({"do": "backward", "with": {"number": 1, "sent": [torch.ones(2)]}})
    assert wire.decode(found["arrived"], [])[0].tolist() == [3.0, 3.0]


def test_gradients_of_an_unknown_call_are_none(answers):
    found = answers.reply({"do": "backward", "with": {"number": 9, "sent": [torch.ones(2)]}})
    assert found == {"error": None, "arrived": {"list": []}}


def test_output_is_kept_up_to_a_length_as_the_notebooks_check_keeps_it(answers):
    found = run(answers, f"print('x' * {2 * OUTPUT})")
    assert found["printed"] == "x" * OUTPUT


def test_what_jupyter_keeps_of_earlier_cells_is_there_and_empty(answers):
    assert run(answers, "print(In, Out, [_, __, ___])") == {"printed": "[''] {} ['', '', '']\n", "error": None}
    assert run(answers, "_ = 3") == run(answers, "assert _ == 3")


def test_what_a_cell_printed_is_captured_as_nothing_and_can_be_shown_later(answers):
    run(answers, python_of("%%capture cap\nprint('hello')"))
    assert run(answers, "cap()\nprint([cap.stdout])") == {"printed": "['']\n", "error": None}


def test_helpers_take_the_place_of_what_a_cell_defined(answers):
    run(answers, "def g(): return 1\ndef f(): return g()")
    assert call(answers, "f", helpers={"g": lambda: 2})["result"] == 2


def test_it_serves_until_the_grader_is_gone(monkeypatch):
    ours, theirs = socket.socketpair()
    wire.send(ours, wire.to_answer({"do": "about", "with": {"name": "f"}}))
    ours.shutdown(socket.SHUT_WR)
    serve(theirs)
    assert wire.from_answer(wire.receive(ours))["callable"] is False
