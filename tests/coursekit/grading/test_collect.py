"""What was downloaded goes where it is graded, and nowhere else."""

import os
import zipfile

import pytest

from coursekit import CourseError
from coursekit.grading.collect import collect

LAB = "lab02_small"
OLD, NEW = 1_700_000_000, 1_700_009_000


def put(course, name: str, content: str = "{}", when: int = OLD):
    path = course / "downloaded" / LAB / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (when, when))
    return path


def packed(course, *names: str, content: str = "{}") -> None:
    put(course, "all.zip")
    with zipfile.ZipFile(course / "downloaded" / LAB / "all.zip", "w") as file:
        for name in names:
            file.writestr(zipfile.ZipInfo(name, (2026, 10, 19, 23, 30, 0)), content)


def submitted(course) -> dict[str, str]:
    paths = sorted((course / "submitted").rglob("*.ipynb"))
    return {path.relative_to(course / "submitted").as_posix(): path.read_text() for path in paths}


@pytest.mark.parametrize("name, student", [
    ("ann.ipynb", "ann"),
    ("ann/lab02.ipynb", "ann"),
    ("ann/deep/er/any name.ipynb", "ann"),
    ("Ann Lee_4711_assignsubmission_file_/lab02.ipynb", "Ann Lee"),
    ("leeann_17_4711_lab02_small-1.ipynb", "leeann"),
    ("leeann_LATE_17_4711_lab02.ipynb", "leeann"),
    ("ann_lee.ipynb", "ann_lee"),
])  # fmt: skip
@pytest.mark.parametrize("zipped", [False, True])
def test_the_student_is_known_by_the_folder_or_the_name(name, student, zipped, tmp_path):
    if zipped:
        packed(tmp_path, name)
    else:
        put(tmp_path, name)
    assert collect(tmp_path, LAB) == [student]
    assert submitted(tmp_path) == {f"{student}/{LAB}/{LAB}.ipynb": "{}"}


@pytest.mark.parametrize("name", ["../../ann.ipynb", "/ann.ipynb", "..\\ann.ipynb", "C:/x/ann.ipynb", "a\x07b/n.ipynb"])
def test_no_name_in_a_zip_leads_out_of_the_folder(name, tmp_path):
    course = tmp_path / "course"
    packed(course, name)
    collect(course, LAB)
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    wanted = (f"course/downloaded/{LAB}/all.zip", "course/submitted/")
    assert [name for name in files if not name.startswith(wanted)] == []


@pytest.mark.parametrize("name", ["notes.txt", ".ipynb_checkpoints/a.ipynb", "ann/.x.ipynb", "__MACOSX/ann.ipynb"])
def test_what_is_no_notebook_stays(name, tmp_path):
    put(tmp_path, name)
    assert collect(tmp_path, LAB) == []


def test_a_link_is_not_followed(tmp_path):
    put(tmp_path, "bob.ipynb")
    (tmp_path / "downloaded" / LAB / "ann.ipynb").symlink_to("/etc/passwd")
    assert collect(tmp_path, LAB) == ["bob"]


def test_the_latest_counts_and_the_time_goes_along(tmp_path):
    put(tmp_path, "1/ann.ipynb", "old", OLD)
    put(tmp_path, "ann/2.ipynb", "new", NEW)
    put(tmp_path, "ann/1.ipynb", "old", OLD)
    assert collect(tmp_path, LAB) == ["1", "ann"]
    path = tmp_path / "submitted" / "ann" / LAB / f"{LAB}.ipynb"
    assert (path.read_text(), path.stat().st_mtime) == ("new", NEW)


def test_a_later_notebook_replaces_an_earlier_one_which_is_kept(tmp_path):
    put(tmp_path, "ann.ipynb", "old", OLD)
    assert collect(tmp_path, LAB) == ["ann"]
    assert collect(tmp_path, LAB) == []
    stamp = tmp_path / "submitted" / "ann" / LAB / "timestamp.txt"
    stamp.write_text("2026-10-19 10:00:00 UTC")
    put(tmp_path, "ann.ipynb", "new", NEW)
    assert collect(tmp_path, LAB) == ["ann"]
    assert submitted(tmp_path) == {f"ann/{LAB}/{LAB}.ipynb": "new"}
    assert [path.read_text() for path in (tmp_path / "earlier" / "ann").iterdir()] == ["old"]
    assert not stamp.exists()


def test_an_earlier_notebook_replaces_nothing(tmp_path):
    put(tmp_path, "ann.ipynb", "new", NEW)
    collect(tmp_path, LAB)
    put(tmp_path, "ann.ipynb", "old", OLD)
    assert collect(tmp_path, LAB) == []
    assert list(submitted(tmp_path).values()) == ["new"]


def test_a_broken_zip_is_named(tmp_path):
    put(tmp_path, "all.zip", "no zip")
    with pytest.raises(CourseError, match=r"all\.zip cannot be read as a zip"):
        collect(tmp_path, LAB)


def test_without_downloads_nothing_is_new(tmp_path):
    assert collect(tmp_path, LAB) == []


@pytest.mark.parametrize("names, students", [
    (("Max Roe_1_assignsubmission_file/a.ipynb", "Max Roe_2_assignsubmission_/b.ipynb"), ["Max Roe 1", "Max Roe 2"]),
    (("roemax_1_81_a.ipynb", "roemax_LATE_2_82_a.ipynb"), ["roemax 1", "roemax 2"]),
    (("roemax_1_81_a.ipynb", "roemax_LATE_1_82_a.ipynb"), ["roemax"]),
    (("Max Roe_1_assignsubmission_file/a.ipynb", "Max Roe/a.ipynb"), ["Max Roe"]),
])  # fmt: skip
def test_nobody_replaces_a_namesake(names, students, tmp_path):
    packed(tmp_path, *names)
    assert collect(tmp_path, LAB) == students
