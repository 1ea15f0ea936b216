"""Tables for other systems."""

import csv
import io

import pytest

from coursekit.grading.export import FORMATS, table
from coursekit.grading.records import Grade

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


READ = {"points": 2.0, "of": 3.0, "comment": "Why?"}


def texts(**changes) -> list[Grade]:
    """ann's answer was read, eve's was not, and bob's notebook cannot be graded."""
    ann = Grade(**(vars(GRADES[1]) | {"text": READ} | changes))
    eve = Grade(**(vars(GRADES[1]) | {"student": "eve", "text": READ | {"points": None}}))
    return [ann, GRADES[0], eve]


def test_points_of_the_text_question_are_added_and_a_missing_one_leaves_blanks():
    ann, bob, eve = rows("csv", texts())
    assert [(row["points"], row["text question"], row["total"]) for row in (ann, bob, eve)] == [
        ("2", "2", "4"),
        ("", "", ""),
        ("2", "", ""),
    ]
    assert ann["of"] == "3.5"


@pytest.mark.parametrize("kind", ["moodle", "canvas"])
def test_platforms_get_the_text_question_and_the_total_as_columns_of_their_own(kind):
    ann, _, eve = rows(kind, texts())
    assert [ann[name] for name in ("lab02", "lab02 text", "lab02 total")] == ["2", "2", "4"]
    assert [eve[name] for name in ("lab02", "lab02 text", "lab02 total")] == ["2", "", ""]
    assert "lab02 text" not in rows(kind)[0]


def test_lateness_costs_points_of_the_text_question_too():
    late = {"days": 1, "handed_in": "2026-10-20T12:00:00+00:00", "known": "by x", "due": "2026-10-19T23:59:00+00:00"}
    ann = rows("csv", texts(late=late | {"kept": 0.9}))[0]
    assert (ann["points"], ann["text question"], ann["total"]) == ("1.8", "1.8", "3.6")
    assert "90 % of the 4 points" in rows("moodle", texts(late=late | {"kept": 0.9}))[0]["Feedback"]


def test_the_cells_by_which_a_platform_knows_its_users_go_along():
    known = {"ann": {"Student": "Ann Lee", "Email address": "ann@x.org", "ID number": "007"}}
    ann, bob = csv.DictReader(io.StringIO(table(GRADES, "moodle", known)))
    assert (ann["Student"], ann["Email address"], ann["ID number"], ann["lab02"]) == (
        "Ann Lee",
        "ann@x.org",
        "007",
        "2",
    )
    assert (bob["Username"], bob["Email address"]) == ("bob", "")
    known = {"ann": {"Student": "Lee, Ann", "ID": "17", "Section": "A"}}
    ann, bob = csv.DictReader(io.StringIO(table(GRADES, "canvas", known)))
    assert (ann["Student"], ann["ID"], ann["SIS User ID"], ann["Section"]) == ("Lee, Ann", "17", "ann", "A")
    assert (bob["Student"], bob["ID"]) == ("bob", "")
