"""Points for what students hand in, honest, broken and hostile."""

import inspect
import json
import os
import subprocess
import sys

import nbformat
import pytest
import torch
from magic_answers import RIGHT as MAGIC
from magic_answers import WRONG as NO_ANSWER
from nbformat import v4
from small_class import LAB, POINTS, RIGHT, answered, changed, course_with, parts, solved, source, with_cell

import attnlabs as checks
from coursekit.grading import isolation
from coursekit.grading.marking import in_few_words, like_the_books, names_in
from coursekit.grading.records import Grade, jobs_of
from coursekit.grading.remote import Remote, Session
from coursekit.grading.side_by_side import graded
from misread import sandbox
from misread.judge import Verdict

pytestmark = pytest.mark.slow

NO_SUM = "def weight_sum(weights, value):\n"
WRONG_SUM = NO_SUM + "    return value"
RATE = "def alignment_error_rate(sure, possible, predicted):\n"
RIGHT_RATE = """\
    n = len(predicted) + len(sure)
    return 1 - (len(predicted & sure) + len(predicted & possible)) / n if n else 0.0
"""
ALL, NO_WEIGHT, NO_ALIGNMENT = dict(POINTS), POINTS | {"weight_sum": 0}, POINTS | {"alignment_error_rate": 0}
NONE = dict.fromkeys(POINTS, 0)
IGNORED = "for i in range(3, 60):\n    try: os.write(i, b'x' * 500)\n    except OSError: pass\n"


def each_cell(change):
    def apply(notebook):
        for cell in notebook.cells:
            change(cell)

    return changed(apply)


def without(*names):
    def apply(notebook):
        notebook.cells = [cell for cell in notebook.cells if cell.id not in names]

    return changed(apply)


def doubled(name):
    def apply(notebook):
        cell = next(cell for cell in notebook.cells if cell.id == name)
        notebook.cells.append(v4.new_code_cell(cell.source, id="copy", metadata=cell.metadata))

    return changed(apply)


def printed(output):
    def apply(notebook):
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [v4.new_output("stream", text=output)]

    return changed(apply)


def unsolved():
    stubs = {name: text.split("\n")[0] + "\n    raise NotImplementedError()" for name, text in RIGHT.items()}
    return answered(**stubs)


def unsolved_with(text, at=2):
    notebook = unsolved()
    notebook.cells.insert(at, v4.new_code_cell(text, id="mine"))
    return notebook


def sum_does(text):
    return answered(weight_sum=f"import os, sys\n{NO_SUM}{text}")


