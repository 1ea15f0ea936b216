"""text-LAB.csv: rows are added, and what was filled in stays."""

import csv
import io

import pytest

from coursekit import CourseError
from coursekit.grading import text_table
from coursekit.grading.text_table import COLUMNS, Entry, read_table
from coursekit.grading.written import name_of

LAB = "lab02_small"
ANSWERS = {"ann": "Because.", "bob": "Why not?", "kim": ""}
STUDENTS = list(ANSWERS)


@pytest.fixture
def path(tmp_path):
    """The table after the first run."""
    read_table(tmp_path, LAB).add(LAB, ANSWERS)
    return tmp_path / f"text-{LAB}.csv"


def rows(path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def fill(path, encoding="utf-8-sig", between=",", **points) -> None:
    """What a teacher does in a spreadsheet: student -> (points, comment)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, delimiter=between)
    writer.writeheader()
    for row in rows(path):
        given = points.get(row["student"], ("", ""))
        writer.writerow(row | dict(zip(("points", "comment"), given, strict=True)))
    path.write_bytes(text.getvalue().encode(encoding))


def entries(path, of=3.0):
    return read_table(path.parent, LAB).entries(STUDENTS, of)


def test_an_empty_row_is_laid_down_for_each_student(path):
    found = rows(path)
    assert list(found[0]) == list(COLUMNS)
    assert {row["student"]: row["answer"] for row in found} == {s: name_of(LAB, s, a) for s, a in ANSWERS.items()}
    assert {row["points"] + row["comment"] for row in found} == {""}
    assert [row["answer"] for row in found] == sorted(row["answer"] for row in found)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert all(entry.points is None for entry in entries(path).values())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_what_a_spreadsheet_stores_is_read(path, encoding, between):
    fill(path, encoding, between, ann=("2,5", "schön;\nbut, why"), bob=("0", ""), kim=(" ", "empty"))
    found = entries(path)
    assert found["ann"] == Entry(name_of(LAB, "ann", "Because."), 2.5, "schön;\nbut, why")
    assert (found["bob"].points, found["kim"].points, found["kim"].comment) == (0.0, None, "empty")


def test_what_was_filled_in_stays_when_others_come(path):
    fill(path, between=";", ann=("2", "näher"))
    before = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    read_table(path.parent, LAB).add(LAB, ANSWERS | {"zoe": "Late."})
    after = path.read_text(encoding="utf-8-sig")
    assert after.startswith(before)
    assert after.removeprefix(before) == f"{name_of(LAB, 'zoe', 'Late.')};zoe;;\n"


def test_nothing_is_written_where_nothing_is_new(path):
    fill(path, "utf-8", ann=("2", ""))
    content = path.read_bytes()
    read_table(path.parent, LAB).add(LAB, ANSWERS)
    assert path.read_bytes() == content


def test_an_unread_answer_that_changed_gets_its_new_name_and_a_read_one_keeps_the_old(path):
    fill(path, ann=("2", ""))
    read_table(path.parent, LAB).add(LAB, ANSWERS | {"ann": "Hm.", "bob": "Hm."})
    found = entries(path)
    assert found["ann"].answer == name_of(LAB, "ann", "Because.")
    assert found["bob"].answer == name_of(LAB, "bob", "Hm.")


def test_columns_and_rows_of_the_teachers_own_stay(path):
    text = path.read_text(encoding="utf-8-sig").splitlines()
    text = [f"{text[0]},read by", *(f"{line},Eva" for line in text[1:]), "xxxxx,nobody,1,by hand,Eva"]
    path.write_text("\n".join(text), encoding="utf-8")
    table = read_table(path.parent, LAB)
    table.add(LAB, ANSWERS | {"zoe": "Late."})
    assert [row["read by"] for row in rows(path)] == ["Eva"] * 4 + [""]
    assert table.strangers(STUDENTS) == ["nobody"]


@pytest.mark.parametrize("name", ["=1+1", "-ann", "@bob", "+1"])
def test_a_name_is_no_formula_and_is_known_again(tmp_path, name):
    read_table(tmp_path, LAB).add(LAB, {name: "x"})
    table = read_table(tmp_path, LAB)
    assert table.rows[0]["student"] == f"'{name}"
    table.add(LAB, {name: "x"})
    assert len(table.rows) == 1
    assert list(table.entries([name], 3)) == [name]


@pytest.mark.parametrize("points", ["4", "-1", "two", "nan", "inf", "2 of 3"])
def test_points_that_are_none_are_refused_with_the_students_name(path, points):
    fill(path, ann=(points, ""))
    with pytest.raises(CourseError, match=f"text-{LAB}.csv, the row of ann: .*from 0 to 3"):
        entries(path)


@pytest.mark.parametrize("content, words", [
    ("", "the first line names the columns"),
    ("student,points\nann,2\n", "the first line names the columns"),
    ("answer,student,points,comment\nx,ann,2,a, b\n", "more cells than the first line"),
    ("answer,student,points,comment\nx,ann,2,\ny,ann,1,\n", "ann has two rows"),
    ("answer,student,points,comment\nx,ann,2,ä\n".encode("latin-1"), "store it as CSV in UTF-8"),
])  # fmt: skip
def test_a_file_that_cannot_be_understood_is_refused_and_stays(path, content, words):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    with pytest.raises(CourseError, match=words):
        read_table(path.parent, LAB).add(LAB, ANSWERS)
    assert path.read_bytes() == before


def test_a_file_that_is_open_elsewhere_is_said(path, monkeypatch):
    def refuse(*_):
        raise PermissionError("locked")

    monkeypatch.setattr(text_table, "write_bytes", refuse)
    with pytest.raises(CourseError, match="open in another program"):
        read_table(path.parent, LAB).add(LAB, {"zoe": "Late."})


def test_points_from_elsewhere_fill_only_what_is_empty(path):
    fill(path, ann=("2", ""), kim=("", "come and see me"))
    given = {"ann": (1.0, "no"), "bob": (0.5, "yes"), "kim": (3.0, "no"), "zoe": (1.0, "not here")}
    assert read_table(path.parent, LAB).fill(given) == 1
    found = entries(path)
    assert [(found[s].points, found[s].comment) for s in STUDENTS] == [(2, ""), (0.5, "yes"), (None, "come and see me")]
