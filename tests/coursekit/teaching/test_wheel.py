"""The book's wheel, and archives without dates."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from coursekit import CourseError
from coursekit.teaching.wheel import SOURCES, archive, build_wheel, contents, zipped_in_order

ROOT = Path(__file__).parents[3]


def test_an_archive_gives_back_what_was_put_in_and_knows_no_date_and_no_order():
    files = {"b/two.txt": b"2" * 1000, "a.txt": "größer".encode()}
    zipped = archive(files)
    assert contents(zipped) == files
    assert zipped == archive(dict(reversed(files.items())))


def test_a_folder_that_is_no_copy_of_the_project_gives_no_wheel(tmp_path):
    with pytest.raises(CourseError, match=r"has no pyproject\.toml, no LICENSE"):
        build_wheel(tmp_path)


def test_what_setuptools_says_of_a_wheel_that_cannot_be_built_is_told(tmp_path):
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("this is no TOML")
    with pytest.raises(CourseError, match=r"could not build the wheel; it said: .*TOMLDecodeError"):
        build_wheel(tmp_path)


@pytest.mark.slow
def test_the_wheel_holds_packages_records_and_weights_and_neither_answers_nor_tests(wheel):
    name, content = wheel
    held = contents(content)
    assert name.startswith("paying_attention-")
    assert {"attnlabs/lab02/__init__.py", "coursekit/teaching/wheel.py"} <= held.keys()
    assert any(file.endswith(".pt") for file in held)
    assert not [file for file in held if file.startswith(("solutions", "tests", "labs", "chapters"))]
    assert not [file for file in held if re.fullmatch(r"attnlabs/.*/(right|adversarial.*)\.py", file)]
    assert [file for file, content in held.items() if str(ROOT).encode() in content] == []
    assert build_wheel(ROOT) == wheel
    said = re.search(r"one file of about\s(\d+) MB", (ROOT / "book/anywhere.md").read_text(encoding="utf-8"))
    assert int(said[1]) == pytest.approx(len(content) / 1e6, rel=0.1)


def test_an_archive_is_in_the_order_of_its_names_or_in_the_one_that_is_given():
    files = {"b.txt": b"two" * 50, "a.png": b"one" * 50}
    for content, names in ((archive(files), ["a.png", "b.txt"]), (zipped_in_order(files), ["b.txt", "a.png"])):
        assert list(contents(content)) == names
        assert contents(content) == files
    with zipfile.ZipFile(io.BytesIO(zipped_in_order(files, lambda name: name.endswith(".png")))) as zipped:
        kinds = {one.filename: one.compress_type for one in zipped.infolist()}
    assert kinds == {"b.txt": zipfile.ZIP_DEFLATED, "a.png": zipfile.ZIP_STORED}
