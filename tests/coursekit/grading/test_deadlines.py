"""Deadlines, what lateness costs, and when something was handed in."""

import os
from datetime import UTC, datetime, timedelta, timezone

import pytest

from coursekit import CourseError
from coursekit.grading import deadlines
from coursekit.grading.deadlines import COLUMNS, FILE, TEMPLATE, Deadline, handed_in, lateness, sentence

LAB = "lab02_small"
DUE = datetime(2026, 10, 19, 23, 59, tzinfo=timezone(timedelta(hours=2)))
HEAD = ",".join(COLUMNS)


@pytest.fixture
def course(tmp_path):
    (tmp_path / "source" / LAB).mkdir(parents=True)
    return tmp_path


def written(course, *lines: str, head: str = HEAD):
    (course / FILE).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return deadlines.deadlines(course)


def test_a_line_is_a_deadline_and_a_student_may_have_a_later_one(course):
    found = written(course, "lab02,2026-10-19 23:59,+02:00,15,10,50,", f"{LAB},2026-10-26 23:59,+02:00,,,,ann")
    everybody = Deadline(DUE, timedelta(minutes=15), 10.0, 50.0)
    assert found == {(LAB, ""): everybody, (LAB, "ann"): Deadline(DUE + timedelta(days=7))}


@pytest.mark.parametrize("zone, hours", [("Europe/Berlin", 2), ("UTC", 0), ("+05:30", 5.5), ("-08:00", -8)])
def test_a_zone_has_a_name_or_a_distance(zone, hours, course):
    found = written(course, f"lab02,2026-10-19 23:59,{zone},,,,")[LAB, ""].due
    assert found.utcoffset() == timedelta(hours=hours)


def test_the_file_may_come_from_a_spreadsheet(course):
    text = '\ufeff"# a remark, with a comma"\n' + f"{HEAD}\nlab02,2026-10-19 23:59,UTC,15,10%,50 %,\n;;;\n"
    (course / FILE).write_text(text.replace(",", ";"), encoding="utf-8")
    assert deadlines.deadlines(course)[LAB, ""].floor == 50.0


def test_the_templates_file_holds_no_deadline_and_its_examples_are_right(course):
    (course / FILE).write_text(TEMPLATE)
    assert deadlines.deadlines(course) == {}
    examples = [line.removeprefix("#   ") for line in TEMPLATE.splitlines() if line.startswith("#   ")]
    assert sorted(student for _, student in written(course, *examples)) == ["", "ann"]


def test_a_name_is_found_in_both_spellings_of_its_accents(course):
    found = written(course, "lab02,2026-10-19 23:59,UTC,,,,Ju\u0308rgen")
    assert list(found) == [(LAB, "J\u00fcrgen")]


def test_no_file_is_no_deadline(course):
    assert deadlines.deadlines(course) == {}


@pytest.mark.parametrize("line, said", [
    ("lab02,19.10.2026,UTC,,,,", "line 2: due is '19.10.2026'; write day and time like 2026-10-19 23:59"),
    ("lab02,10/19/2026 23:59,UTC,,,,", "like 2026-10-19 23:59"),
    ("lab02,2026-10-19,UTC,,,,", "like 2026-10-19 23:59"),
    ("lab02,2026-13-19 23:59,UTC,,,,", "like 2026-10-19 23:59"),
    ("lab02,,UTC,,,,", "due is ''"),
    ("lab02,2026-10-19 23:59,Berlin,,,,", "zone is 'Berlin'; write it like Europe/Berlin, UTC or +02:00"),
    ("lab02,2026-10-19 23:59,,,,,", "zone is ''"),
    ("lab02,2026-10-19 23:59,../../etc/passwd,,,,", "zone is '../../etc/passwd'"),
    ("lab02,2026-10-19 23:59,+2,,,,", "zone is '+2'"),
    ("lab02,2026-10-19 23:59,UTC,a while,,,", "grace minutes is 'a while'; write a number like 10"),
    ("lab02,2026-10-19 23:59,UTC,,-5,,", "percent per day is '-5'; write a number up to 100 like 10"),
    ("lab02,2026-10-19 23:59,UTC,,,101,", "at least percent is '101'"),
    ("lab02,2026-10-19 23:59,UTC,,nan,,", "percent per day is 'nan'"),
    ("lab02,2026-10-19 23:59,UTC,inf,,,", "grace minutes is 'inf'"),
    ("lba02,2026-10-19 23:59,UTC,,,,", "lab is 'lba02'; it must be one that has a source"),
    ("lab02,2026-10-19 23:59,UTC,,,,Lee, Ann", "line 2: more cells than in the first line; quote a name"),
    ("lab02,2026-10-19 23:59,UTC\nlab02,2026-10-19 23:59,UTC", "line 3: there is a line for lab02"),
])  # fmt: skip
def test_a_line_that_is_wrong_is_named_and_a_right_one_shown(line, said, course):
    with pytest.raises(CourseError) as refused:
        written(course, line)
    assert said in str(refused.value)


