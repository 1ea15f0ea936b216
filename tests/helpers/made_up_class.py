"""A class that hands in: right, wrong, crashing, looping, hostile, late, missing, handed in twice.

`python tests/helpers/made_up_class.py COURSE LAB … [--students 30]` lays down what was downloaded from Moodle, with
deadlines and a list of the students, into a folder that `coursekit term` made. With --read it reads the answers to
the text question as a teacher would, all but the last one; with --compare it holds grades-LAB.csv against what each
student must get. Some of these notebooks are hostile: grade them only with isolation.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode, from_dict, v4

from attnlabs import catalogue
from coursekit.grading.deadlines import TEMPLATE
from coursekit.grading.roster import FILE as ROSTER
from coursekit.grading.text_table import read_table
from coursekit.notebooks import grader, is_answer, is_graded, read
from coursekit.regions import MARK
from coursekit.textquestion import STUB, is_written, text_question

IN_TIME, LATE = (2026, 10, 18, 20, 0, 0), (2026, 10, 20, 12, 0, 0)
DEADLINE = "{lab},2026-10-19 23:59,UTC,15,10,50,"


@dataclass(frozen=True)
class Kind:
    """What a student does: `change(notebook, exercises, dice)` gives the exercises that earn nothing by it."""

    change: Callable[[NotebookNode, dict[str, float], random.Random], set[str]]
    when: tuple[int, ...] = IN_TIME
    kept: float = 1.0
    first: bool = False  # an empty notebook was handed in before this one


def _nothing(*_: object) -> set[str]:
    return set()


def _mistakes(count: int) -> Callable:
    def change(notebook: NotebookNode, exercises: dict[str, float], dice: random.Random) -> set[str]:
        chosen = dice.sample(sorted(exercises), count)
        for name in chosen:
            (known,) = dice.sample(catalogue()[_number(notebook)][name].mistakes, 1)
            _answers(notebook)[name].source = known.code
        return set(chosen)

    return change


def _writes(*sources: str) -> Callable:
    """Each of these sources in place of an answer; `NAME` stands for the function's name."""

    def change(notebook: NotebookNode, exercises: dict[str, float], dice: random.Random) -> set[str]:
        chosen = dice.sample(sorted(exercises), len(sources))
        for name, source in zip(chosen, sources, strict=True):
            _answers(notebook)[name].source = source.replace("NAME", name)
        return set(chosen)

    return change


def _own_cell(*sources: str) -> Callable:
    def change(notebook: NotebookNode, exercises: dict[str, float], dice: random.Random) -> set[str]:
        for source in sources:
            notebook.cells.insert(3, v4.new_code_cell(source))
        return set()

    return change


def _unwritten(notebook: NotebookNode, exercises: dict[str, float], _: random.Random) -> set[str]:
    for cell in _answers(notebook).values():
        cell.source = "raise NotImplementedError()"
    return set(exercises)


def _cheats(notebook: NotebookNode, exercises: dict[str, float], dice: random.Random) -> set[str]:
    """All checks are patched, graded cells say that all is right, and one answer is wrong."""
    for cell in filter(is_graded, notebook.cells):
        cell.source = 'print("✓ right")'
    patch = "import misread.judge as j\nj.judge = lambda *a, **k: j.Verdict(True, None, '✓', 'right')"
    _own_cell(patch, "class check:\n    def __getattr__(self, name): return print")(notebook, exercises, dice)
    return _writes("def NAME(*a, **k):\n    return 0")(notebook, exercises, dice)


EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)> [here](javascript:alert(3)) </article>"
SPIES = (
    "import pathlib\nfound = [p.read_bytes() for p in pathlib.Path('/').glob('*/solutions/**/*.ipynb')]\nassert found",
    "import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=2)",
    "import os\nwhile True: os.fork()",
)
KINDS: dict[str, Kind] = {
    "right": Kind(_nothing),
    "one-mistake": Kind(_mistakes(1)),
    "two-mistakes": Kind(_mistakes(2)),
    "crash": Kind(_writes("def NAME(*a, **k):\n    raise ValueError('no')", "def NAME(:")),
    "loop": Kind(_writes("def NAME(*a, **k):\n    import time\n    while True: time.sleep(1)")),
    "exit": Kind(_writes("import os\ndef NAME(*a, **k):\n    os._exit(0)")),
    "cheat": Kind(_cheats),
    "spy": Kind(_own_cell(*SPIES)),
    "loud": Kind(_own_cell("for _ in range(10**4): print('x' * 10**3)")),
    "empty": Kind(_unwritten),
    "late": Kind(_nothing, LATE, 0.9),
    "twice": Kind(_nothing, first=True),
}
OTHERS = ("broken", "missing")  # no notebook at all: an empty cell in the table