# what is handed in, and the points it must get; None for what is graded, but nobody can say how
CODE = {
    "solved": (solved(), ALL),
    "unsolved": (unsolved(), NONE),
    "one wrong": (answered(weight_sum=WRONG_SUM), NO_WEIGHT),
    "unsolved, graded cells say pass": (unsolved_with("pass"), NONE),
    "unsolved with ticks stored": (unsolved_with("print('✓ ' * 9)"), NONE),
    "the lab's name rebound": (unsolved_with("check = type('C', (), {'__getattr__': lambda s, n: print})()"), NONE),
    "the judge patched": (unsolved_with("from misread import judge, lab\njudge.judge = lambda *a: True"), NONE),
    "the exercise patched": (
        unsolved_with(
            "import attnlabs as checks\nfor e in checks.checks_of('lab02').exercises().values():\n    e.cases = list"
        ),
        NONE,
    ),
    "the clock patched": (with_cell("import time\ntime.monotonic = time.process_time = lambda: 0.0"), ALL),
    "the wire patched": (
        with_cell("from coursekit.grading import wire\nwire.to_grader = lambda m: b'{}'", at=5),
        None,  # which is graded, with no points: what comes back says nothing
    ),
    "compare patched": (unsolved_with("import torch\ntorch.equal = torch.allclose = lambda *a, **k: True"), NONE),
    "an equal for everything": (
        sum_does("    class E:\n        def __eq__(self, other): return True\n    return E()"),
        NO_WEIGHT,
    ),
    "a magic line": (with_cell("%matplotlib inline\n!rm -rf ~\n%load_ext autoreload"), ALL),
    "a magic cell": (with_cell("%%bash\nrm -rf ~"), ALL),
    "stderr and warnings": (sum_does("    print('!', file=sys.stderr)\n    return weights @ value"), ALL),
    "prints 50 MB in a hundred calls": (sum_does("    print('x' * 500_000)\n    return weights @ value"), ALL),
    "prints 50 MB in a cell": (with_cell("print('x' * 50_000_000)"), ALL),
    "a syntax error": (answered(weight_sum="def weight_sum(:"), NO_WEIGHT),
    "a syntax error of one's own": (with_cell("1 +"), ALL),
    "an error of one's own": (with_cell("raise SystemExit(3)"), ALL),
    "a zero byte": (answered(weight_sum="weight_sum = '\0'"), NO_WEIGHT),
    "a surrogate": (with_cell("x = '\\ud800'\nprint(x)"), ALL),
    "nested brackets": (answered(weight_sum="(" * 3000), NO_WEIGHT),
    "recursion": (sum_does("    return weight_sum(weights, value)"), NO_WEIGHT),
    "recursion of one's own": (with_cell("def f(): return f()\nf()"), ALL),
    "os._exit in an answer": (sum_does("    os._exit(0)"), NO_WEIGHT),
    "sys.exit in an answer": (sum_does("    sys.exit()"), NO_WEIGHT),
    "os._exit at once": (with_cell("import os\nos._exit(0)"), NONE),
    "memory": (sum_does("    return bytearray(2**34)"), NO_WEIGHT),
    "a fork bomb": (with_cell("import os\nwhile True: os.fork()"), ALL),
    "a bomb of threads": (
        with_cell("import threading\nwhile True: threading.Thread(target=threading.Event().wait, daemon=True).start()"),
        None,  # its own memory is full then: what is left of it may or may not run
    ),
    "threads that go on": (
        with_cell(
            "import threading, time\nthreading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)]).start()"
        ),
        ALL,
    ),
    "files deleted": (with_cell("import shutil\nshutil.rmtree('/course', ignore_errors=True)"), ALL),
    "the network": (with_cell("import socket\nsocket.create_connection(('1.1.1.1', 80), 2)"), ALL),
    "solutions read": (
        answered(weight_sum="exec(open('/course/solutions/lab02_bahdanau/lab02_bahdanau.ipynb').read())"),
        NO_WEIGHT,
    ),
    "the sockets written to": (with_cell(f"import os\n{IGNORED}"), None),
    "the sockets closed": (with_cell("import os\nos.closerange(3, 99)"), NONE),
    "arguments changed": (sum_does("    value.zero_()\n    return weights @ value"), NO_WEIGHT),
    "right by a random number": (sum_does("    import random\n    return value * random.random()"), NO_WEIGHT),
    "remembers calls": (
        answered(alignment_error_rate=f"seen = []\n{RATE}    seen.append(1)\n    return 0.0 if len(seen) > 3 else 1.0"),
        NO_ALIGNMENT,
    ),
    "another way to the same": (answered(alignment_error_rate=RATE + RIGHT_RATE), ALL),
    "later cells redefine": (with_cell("def weight_sum(weights, value): return 1", at=99), ALL),
}
# no code runs here that "solved", "unsolved" and "one wrong" do not run
FILES = {
    "graded cells deleted": (without(*(f"{name}-check" for name in POINTS)), ALL),
    "one answer deleted": (without("weight_sum"), NO_WEIGHT),
    "given cells deleted": (without("setting", "title", "closing"), ALL),
    "metadata gone": (each_cell(lambda cell: cell.update(metadata={})), ALL),
    "ids gone": (each_cell(lambda cell: cell.update(id=f"x{id(cell)}")), ALL),
    "a graded cell twice": (doubled("weight_sum-check"), ALL),
    "an answer twice": (doubled("weight_sum"), ALL),
    "upside down": (changed(lambda notebook: notebook.cells.reverse()), ALL),
    "no cells": (changed(lambda notebook: notebook.update(cells=[])), NONE),
    "graded cells say pass": (each_cell(lambda c: c.update(source="pass") if c.id.endswith("check") else 0), ALL),
    "tagged to be skipped": (each_cell(lambda c: c.metadata.update(tags=["skip-execution"])), ALL),
    "50 MB of stored output": (printed("x" * 12_000_000), ALL),
    "script in stored output": (printed("<script>alert(1)</script>"), ALL),
    "utf-16": (nbformat.writes(solved()).encode("utf-16"), ALL),
    "a byte order mark": (nbformat.writes(solved()).encode("utf-8-sig"), ALL),
    "broken json": (nbformat.writes(solved()).encode()[:-99], "is no notebook"),
    "empty": (b"", "is no notebook"),
    "a word document": (b"PK\x03\x04" + bytes(range(256)), "is no notebook"),
    "deeply nested": (b"[" * 100_000, "is no notebook"),
    "cells of an old format": (
        json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}).encode(),
        NONE,
    ),
}


