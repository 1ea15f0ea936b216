"""What was downloaded goes where it is graded, and nowhere else."""

import io
import os
import zipfile
from datetime import datetime

import pytest

from coursekit.grading.collect import NAMELESS, collect
from coursekit.grading.downloads import IS_HIDDEN, IS_LINK, IS_NONE

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
        packed(tmp_path, name, "zoe.ipynb")
    else:
        put(tmp_path, name)
    students = [student, "zoe"] if zipped else [student]
    assert collect(tmp_path, LAB).new == students
    assert submitted(tmp_path) == {f"{one}/{LAB}/{LAB}.ipynb": "{}" for one in students}


@pytest.mark.parametrize("name", ["../../ann.ipynb", "/ann.ipynb", "..\\ann.ipynb", "C:/x/ann.ipynb", "a\x07b/n.ipynb"])
def test_no_name_in_a_zip_leads_out_of_the_folder(name, tmp_path):
    course = tmp_path / "course"
    packed(course, name)
    collect(course, LAB)
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    wanted = (f"course/downloaded/{LAB}/all.zip", "course/submitted/")
    assert [name for name in files if not name.startswith(wanted)] == []


@pytest.mark.parametrize("name, why", [
    ("notes.txt", IS_NONE), ("ann/.x.ipynb", IS_HIDDEN), (f"{LAB}.ipynb", NAMELESS), ("lab02 (1).ipynb", NAMELESS),
])  # fmt: skip
@pytest.mark.parametrize("zipped", [False, True])
def test_what_is_not_taken_is_named_with_the_reason(name, why, zipped, tmp_path):
    if zipped:
        packed(tmp_path, name)
    else:
        put(tmp_path, name)
    found = collect(tmp_path, LAB)
    assert found.new == ([] if why != NAMELESS or not zipped else ["all"])
    assert found.told == ([f"not taken: {'all.zip/' * zipped}{name} ({why})"] if not found.new else [])


@pytest.mark.parametrize("name", [".ipynb_checkpoints/a.ipynb", "__MACOSX/ann.ipynb", "ann/._lab.ipynb", ".DS_Store"])
def test_what_systems_keep_for_themselves_is_nobodys(name, tmp_path):
    put(tmp_path, name)
    found = collect(tmp_path, LAB)
    assert (found.new, found.told) == ([], [])


