"""A class's whole way through `coursekit grade`, with the commands of the guide alone."""

from pathlib import Path

import pytest
from made_up_class import KINDS, OTHERS, differences, hand_in, read_texts, text_differences

from coursekit import cli
from coursekit.grading import isolation

ROOT = Path(__file__).parents[2]
LAB = "lab02_bahdanau"


def coursekit(*arguments: str) -> None:
    assert cli.main(["--root", str(ROOT), *arguments]) == 0


@pytest.mark.slow
def test_each_kind_of_student_gets_the_points_that_they_earned(tmp_path, capsys):
    if reason := isolation.lacking():
        pytest.skip(f"hostile notebooks are run only where they can be kept apart: {reason}")
    course = tmp_path / "autumn"
    coursekit("course", str(course), "lab02")
    wanted = hand_in(course, LAB, len(KINDS) + len(OTHERS))
    coursekit("grade", str(course), "lab02", "--workers", "2", "--book", "https://example.org/book")
    assert differences(course, LAB, wanted) == []
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in course.glob("feedback/*/*.html")}
    handed_in = {student for student in wanted if not student.endswith("missing")}
    assert set(pages) == handed_in
    assert sum("https://example.org/book/chapters/02_bahdanau.html#" in page for page in pages.values()) >= 6
    capsys.readouterr()
    coursekit("grade", str(course), "lab02", "--only", "run")
    assert capsys.readouterr().out == f"run: 0 notebooks, and {len(handed_in)} that had not changed\n"
    assert len(read_texts(course, LAB)) == len(handed_in) - len(("broken", "the last one"))
    coursekit("grade", str(course), "lab02")
    assert "text question not yet read: 1 of" in capsys.readouterr().out
    assert differences(course, LAB, wanted) == text_differences(course, LAB) == []
    assert "<script" not in (course / f"text-{LAB}.html").read_text(encoding="utf-8")
