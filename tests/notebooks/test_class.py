"""A class's whole way through grading, with the commands of the guide alone, in its order."""

import csv
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from built_wheel import wheel  # noqa: F401 (a fixture)
from made_up_class import KINDS, OTHERS, differences, hand_in, read_texts, text_differences
from skips import skip_for_want_of

from coursekit import cli
from coursekit.grading import isolation
from coursekit.teaching import handout as handouts

ROOT = Path(__file__).parents[2]
LAB = "lab02_bahdanau"
BOOK = "https://example.org/book"


def commands() -> list[str]:
    """What the guide tells a teacher to type, line by line, from handing out to the next lecture."""
    guide = (ROOT / "book/teaching/guide.md").read_text(encoding="utf-8")
    section = guide.split("(teaching-one-lab)=")[1].split("\n## Assessment")[0]
    lines = "".join(re.findall(r"```bash\n(.*?)```", section, re.DOTALL)).splitlines()
    return [line.replace("https://ADDRESS-OF-YOUR-BOOK", BOOK) for line in lines]


def coursekit(line: str, *more: str) -> None:
    """One line of the guide, with what a teacher adds to it."""
    program, *words = shlex.split(line, comments=True)
    assert program == "coursekit"
    assert cli.main(["--root", str(ROOT), *words, *more]) == 0


def pages(course: Path) -> dict[str, str]:
    return {path.parent.name: path.read_text(encoding="utf-8") for path in course.glob("feedback/*/*.html")}


@pytest.mark.slow
def test_each_kind_of_student_gets_the_points_that_they_earned(tmp_path, monkeypatch, capsys, wheel):  # noqa: F811
    if reason := isolation.lacking():
        skip_for_want_of("isolation", f"hostile notebooks are run only where they can be kept apart: {reason}")
    (tmp_path / "book").mkdir()
    monkeypatch.chdir(tmp_path / "book")
    monkeypatch.setattr(handouts, "build_wheel", lambda root: wheel)  # built once for all workers
    course = tmp_path / "autumn"
    make, handout, folder, move, grade, export, mistakes = commands()
    coursekit(make)
    coursekit(handout, "--to", f"{LAB}.zip")  # else it would lie in work/ of the course that is tested
    assert Path(f"{LAB}.zip").is_file()
    subprocess.run(shlex.split(folder), check=True)
    assert Path(shlex.split(move)[-1]).resolve() == course / "downloaded" / LAB
    wanted = hand_in(course, LAB, len(KINDS) + len(OTHERS))
    handed_in = {student for student in wanted if not student.endswith("missing")}
    coursekit(grade, "--book", BOOK)
    assert differences(course, LAB, wanted) == []
    assert set(pages(course)) == handed_in
    assert sum(f"{BOOK}/chapters/02_bahdanau.html#" in page for page in pages(course).values()) >= 6
    capsys.readouterr()
    assert len(read_texts(course, LAB)) == len(handed_in) - len(("broken", "the last one"))
    coursekit(grade)
    said = capsys.readouterr().out
    assert f"run: 0 notebooks, and {len(handed_in)} that had not changed" in said
    assert "text question not yet read: 1 of" in said
    assert differences(course, LAB, wanted) == text_differences(course, LAB) == []
    assert "<script" not in (course / f"text-{LAB}.html").read_text(encoding="utf-8")
    coursekit(export)
    with (course / f"grades-{LAB}.csv").open(newline="", encoding="utf-8") as file:
        found = {row["Student"]: row for row in csv.DictReader(file)}
    assert set(found) == set(wanted)
    assert all(row["Email address"].endswith("@example.org") for row in found.values())
    assert (found["000 right"][LAB], found["000 right"][f"{LAB} total"]) == ("15", "18")
    coursekit(mistakes)
    assert (course / "mistakes.html").is_file()
