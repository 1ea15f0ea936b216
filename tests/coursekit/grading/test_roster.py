"""students.csv: who takes the course."""

import pytest

from coursekit import CourseError
from coursekit.grading.roster import FILE, attendance, bare, roster

LAB = "lab02_small"
MOODLE = """\
"First name","Last name","ID number",Institution,"Email address","Assignment: Lab 1 (Real)"
Ann,"Lee, Jr.",4711,,ann@x.org,12
Bob,Müller,,,bob@x.org,-
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (12)
    Points Possible,,,,,10
"Lee, Ann",17,s17,ann,A,9
"Müller, Bob",18,,,A,
"Student, Test",99,,,A,
"""


def course(tmp_path, text: str | bytes, *submitted: str, others=()):
    (tmp_path / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    for name in submitted:
        (tmp_path / "submitted" / name / LAB).mkdir(parents=True)
    for name in others:
        (tmp_path / "submitted" / name / "lab03_other").mkdir(parents=True)
    return tmp_path


def test_without_a_file_nobody_is_listed(tmp_path):
    assert roster(tmp_path) == []
    assert attendance(tmp_path, LAB).strangers == []


@pytest.mark.parametrize("text, names", [
    (MOODLE, ["Ann Lee, Jr.", "Bob Müller"]),
    (MOODLE.replace("Last name", "Surname"), ["Ann Lee, Jr.", "Bob Müller"]),
    (CANVAS, ["Lee, Ann", "Müller, Bob"]),
    ("student\nann\nbob\n", ["ann", "bob"]),
    ("\ufeffstudent;email\r\nann;a@x.org\r\n;\r\n\r\n", ["ann"]),
    ("Identifier\tFull name\tStatus\nParticipant 1\tAnn Lee\tNo submission\n", ["Ann Lee"]),
    ("username,email\nann,a@x.org\n", ["ann"]),
    ("", []),
])  # fmt: skip
def test_the_files_of_platforms_and_plain_ones_are_read(tmp_path, text, names):
    assert [person.name for person in roster(course(tmp_path, text))] == names


@pytest.mark.parametrize("text, words", [
    ("group,mark\nA,1\n", "needs a column “student”.*group, mark"),
    ("student,email\nann,\n,b@x.org\n", "a name in each row"),
    ("student\nBj\xf6rn\n".encode("latin-1"), "store it as CSV in UTF-8"),
])  # fmt: skip
def test_a_file_that_cannot_be_understood_says_what_is_wanted(tmp_path, text, words):
    with pytest.raises(CourseError, match=words):
        roster(course(tmp_path, text))


@pytest.mark.parametrize("text, submitted", [
    (MOODLE, "Ann Lee Jr"),
    (MOODLE, "Lee Jr. Ann"),
    (MOODLE, "ann@x.org"),
    (MOODLE, "4711"),
    (CANVAS, "leeann"),
    (CANVAS, "Ann Lee"),
    (CANVAS, "ANN"),
    (CANVAS, "s17"),
])  # fmt: skip
def test_a_submission_is_known_under_every_name_of_the_platform(tmp_path, text, submitted):
    found = attendance(course(tmp_path, text, submitted), LAB)
    assert [person.name[:3] for person in found.people.values()] in (["Ann"], ["Lee"])
    assert list(found.absent) in (["Bob Müller"], ["Müller, Bob"])
    assert found.strangers == []


def test_who_handed_in_nothing_or_another_lab_is_absent(tmp_path):
    text = "student\nann\nbob\nkim\n"
    found = attendance(course(tmp_path, text, "ann", "zoe", others=["KIM", "max"]), LAB)
    assert {name: person and person.name for name, person in found.absent.items()} == {
        "KIM": "kim",
        "max": None,
        "bob": "bob",
    }
    assert found.strangers == ["zoe"]


def test_two_people_of_one_name_are_doubtful_as_soon_as_one_notebook_came(tmp_path):
    text = "First name,Last name,Username\nMax,Roe,max1\nMax,Roe,max2\nAnn,Lee,ann\n"
    assert list(attendance(course(tmp_path, text), LAB).absent) == ["Max Roe (max1)", "Max Roe (max2)", "Ann Lee"]
    found = attendance(course(tmp_path, text, "Max Roe"), LAB)
    assert list(found.doubtful) == ["Max Roe (max1)", "Max Roe (max2)"]
    assert (list(found.absent), found.strangers) == (["Ann Lee"], [])
    found = attendance(course(tmp_path, text, "max2"), LAB)
    assert found.people["max2"].about == {"Username": "max2"}


def test_a_name_bare_of_signs():
    assert bare(" Lee, Ann-Marie ") == "leeannmarie"
    assert bare("ﬁnn") == "finn"