def grade_of(folder, notebook, warm, hidden=False) -> Grade:
    """Judged with the numbers that students see, unless `hidden` ones are wanted too, which take as long again."""
    course_with(folder, {"ann": notebook}, hidden=hidden)
    (job,) = jobs_of(folder, LAB)
    return graded(job, warm)


def points(grade: Grade) -> dict[str, float]:
    return {mark["exercise"]: mark["points"] for mark in grade.marks}


def assert_graded(found: Grade, wanted: dict[str, float] | str | None) -> None:
    if isinstance(wanted, str):
        assert wanted in found.refused
        assert found.points is None
    elif wanted is None:
        assert set(points(found)) == set(POINTS)
    else:
        assert points(found) == wanted, [mark["message"] for mark in found.marks]
    assert len(json.dumps(found.marks)) < 10**6


def calls_as_ever(warm) -> bool:
    """Whether the next submission's cells run in a process of its own, and its function gives what it should."""
    session = Session(warm.submission, [("setting", "import torch"), ("weight_sum", RIGHT["weight_sum"])])
    given = torch.ones(1, 2, 3), torch.ones(1, 3, 1)
    found = Remote(session, "weight_sum")(*given)
    session.close()
    return session.errors == {} and torch.equal(found, torch.full((1, 2, 1), 3.0))


@pytest.mark.parametrize("notebook, wanted", CODE.values(), ids=list(CODE))
def test_code_that_is_handed_in_gets_its_points_and_the_next_one_runs(notebook, wanted, tmp_path, isolated):
    assert_graded(grade_of(tmp_path, notebook, isolated), wanted)
    assert calls_as_ever(isolated)


def test_a_loop_without_end_is_stopped_and_the_next_one_runs(tmp_path, isolated, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 1.0)
    assert_graded(grade_of(tmp_path, sum_does("    while True: pass"), isolated), NO_WEIGHT)
    assert calls_as_ever(isolated)


def test_after_all_of_these_a_right_notebook_gets_all_points(tmp_path, isolated):
    assert_graded(grade_of(tmp_path, solved(), isolated, hidden=True), ALL)


def test_who_is_right_on_what_students_see_only_gets_no_points_for_it(tmp_path, isolated):
    """By the sizes of the numbers, which a student may print; an answer has as many calls as it likes."""
    seen = {tuple(args[0].shape) for args in checks.checks_of("lab02").exercise("weight_sum").inputs(0)}
    sees = f"    return weights @ value if tuple(weights.shape) in {seen} or weights.is_meta else value"
    assert_graded(grade_of(tmp_path, sum_does(sees), isolated), ALL)
    assert_graded(grade_of(tmp_path, sum_does(sees), isolated, hidden=True), NO_WEIGHT)


@pytest.mark.parametrize("notebook, wanted", FILES.values(), ids=list(FILES))
def test_an_odd_file_gets_the_points_of_its_code(notebook, wanted, tmp_path, isolated):
    assert_graded(grade_of(tmp_path, notebook, isolated), wanted)


@pytest.fixture(scope="module")
def process(request):
    """The process that answers are really graded in, or on another machine one that is not isolated."""
    return request.getfixturevalue("warm" if isolation.lacking() else "isolated")


@pytest.mark.parametrize("answer", MAGIC.values(), ids=list(MAGIC))
def test_a_right_answer_with_something_of_jupyters_gets_its_points(answer, tmp_path, process):
    found = grade_of(tmp_path, answered(weight_sum=answer), process)
    assert_graded(found, ALL)
    assert found.errors == {}


@pytest.mark.parametrize("answer", NO_ANSWER.values(), ids=list(NO_ANSWER))
def test_what_defines_nothing_in_jupyter_gets_no_points(answer, tmp_path, process):
    assert_graded(grade_of(tmp_path, answered(weight_sum=answer), process), NO_WEIGHT)


IN_IPYTHON = """
import asyncio, json, sys
import torch
from IPython.core.interactiveshell import InteractiveShell
import attnlabs as checks

exercise = checks.checks_of("lab02").exercise("weight_sum")

def passes(answer):
    shell.reset()
    cells = "import torch", answer, "from attnlabs.lab02 import check", "check.weight_sum(weight_sum)"
    return all([shell.run_cell(cell, silent=True).success for cell in cells][1::2])

InteractiveShell.history_manager_class = None
shell = InteractiveShell.instance()
answers = json.load(sys.stdin)
json.dump({name: passes(answer) for name, answer in answers.items()}, open(sys.argv[1], "w"))
"""


