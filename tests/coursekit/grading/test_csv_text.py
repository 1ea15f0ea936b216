"""Tables as text: what spreadsheets write can be read, and what cannot be says how to store it."""

import pytest

from coursekit import CourseError
from coursekit.grading.csv_text import csv_text, separator


def test_the_mark_that_spreadsheets_put_in_front_is_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes("student\nAnn Lée\n".encode("utf-8-sig"))
    assert csv_text(tmp_path / "a.csv") == "student\nAnn Lée\n"


def test_a_name_is_read_in_one_spelling_of_its_accents(tmp_path):
    (tmp_path / "a.csv").write_text("Le\u0301e", encoding="utf-8")
    assert csv_text(tmp_path / "a.csv") == "L\u00e9e"


def test_another_encoding_and_a_missing_file_are_said_with_the_files_name(tmp_path):
    (tmp_path / "a.csv").write_bytes("Lée".encode("latin-1"))
    with pytest.raises(CourseError, match=r"a\.csv cannot be read \(.*\); store it as CSV in UTF-8"):
        csv_text(tmp_path / "a.csv")
    with pytest.raises(CourseError, match=r"b\.csv cannot be read"):
        csv_text(tmp_path / "b.csv")


@pytest.mark.parametrize("line, sign", [("a;b", ";"), ("a\tb", "\t"), ("a,b", ","), ("a;b,c", ";"), ("a", ",")])
def test_the_sign_between_cells_is_found_in_a_line(line, sign):
    assert separator(line) == sign