@pytest.mark.parametrize("head", ["lab02,2026-10-19 23:59,UTC", "lab,due", "lab,due,zone,color"])
def test_the_columns_are_named_in_the_first_line(head, course):
    with pytest.raises(CourseError, match=f"line 1: the first line names the columns, like {HEAD}"):
        written(course, head=head)


def test_a_file_of_another_encoding_is_said(course):
    (course / FILE).write_bytes(HEAD.encode("utf-16"))
    with pytest.raises(CourseError, match="store it as CSV in UTF-8"):
        deadlines.deadlines(course)


@pytest.mark.parametrize("late, days", [
    ({"days": -1}, 0), ({"minutes": 0}, 0), ({"minutes": 15}, 0), ({"minutes": 16}, 1), ({"hours": 24}, 1),
    ({"hours": 24, "seconds": 1}, 2), ({"days": 9}, 9),
])  # fmt: skip
def test_started_days_are_counted_from_the_deadline_after_the_grace(late, days):
    deadline = Deadline(DUE, timedelta(minutes=15), 10, 50)
    assert deadline.days_late((DUE + timedelta(**late)).astimezone(UTC)) == days


@pytest.mark.parametrize("due, handed, days", [
    ("2026-10-24 23:59", "2026-10-25 23:30", 1),  # that day has 25 hours
    ("2026-10-24 23:59", "2026-10-25 23:59", 1),
    ("2026-10-24 23:59", "2026-10-26 00:00", 2),
    ("2026-10-19 23:59", "2026-10-26 23:59", 7),
    ("2026-03-28 23:59", "2026-03-29 23:59", 1),  # that day has 23 hours
    ("2026-03-28 23:59", "2026-03-30 00:30", 2),
])  # fmt: skip
def test_a_day_ends_at_the_hour_of_the_deadline_also_where_clocks_are_changed(due, handed, days):
    berlin = deadlines._zone("Europe/Berlin")
    due, handed = (datetime.fromisoformat(text).replace(tzinfo=berlin) for text in (due, handed))
    assert Deadline(due).days_late(handed.astimezone(UTC)) == days


@pytest.mark.parametrize("minutes, days", [(-1, 0), (10, 0), (20, 1), (60, 1), (61, 1)])
def test_an_hour_that_is_shown_twice_is_late_when_it_comes_again(minutes, days):
    due = datetime(2026, 10, 25, 2, 50, tzinfo=deadlines._zone("Europe/Berlin"))  # at 3:00 it is 2:00 again
    handed = due.astimezone(UTC) + timedelta(minutes=minutes)
    assert Deadline(due, timedelta(minutes=15)).days_late(handed) == days


@pytest.mark.parametrize("days, kept", [(0, 1.0), (1, 0.9), (5, 0.5), (6, 0.5), (99, 0.5)])
def test_each_day_costs_a_share_down_to_the_floor(days, kept):
    assert Deadline(DUE, percent=10, floor=50).kept(days) == pytest.approx(kept)
    assert Deadline(DUE, percent=30).kept(4) == 0.0


@pytest.mark.parametrize("text", [
    "2026-10-19 21:59:00.123456 UTC", "2026-10-19 21:59:00 UTC", "2026-10-19 23:59:00.5 Europe/Berlin",
    "2026-10-19 23:59:00 +02:00", "2026-10-19 21:59:00",
])  # fmt: skip
def test_the_time_comes_from_nbgrader(text, tmp_path):
    (tmp_path / "timestamp.txt").write_text(text)
    when, known = handed_in(tmp_path, tmp_path / "no.ipynb")
    assert when == DUE
    assert known == "by nbgrader's timestamp.txt"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-10-19", "2026-10-19 21:59:00 CEST", "\x00" * 9999, None])
def test_else_it_is_the_time_of_the_file(text, tmp_path):
    if text is not None:
        (tmp_path / "timestamp.txt").write_text(text)
    path = tmp_path / "lab.ipynb"
    path.write_text("{}")
    os.utime(path, (DUE.timestamp(), DUE.timestamp()))
    known = "by the time that the file bears"
    known += "" if text is None else ", since timestamp.txt cannot be understood"
    assert handed_in(tmp_path, path) == (DUE, known)


def test_what_is_stored_tells_a_student_all():
    late = lateness(Deadline(DUE, percent=10), DUE + timedelta(hours=25), "by x")
    assert late["kept"] == pytest.approx(0.8)
    assert sentence(late, 5.0) == (
        "Handed in at 2026-10-21 00:59 (UTC+0200) (by x); due at 2026-10-19 23:59 (UTC+0200): 2 started days late, so "
        "80 % of the 5 points that were earned are kept."
    )
    assert sentence(lateness(Deadline(DUE), DUE, "by x"), 5.0).endswith(": in time.")
    assert sentence(lateness(None, DUE.astimezone(UTC), "by x"), 5.0) == "Handed in at 2026-10-19 21:59 (UTC) (by x)."
    assert sentence(None, None) == ""