def test_the_labs_own_check_in_ipython_says_the_same(tmp_path):
    settings = {**os.environ, "IPYTHONDIR": str(tmp_path / "settings")}
    command, answers = [sys.executable, "-c", IN_IPYTHON, str(tmp_path / "said")], json.dumps(MAGIC | NO_ANSWER)
    subprocess.run(command, input=answers, text=True, env=settings, stdout=subprocess.DEVNULL, check=True)
    said = json.loads((tmp_path / "said").read_text())
    assert said == dict.fromkeys(MAGIC, True) | dict.fromkeys(NO_ANSWER, False)


def test_a_message_is_the_checks(tmp_path, warm):
    found = grade_of(tmp_path, answered(weight_sum=WRONG_SUM), warm)
    _, wrong, _ = found.marks
    assert wrong["message"].startswith("✗ weight_sum")
    assert wrong["mistake"]
    assert [mark["mistake"] for mark in found.marks if mark["points"]] == ["", ""]


@pytest.mark.parametrize(
    "verdict, said",
    [
        (Verdict(False, "softmax over the queries", ""), "softmax over the queries"),
        (Verdict(False, None, "", "property", ("sums to 1",)), "not so: sums to 1"),
        (Verdict(False, None, "", "known in part", ("not causal", "6", "8")), "not causal, in part"),
        (Verdict(False, None, "", "values", ("3",)), "values"),
    ],
    ids=["known", "property", "in part", "values"],
)
def test_what_is_wrong_is_kept_in_words_that_can_be_counted(verdict, said):
    assert in_few_words(verdict) == said


def test_later_exercises_are_judged_with_right_helpers(tmp_path, warm):
    rate = RATE + "    weight_sum(torch.ones(1, 1, 1), torch.ones(1, 1, 1)).shape\n" + RIGHT_RATE
    wrong = NO_SUM + "    raise ValueError('mine')"
    found = grade_of(tmp_path, answered(weight_sum=wrong, alignment_error_rate=rate), warm)
    assert points(found) == NO_WEIGHT
    assert [list(mark["helpers"]) for mark in found.marks] == [[], [], ["weight_sum"]]


def test_errors_of_cells_are_reported(tmp_path, warm):
    found = grade_of(tmp_path, with_cell("1 / 0"), warm)
    assert found.errors == {"own cell 1": "ZeroDivisionError: division by zero"}


def test_the_books_own_answers_are_noticed(tmp_path, warm):
    imported = "from attnlabs.lab02.softmax import masked_softmax"
    found = grade_of(tmp_path, answered(masked_softmax=imported), warm)
    assert [mark["likeness"] for mark in found.marks] == ["imports from attnlabs", "", ""]


def test_likeness_is_of_the_code_and_not_of_its_layout():
    exercise = checks.checks_of("lab02").exercise("attention_backward")
    text = inspect.getsource(exercise.reference).replace("  # (B, Tk, Dv)", "")
    text = text.replace(exercise.reference.__doc__, "Mine.").replace('Mine."""\n', 'Mine."""\n\n')
    assert "word for word" in like_the_books(exercise, text)
    assert like_the_books(exercise, text.replace("mean", "average")) == ""
    assert "word for word" in like_the_books(exercise, f"%%capture\n{text}")
    assert like_the_books(exercise, "!ls\nfrom attnlabs.lab02.softmax import masked_softmax")
    assert like_the_books(exercise, "def f(:") == ""


@pytest.mark.parametrize("lab, name", [("lab14", "mask_visited"), ("lab03", "padding_mask"), ("lab07", "window_mask")])
def test_an_answer_that_hints_dictate_is_not_taken_for_a_copy(lab, name):
    exercise = checks.checks_of(lab).exercise(name)
    assert like_the_books(exercise, inspect.getsource(exercise.reference)) == ""


def test_a_number_too_long_to_be_written_is_not_the_books():
    exercise = checks.checks_of("lab02").exercise("attention_backward")
    assert like_the_books(exercise, f"def attention_backward():\n    x = 0x{'f' * 20_000}") == ""


def test_names_of_what_is_no_python_are_none():
    assert names_in("a + b(c)") == {"a", "b", "c"}
    assert names_in("%%time\na(7\n % b)") == {"a", "b"}
    assert names_in("def f(:") == set()


def test_the_parts_are_the_sources():
    assert [part.exercise for part in parts()] == list(POINTS)
    assert len(source().cells) > len(POINTS)