def test_a_link_is_not_followed(tmp_path):
    put(tmp_path, "bob.ipynb")
    (tmp_path / "downloaded" / LAB / "ann.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "downloaded" / LAB / "etc").symlink_to("/etc")
    found = collect(tmp_path, LAB)
    assert (found.new, found.told) == (["bob"], [f"not taken: ann.ipynb, etc ({IS_LINK})"])


def test_the_latest_counts_and_the_time_goes_along(tmp_path):
    put(tmp_path, "1/ann.ipynb", "old", OLD)
    put(tmp_path, "ann/2.ipynb", "new", NEW)
    put(tmp_path, "ann/1.ipynb", "old", OLD)
    assert collect(tmp_path, LAB).new == ["1", "ann"]
    path = tmp_path / "submitted" / "ann" / LAB / f"{LAB}.ipynb"
    assert (path.read_text(), path.stat().st_mtime) == ("new", NEW)


def test_a_later_notebook_replaces_an_earlier_one_which_is_kept(tmp_path):
    put(tmp_path, "ann.ipynb", "old", OLD)
    assert collect(tmp_path, LAB).new == ["ann"]
    assert collect(tmp_path, LAB).new == []
    stamp = tmp_path / "submitted" / "ann" / LAB / "timestamp.txt"
    stamp.write_text("2026-10-19 10:00:00 UTC")
    put(tmp_path, "ann.ipynb", "new", NEW)
    assert collect(tmp_path, LAB).new == ["ann"]
    assert submitted(tmp_path) == {f"ann/{LAB}/{LAB}.ipynb": "new"}
    assert [path.read_text() for path in (tmp_path / "earlier" / "ann").iterdir()] == ["old"]
    assert not stamp.exists()


def test_an_earlier_notebook_replaces_nothing(tmp_path):
    put(tmp_path, "ann.ipynb", "new", NEW)
    collect(tmp_path, LAB)
    put(tmp_path, "ann.ipynb", "old", OLD)
    assert collect(tmp_path, LAB).new == []
    assert list(submitted(tmp_path).values()) == ["new"]


def test_a_broken_zip_is_named_and_the_others_are_collected(tmp_path):
    packed(tmp_path, "ann.ipynb", "carl.ipynb")
    put(tmp_path, "bob.ipynb")
    put(tmp_path, "broken.zip", "no zip")
    found = collect(tmp_path, LAB)
    assert found.new == ["ann", "bob", "carl"]
    (told,) = found.told
    assert told.startswith("not taken: broken.zip (it cannot be read as a zip: ")
    assert told.endswith("; download it again, or unpack it there)")


def test_the_folder_of_a_download_is_nobodys_and_all_in_it_hand_in(tmp_path):
    put(tmp_path, f"WRAP/ann/{LAB}.ipynb", "a")
    put(tmp_path, f"WRAP/bob/{LAB}.ipynb", "b")
    assert collect(tmp_path, LAB).new == ["ann", "bob"]
    assert submitted(tmp_path) == {f"{name}/{LAB}/{LAB}.ipynb": name[0] for name in ("ann", "bob")}


def test_a_student_is_known_by_the_list_of_students(tmp_path):
    (tmp_path / "students.csv").write_text("student\nAnn Lee\nBob Roe\n")
    put(tmp_path, "group 1/Ann Lee/my.ipynb", "a")
    put(tmp_path, "group 1/bob_roe.zip/my.ipynb", "b")
    assert collect(tmp_path, LAB).new == ["Ann Lee", "bob_roe"]


def test_of_several_notebooks_the_others_are_kept_and_named_once(tmp_path):
    put(tmp_path, "bob.ipynb")
    for name, when in (("2", NEW), ("1", OLD), ("3", OLD)):
        put(tmp_path, f"ann/{name}.ipynb", name, when)
    found = collect(tmp_path, LAB)
    assert found.new == ["ann", "bob"]
    kept = sorted((tmp_path / "earlier" / "ann").iterdir(), key=lambda path: path.read_text())
    assert [path.read_text() for path in kept] == ["1", "3"]
    assert found.told == [
        f"not taken: ann/{one.read_text()}.ipynb (ann has handed in a later one; it is kept as earlier/ann/{one.name})"
        for one in kept
    ]
    again = collect(tmp_path, LAB)
    assert (again.new, again.told) == ([], [])


def test_one_that_is_downloaded_late_and_is_earlier_is_kept_and_named(tmp_path):
    put(tmp_path, "ann.ipynb", "new", NEW)
    collect(tmp_path, LAB)
    put(tmp_path, "ann.ipynb", "old", OLD)
    (told,) = collect(tmp_path, LAB).told
    assert told.startswith("not taken: ann.ipynb (ann has handed in a later one; it is kept as earlier/ann/")


def test_a_name_cannot_write_on_a_terminal(tmp_path):
    packed(tmp_path, "a\x1b[2Jb.txt")
    assert collect(tmp_path, LAB).told == [f"not taken: all.zip/a?[2Jb.txt ({IS_NONE})"]


def test_a_name_in_two_spellings_is_one_student(tmp_path):
    composed, decomposed = "J\u00fcrgen", "Ju\u0308rgen"
    (tmp_path / "submitted" / decomposed / LAB).mkdir(parents=True)
    put(tmp_path, f"{decomposed}/a.ipynb", "old", OLD)
    packed(tmp_path, f"{composed}/a.ipynb", "zoe.ipynb", content="new")
    assert collect(tmp_path, LAB).new == [composed, "zoe"]
    assert submitted(tmp_path) == {f"{one}/{LAB}/{LAB}.ipynb": "new" for one in (decomposed, "zoe")}


def test_without_downloads_nothing_is_new(tmp_path):
    assert collect(tmp_path, LAB).new == []


@pytest.mark.parametrize("names, students", [
    (("Max Roe_1_assignsubmission_file/a.ipynb", "Max Roe_2_assignsubmission_/b.ipynb"), ["Max Roe 1", "Max Roe 2"]),
    (("roemax_1_81_a.ipynb", "roemax_LATE_2_82_a.ipynb"), ["roemax 1", "roemax 2"]),
    (("roemax_1_81_a.ipynb", "roemax_LATE_1_82_a.ipynb"), ["roemax"]),
    (("Max Roe_1_assignsubmission_file/a.ipynb", "Max Roe/a.ipynb"), ["Max Roe"]),
])  # fmt: skip
def test_nobody_replaces_a_namesake(names, students, tmp_path):
    packed(tmp_path, *names)
    assert collect(tmp_path, LAB).new == students


@pytest.mark.parametrize("outer", [
    ("leeann_17_4711_lab02.zip",), ("Ann.zip",), ("Ann Lee_4711_assignsubmission_file_", "work.zip"),
    ("all.zip", "Ann Lee_4711_assignsubmission_file_", "work.zip"), ("all.zip", "leeann_17_4711_lab02.zip"),
], ids="/".join)  # fmt: skip
@pytest.mark.parametrize("inner", [[], ["more.zip"]], ids=["flat", "nested"])
@pytest.mark.parametrize("year", [1990, 2099])
def test_no_time_in_a_zip_of_a_students_counts(outer, inner, year, tmp_path):
    (tmp_path / "students.csv").write_text("name,number\nAnn,17\n")
    content = zipped("lab02.ipynb", b"{}", year)
    for name in inner:
        content = zipped(name, content, year)
    if outer[0] == "all.zip":
        content = zipped("/".join(outer[1:]), content, 2023)
    path = put(tmp_path, outer[0] if outer[0] == "all.zip" else "/".join(outer))
    path.write_bytes(content)
    os.utime(path, (NEW, NEW))
    assert len(collect(tmp_path, LAB).new) == 1
    (taken,) = (tmp_path / "submitted").rglob("*.ipynb")
    wanted = datetime(2023, 10, 19, 23, 30).timestamp() if outer[0] == "all.zip" else NEW
    assert taken.stat().st_mtime == wanted


def zipped(name: str, content: bytes, year: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr(zipfile.ZipInfo(name, (year, 10, 19, 23, 30, 0)), content)
    return held.getvalue()
