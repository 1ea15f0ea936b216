"""Tables for other systems."""

import csv
import io

import pytest

from coursekit.grading.course import Grade
from coursekit.grading.export import FORMATS, table

GRADES = [
    Grade("bob", "lab02", refused="there is no notebook"),
    Grade(
        "ann", "lab02", marks=[{"exercise": "f", "points": 2.0, "of": 2.0}, {"exercise": "g", "points": 0.0, "of": 1.5}]
    ),
]


def rows(kind: str, grades=GRADES) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table(grades, kind))))


def test_csv_names_every_exercise():
    ann, bob = rows("csv")
    assert ann == {
        "student": "ann",
        "lab": "lab02",
        "points": "2",
        "of": "3.5",
        "before lateness": "2",
        "days late": "",
        "handed in": "",
        "not graded because": "",
        "f": "2",
        "g": "0",
    }
    assert (bob["points"], bob["f"], bob["not graded because"]) == ("", "", "there is no notebook")


def test_moodle_has_its_columns():
    ann, bob = rows("moodle")
    assert ann == {"Username": "ann", "lab02": "2", "Feedback": ""}
    assert bob["lab02"] == ""


def test_canvas_has_its_columns():
    ann, bob = rows("canvas")
    assert list(ann) == ["Student", "ID", "SIS User ID", "Section", "lab02"]
    assert (ann["lab02"], bob["lab02"]) == ("2", "")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"])
def test_a_name_is_no_formula(kind, name):
    found = rows(kind, [Grade(name, "lab02", refused=name)])[0]
    assert all(cell[:1] not in tuple("=+-@\t\r") for cell in found.values())


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="one of csv, moodle, canvas, got 'xls'"):
        table(GRADES, "xls")


def test_the_order_of_students_does_not_depend_on_who_was_first():
    assert table(GRADES) == table(GRADES[::-1])


def test_lateness_stands_beside_the_points():
    late = {"days": 2, "handed_in": "2026-10-21T00:30:00+02:00", "known": "by x", "due": "2026-10-19T23:59:00+02:00"}
    grade = Grade("ann", "lab02", marks=[{"exercise": "f", "points": 3.0, "of": 3.0}], late=late | {"kept": 0.75})
    (found,) = rows("csv", [grade])
    assert (found["points"], found["before lateness"], found["days late"]) == ("2.25", "3", "2")
    assert found["handed in"] == late["handed_in"]
    (found,) = rows("moodle", [grade])
    assert found["lab02"] == "2.25"
    assert "2 started days late, so 75 % of the 3 points" in found["Feedback"]
    assert rows("canvas", [grade])[0]["lab02"] == "2.25"
