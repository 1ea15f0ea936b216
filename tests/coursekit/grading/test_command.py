"""`coursekit grade` as a teacher uses it."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from small_class import LAB, a_mark, a_record, answered, course_with, solved, source, steps, writing

from coursekit import CourseError, cli
from coursekit.grading import command, isolation
from coursekit.grading.command import NOT_MARKED, NOTHING, STEPS, Order, grade_lab, mistakes, summary
from coursekit.grading.deadlines import COLUMNS
from coursekit.grading.records import NOT_RUN, Grade, grades_so_far, jobs_of
from coursekit.notebooks import write
from coursekit.project import Project

WRONG = answered(weight_sum="def weight_sum(weights, value):\n    return value")


GRADES = [
    Grade("ann", LAB, marks=[a_mark("f", "rolled"), a_mark("g", likeness="imports from attnbook")]),
    Grade("bob", LAB, marks=[a_mark("f", "rolled"), a_mark("g", "values")]),
    Grade("eve", LAB, marks=[a_mark("f", "error"), a_mark("g")]),
    Grade("kim", LAB, refused="there is no notebook"),
]


def test_the_summary_says_who_was_not_graded_and_what_to_look_at():
    assert summary(GRADES).splitlines() == [
        "3 of 4 graded",
        "not graded: kim: there is no notebook",
        "look at it yourself: ann, g: the answer imports from attnbook",
    ]


def test_a_student_has_one_line_however_many_answers_are_the_books():
    marks = [
        a_mark("f", likeness="imports"),
        a_mark("g"),
        a_mark("h", likeness="imports"),
        a_mark("k", likeness="is it"),
    ]
    assert summary([Grade("ann", LAB, marks=marks)]).splitlines()[1:] == [
        "look at it yourself: ann, f, h: the answer imports",
        "look at it yourself: ann, k: the answer is it",
    ]


def test_the_mistakes_of_a_class_come_in_the_labs_order_the_commonest_first():
    assert mistakes(GRADES) == [("f", "rolled", 2), ("f", "error", 1), ("g", "values", 1)]


def test_without_isolation_nothing_is_graded(tmp_path, monkeypatch):
    course_with(tmp_path, {"ann": solved()})
    monkeypatch.setattr(isolation, "lacking", lambda: "bubblewrap is missing")
    monkeypatch.setattr(command, "grade_all", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(CourseError, match="bubblewrap is missing"):
        list(grade_lab(Order(tmp_path, LAB)))


def test_a_deadline_that_is_wrong_is_said_before_anything_is_run(tmp_path, monkeypatch):
    course_with(tmp_path, {"ann": solved()})
    (tmp_path / "deadlines.csv").write_text(f"{','.join(COLUMNS)}\n{LAB},tomorrow,UTC,,,,\n")
    monkeypatch.setattr(command, "grade_all", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(CourseError, match="like 2026-10-19 23:59"):
        list(grade_lab(Order(tmp_path, LAB, isolated=False)))


def test_collect_and_check_say_what_came_in_and_run_nothing(tmp_path):
    broken = answered(weight_sum="def weight_sum(weights, value):\n    raise NotImplementedError()")
    course = course_with(tmp_path, {"ann": solved(), "bob": broken, "eve": b"broken"})
    (course / "submitted" / "kim").mkdir()
    put_download(course, "zoe.ipynb", solved())
    assert steps(course, "collect") == ["collect: 4 have handed in, 1 of them anew: zoe", "  nothing from kim"]
    told = steps(course, "check")
    assert told[:2] == ["check: 4 notebooks read, 2 remarks", "  bob: not written yet: weight_sum"]
    assert told[2].startswith("  eve: cannot be graded:")
    assert not (course / "graded").exists()


def test_a_broken_zip_is_named_and_stops_nobody(tmp_path):
    course = course_with(tmp_path, {})
    put_download(course, "zoe.ipynb", solved())
    (course / "downloaded" / LAB / "bad.zip").write_bytes(b"no zip")
    told = steps(course, "collect")
    assert told[0].startswith("collect: not taken: bad.zip (it cannot be read as a zip: ")
    assert told[1:] == ["collect: 1 have handed in, 1 of them anew: zoe"]


def test_what_was_not_taken_is_named_also_where_nothing_was(tmp_path):
    course = course_with(tmp_path, {})
    put_download(course, "zoe.pdf", solved())
    told = grade_lab(Order(course, LAB), "collect")
    assert next(told) == "collect: not taken: zoe.pdf (no notebook (.ipynb) and no zip)"
    with pytest.raises(CourseError, match="nobody has handed in"):
        next(told)


def put_download(course, name: str, notebook) -> None:
    path = course / "downloaded" / LAB / name
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def test_a_step_that_comes_too_early_leaves_blanks_and_says_what_is_to_be_done(tmp_path):
    course = course_with(tmp_path, {"ann": solved(), "bob": WRONG})
    a_record(course, "bob")
    assert steps(course, "export") == [f"export: grades-{LAB}.csv, 2 students, 2 without a grade"]
    rows = list(csv.DictReader((course / f"grades-{LAB}.csv").open(newline="")))
    assert [row["not graded because"] for row in rows] == [NOT_RUN, NOT_MARKED]


def test_mark_takes_off_what_lateness_costs_and_may_be_repeated(tmp_path):
    course = course_with(tmp_path, {"ann": solved(), "bob": solved()})
    for student, stamp in (("ann", "2026-10-19 21:59:00"), ("bob", "2026-10-20 22:30:00")):
        a_record(course, student)
        (course / "submitted" / student / LAB / "timestamp.txt").write_text(f"{stamp}.0 UTC")
    assert steps(course, "mark")[0] == "mark: no deadline in deadlines.csv"
    (course / "deadlines.csv").write_text(f"{','.join(COLUMNS)}\n{LAB},2026-10-19 23:59,Europe/Berlin,0,10,0,\n")
    for _ in range(2):
        assert steps(course, "mark")[0] == "mark: late, in started days: bob (2)"
    assert [grade.points for grade in grades_so_far(jobs_of(course, LAB))] == [1.0, 0.8]
    steps(course, "feedback")
    page = (course / "feedback" / "bob" / f"{LAB}.html").read_text(encoding="utf-8")
    assert "0.8 of 2 points" in page
    assert "2 started days late, so 80 % of the 1 points" in page


def test_who_handed_in_another_lab_only_has_an_empty_cell(tmp_path):
    course = course_with(tmp_path, {"ann": solved()})
    (course / "submitted" / "kim" / "lab03_other").mkdir(parents=True)
    a_record(course, "ann")
    steps(course, "mark", "export")
    rows = list(csv.DictReader((course / f"grades-{LAB}.csv").open(newline="")))
    assert [(row["student"], row["points"], row["not graded because"]) for row in rows] == [
        ("ann", "1", ""),
        ("kim", "", NOTHING),
    ]


@pytest.mark.slow
def test_a_class_gets_grades_pages_and_a_table(tmp_path, capsys, in_this_process):
    folder = course_with(tmp_path / "autumn", {"ann": solved(), "bob": WRONG, "eve": b"broken"})
    root = course_with(tmp_path / "book", {})
    (root / "solutions" / LAB).mkdir(parents=True)
    (root / "source" / LAB / f"{LAB}.ipynb").rename(root / "solutions" / LAB / f"{LAB}.ipynb")
    assert [lab.name for lab in Project(root).labs] == [LAB]
    asked = ["grade", str(folder), "lab02", "--workers", "1", "--without-isolation", "--book", "https://example.org/b/"]
    status = cli.main(["--root", str(root), *asked])
    shown = capsys.readouterr().out.splitlines()
    assert status == 0
    assert [line.split(":")[0] for line in shown if line.split(":")[0] in STEPS] == list(STEPS)
    assert shown.index("2 of 3 graded") < shown.index(next(line for line in shown if line.startswith("  weight_sum: ")))
    assert any(line.startswith("not graded: eve:") for line in shown)
    rows = list(csv.DictReader((folder / f"grades-{LAB}.csv").open(newline="")))
    assert [(row["student"], row["points"]) for row in rows] == [("ann", "6"), ("bob", "5"), ("eve", "")]
    page = (folder / "feedback" / "bob" / f"{LAB}.html").read_text(encoding="utf-8")
    assert "✗ weight_sum" in page
    assert '<a href="https://example.org/b/chapters/02_bahdanau.html#the-attention-layer-forward">Chapter 2' in page
    assert "could not be graded" in (folder / "feedback" / "eve" / f"{LAB}.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_half_a_character_in_code_output_error_and_text_stops_no_step(tmp_path, in_this_process):
    half = "\\ud800"  # as JSON and Python write it
    notebook = writing("Because of HALF.")
    answer = "def weight_sum(weights, value):\n    print('HALF')\n    raise ValueError('no HALF here')  # HALF"
    next(cell for cell in notebook.cells if cell.id == "weight_sum").source = answer
    term = course_with(tmp_path, {"ann": nbformat.writes(notebook).replace("HALF", half).encode()}, asks=True)
    assert steps(term, *STEPS, "likeness")[-2] == f"export: grades-{LAB}.csv, 1 students, 0 without a grade"
    for name in (f"feedback/ann/{LAB}.html", f"grades-{LAB}.csv", f"text-{LAB}.html", f"likeness-{LAB}.html"):
        assert (term / name).read_bytes().decode("utf-8")
    assert "stopped with ValueError" in (term / "feedback" / "ann" / f"{LAB}.html").read_text(encoding="utf-8")


def ends(pid: int, seconds: float = 120.0) -> bool:
    """Whether a process ends in time, or is only waited for by nobody."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="grading needs forks")