def hand_in(course: Path, lab: str, students: int, seed: int = 0) -> dict[str, float | None]:
    """Lay down a zip of submissions and the deadline; returns what each student must get (None: an empty cell).

    The first students are one of each kind; of the rest three in four are right or have a mistake."""
    source = read(course / "source" / lab / f"{lab}.ipynb")
    wanted: dict[str, float | None] = {}
    with zipfile.ZipFile(_made(course / "downloaded" / lab / "all.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(students):
            dice = random.Random(f"{seed} {lab} {number}")
            names = [*KINDS, *OTHERS]
            common = random.Random(number).choice(["right", "right", "one-mistake", "two-mistakes"])  # as in other labs
            kind = names[number] if number < len(names) else common
            wanted[f"{number:03d} {kind}"] = _student(packed, f"{number:03d} {kind}", kind, source, lab, dice)
    _list_students(course / ROSTER, wanted)
    path = course / "deadlines.csv"
    text = path.read_text(encoding="utf-8") if path.exists() else TEMPLATE
    if f"\n{lab}," not in text:
        path.write_text(text + DEADLINE.format(lab=lab) + "\n", encoding="utf-8")
    return wanted


def _list_students(path: Path, names: Iterable[str]) -> None:
    """As Moodle exports them."""
    rows = [f"{name.replace(' ', ',')},{name[:3]}@example.org" for name in names]
    path.write_text("\n".join(["First name,Last name,Email address", *rows]) + "\n", encoding="utf-8")


def text_answer(source: NotebookNode, student: str) -> tuple[str, float]:
    """What a student writes in answer to the text question, and the points that it must get."""
    question = text_question(source.cells)
    assert question is not None
    number, kind = student.split(" ", 1)
    points, example = question.levels[int(number) % len(question.levels)]
    hostile = {"spy": f"{example}\n\n{EVIL}", "loud": f"{example}\n\n" + "no " * 10**6, "empty": STUB}
    return hostile.get(kind, example), 0.0 if kind == "empty" else float(points)


def read_texts(course: Path, lab: str) -> dict[str, float]:
    """Fill the table of the text question, all rows but the last; returns the points that were given."""
    source = read(course / "source" / lab / f"{lab}.ipynb")
    table = read_table(course, lab)
    given = {row["student"]: text_answer(source, row["student"])[1] for row in table.rows[:-1]}
    table.fill({student: (points, "Read.") for student, points in given.items()})
    return given


def _student(
    packed: zipfile.ZipFile, student: str, kind: str, source: NotebookNode, lab: str, dice: random.Random
) -> float | None:
    name = f"{student}_4711_assignsubmission_file/{lab}.ipynb"
    if kind in OTHERS:
        if kind == "broken":
            packed.writestr(zipfile.ZipInfo(name, IN_TIME), "{")
        return None
    about, exercises = KINDS[kind], _points(source)
    if about.first:
        empty = solved(source)
        _unwritten(empty, exercises, dice)
        earlier = zipfile.ZipInfo(name.replace(lab + ".", "first."), (2026, 10, 17, 8, 0, 0))
        packed.writestr(earlier, nbformat.writes(empty))
    notebook = solved(source)
    lost = about.change(notebook, exercises, dice)
    next(cell for cell in notebook.cells if is_written(cell)).source = text_answer(source, student)[0]
    packed.writestr(zipfile.ZipInfo(name, about.when), nbformat.writes(notebook))
    return round(about.kept * sum(of for exercise, of in exercises.items() if exercise not in lost), 2)


def solved(source: NotebookNode) -> NotebookNode:
    """What somebody hands in who has solved all of it."""
    notebook = from_dict(source)
    for cell in notebook.cells:
        cell.source = "\n".join(line for line in cell.source.splitlines() if not MARK.match(line))
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _answers(notebook: NotebookNode) -> dict[str, NotebookNode]:
    answers = (cell for cell in notebook.cells if is_answer(cell) and not is_written(cell))
    return {str(grader(cell)["grade_id"]).split("-", 1)[1]: cell for cell in answers}


def _number(notebook: NotebookNode) -> str:
    return str(next(grader(cell)["grade_id"] for cell in notebook.cells if is_answer(cell))).split("-", 1)[0]


def _points(source: NotebookNode) -> dict[str, float]:
    graded = [grader(cell) for cell in source.cells if is_graded(cell)]
    return {str(cell["grade_id"]).split("-", 1)[1].removesuffix("-check"): float(cell["points"]) for cell in graded}


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def differences(course: Path, lab: str, wanted: dict[str, float | None]) -> list[str]:
    """Where the table of grades is not as it must be."""
    text = (course / f"grades-{lab}.csv").read_text(encoding="utf-8")
    found = {row["student"]: row["points"] for row in csv.DictReader(io.StringIO(text))}
    texts = {student: "" if points is None else f"{points:g}" for student, points in wanted.items()}
    return [f"{name}: {found.get(name)!r}, not {text!r}" for name, text in texts.items() if found.get(name) != text]


def text_differences(course: Path, lab: str) -> list[str]:
    """The same for the text question, once `read_texts` has given points to all but the last row of its table."""
    source = read(course / "source" / lab / f"{lab}.ipynb")
    last = read_table(course, lab).rows[-1]["student"]
    problems = []
    for row in csv.DictReader(io.StringIO((course / f"grades-{lab}.csv").read_text(encoding="utf-8"))):
        student, kind = row["student"], row["student"].split(" ", 1)[1]
        wanted = ["", ""]
        if kind not in OTHERS and student != last:
            text = round((KINDS[kind].kept) * text_answer(source, student)[1], 2)
            wanted = [f"{text:g}", f"{round(text + float(row['points']), 2):g}"]
        if [row["text question"], row["total"]] != wanted:
            problems.append(f"{student}: text question and total {row['text question']}, {row['total']}, not {wanted}")
    return problems


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("course", type=Path)
    options.add_argument("labs", nargs="+")
    options.add_argument("--students", type=int, default=30)
    options.add_argument("--read", action="store_true")
    options.add_argument("--compare", action="store_true")
    asked = options.parse_args()
    for one in asked.labs:
        must = hand_in(asked.course, one, asked.students)
        if asked.read:
            print(one, f"{len(read_texts(asked.course, one))} answers were read")
        if asked.compare:
            print(one, *(differences(asked.course, one, must) or [f"{len(must)} grades are right"]), sep="\n  ")
            if asked.read:
                print("", *(text_differences(asked.course, one) or ["so are the text questions"]), sep="\n  ")