def test_an_interrupted_run_ends_at_once_with_one_sentence_and_keeps_what_is_graded(project, tmp_path):
    slow = answered(weight_sum="import time\ndef weight_sum(weights, value):\n    time.sleep(600)")
    term = course_with(tmp_path, {"ann": solved(), "bob": slow, "eve": slow})
    write(source(), project.root / "solutions" / LAB / f"{LAB}.ipynb")
    command = [sys.executable, "-m", "coursekit", "--root", str(project.root), "grade", str(term), "lab02"]
    process = subprocess.Popen([*command, "--without-isolation"], stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 240
    while not (grades := list(term.glob("graded/*/*.json"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it, to all that it has started
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert said == f"\nInterrupted. {cli.KEPT['grade']}\n"
    assert grades  # ann's; on a busy machine, that of one who was stopped for waiting may come first
    assert all(path.is_file() for path in grades)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path, in_this_process):
    course = course_with(tmp_path, {f"s{number}": solved() for number in range(3)})
    run = f"grade_lab(Order(Path({str(course)!r}), {LAB!r}, workers=1, isolated=False), 'run')"
    code = f"from pathlib import Path; from coursekit.grading.command import *\nif __name__ == '__main__': list({run})"
    (tmp_path / "run.py").write_text(code)
    process = subprocess.Popen([sys.executable, str(tmp_path / "run.py")])
    deadline = time.monotonic() + 240
    while not list(course.glob("graded/*/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    process.kill()
    process.wait()
    for child in children:
        assert ends(child), "a worker goes on without the grader"
    done = len(list(course.glob("graded/*/*.json")))
    assert 1 <= done < 3
    (said,) = grade_lab(Order(course, LAB, workers=1, isolated=False), "run")
    new = int(said.split()[1])
    assert said == f"run: {new} notebook{'s'[: new != 1]}, and {3 - new} that had not changed"
    assert len(in_this_process) == new <= 3 - done
    assert all(grade.earned == 6.0 for grade in grades_so_far(jobs_of(course, LAB)))


def test_an_empty_term_is_said_on_the_command_line(project, tmp_path, capsys):
    assert cli.main(["--root", str(project.root), "grade", str(tmp_path), "lab01"]) == 2
    assert "has no source of 'lab01_sums'" in capsys.readouterr().err


# --- who takes the course ---------------------------------------------------------------------------


def test_who_handed_in_nothing_has_a_row_with_the_reason_and_no_points(tmp_path):
    course = course_with(tmp_path, {"Ann Lee": solved(), "zoe": solved()})
    for student in ("Ann Lee", "zoe"):
        a_record(course, student)
    (course / "students.csv").write_text("First name,Last name,Email address\nAnn,Lee,a@x.org\nBob,Roe,b@x.org\n")
    assert steps(course, "collect") == [
        "collect: 2 have handed in",
        "  nothing from Bob Roe",
        "  not in students.csv: zoe",
    ]
    assert steps(course, "mark", "export")[-1] == f"export: grades-{LAB}.csv, 3 students, 1 without a grade"
    rows = {row["student"]: row for row in csv.DictReader((course / f"grades-{LAB}.csv").open(newline=""))}
    assert (rows["Bob Roe"]["points"], rows["Bob Roe"]["not graded because"]) == ("", NOTHING)
    list(grade_lab(Order(course, LAB, isolated=False, kind="moodle"), "export"))
    rows = {row["Email address"]: row for row in csv.DictReader((course / f"grades-{LAB}.csv").open(newline=""))}
    assert [(rows[mail][LAB], rows[mail]["Feedback"]) for mail in ("a@x.org", "b@x.org")] == [("1", ""), ("", NOTHING)]
    assert rows[""]["Username"] == "zoe"


def test_a_list_of_students_that_is_wrong_is_said_before_anything_is_run(tmp_path, monkeypatch):
    course = course_with(tmp_path, {"ann": solved()})
    (course / "students.csv").write_text("group\nA\n")
    monkeypatch.setattr(command, "grade_all", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(CourseError, match=r"students\.csv needs a column"):
        steps(course, "run")
