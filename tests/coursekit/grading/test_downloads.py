"""What was downloaded is taken or named, whatever it is packed in."""

import io
import os
import random
import zipfile

import pytest

from coursekit.grading import downloads as module
from coursekit.grading.downloads import IS_DEEP, IS_LARGE, IS_NONE, IS_TOO_MUCH, downloads

DATE = (2026, 10, 19, 23, 30, 0)


def packed(files: dict[str, bytes], date=DATE) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, content)
    return held.getvalue()


def taken(folder) -> list[str]:
    return ["/".join(one.place) for one in downloads(folder).notebooks]


def test_a_zip_in_a_zip_is_read_and_endings_may_be_in_capitals(tmp_path):
    inner = packed({"a.IPYNB": b"a", "notes.txt": b""})
    (tmp_path / "All.ZIP").write_bytes(packed({"ann/work.Zip": inner, "b.Ipynb": b"b"}))
    (tmp_path / "c.ipynB").write_bytes(b"c")
    found = downloads(tmp_path)
    assert {"/".join(one.place): one.content for one in found.notebooks} == {
        "All.ZIP/ann/work.Zip/a.IPYNB": b"a",
        "All.ZIP/b.Ipynb": b"b",
        "c.ipynB": b"c",
    }
    assert found.left == {IS_NONE: [("All.ZIP", "ann", "work.Zip", "notes.txt")]}


def test_zips_in_each_other_without_end_are_named(tmp_path):
    content = packed({"x.ipynb": b"{}"})
    for _ in range(module.DEEPEST):
        content = packed({"z.zip": content})
    (tmp_path / "z.zip").write_bytes(content)
    assert downloads(tmp_path).left == {IS_DEEP: [("z.zip",) * (module.DEEPEST + 1)]}


def test_what_unpacks_to_too_much_is_named_and_never_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "UNPACKED", 5000)
    monkeypatch.setattr(module, "LARGEST", 4000)
    bomb = packed({f"{i}.ipynb": b"x" * 3000 for i in range(3)} | {"large.ipynb": b"x" * 4001})
    (tmp_path / "bomb.zip").write_bytes(bomb)
    (tmp_path / "fine.zip").write_bytes(packed({"x.ipynb": b"x" * 3000}))
    found = downloads(tmp_path)
    assert ["/".join(one.place) for one in found.notebooks] == ["bomb.zip/0.ipynb", "fine.zip/x.ipynb"]
    assert found.left == {
        IS_TOO_MUCH: [("bomb.zip", "1.ipynb"), ("bomb.zip", "2.ipynb")],
        IS_LARGE: [("bomb.zip", "large.ipynb")],
    }


def test_one_broken_file_in_a_zip_is_named_and_the_others_are_taken(tmp_path):
    content = packed({"ann.ipynb": bytes(random.Random(0).randbytes(500)), "bob.ipynb": b"{}"})
    (tmp_path / "all.zip").write_bytes(content[:100] + bytes(50) + content[150:])
    found = downloads(tmp_path)
    assert [one.place for one in found.notebooks] == [("all.zip", "bob.ipynb")]
    ((why, places),) = found.left.items()
    assert why.startswith("it cannot be read: ")
    assert places == [("all.zip", "ann.ipynb")]


def test_no_damage_to_a_zip_stops_the_others(tmp_path):
    chance, inner = random.Random(1), packed({"a.ipynb": b"{}" * 50})
    content = packed({"ann/work.zip": inner, "b.ipynb": b"{}" * 50})
    (tmp_path / "0.ipynb").write_bytes(b"{}")
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(len(content))] = chance.randrange(256)
        (tmp_path / "all.zip").write_bytes(damaged)
        assert taken(tmp_path)[0] == "0.ipynb"


@pytest.mark.parametrize("name", ["J\u00fcrgen", "Ju\u0308rgen"])
def test_names_are_read_in_one_spelling_also_where_a_mac_packed_them(name, tmp_path):
    content = packed({f"{name}.ipynb": b"{}"})
    assert content.count(b"\x00\x08\x08\x00") == 2  # the flags of both headers: the name is in UTF-8
    (tmp_path / "mac.zip").write_bytes(content.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00"))
    (tmp_path / name).mkdir()
    (tmp_path / name / "x.ipynb").write_bytes(b"{}")
    assert sorted(taken(tmp_path)) == ["J\u00fcrgen/x.ipynb", "mac.zip/J\u00fcrgen.ipynb"]


def test_names_with_backslashes_are_folders_and_a_missing_time_is_the_zips(tmp_path):
    (tmp_path / "a.zip").write_bytes(packed({"W\\ann\\x.ipynb": b"{}"}, (1980, 0, 0, 0, 0, 0)))
    os.utime(tmp_path / "a.zip", (10**9, 10**9))
    (one,) = downloads(tmp_path).notebooks
    assert (one.place, one.when) == (("a.zip", "W", "ann", "x.ipynb"), 10**9)


def test_a_folder_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "ann").mkdir()
    (tmp_path / "bob.ipynb").write_bytes(b"{}")
    scan = os.scandir

    def refuse(path):
        if os.fspath(path).endswith("ann"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = downloads(tmp_path)
    assert [one.place for one in found.notebooks] == [("bob.ipynb",)]
    assert found.left == {"it cannot be read: Permission denied": [("ann",)]}


def test_no_folder_holds_nothing(tmp_path):
    found = downloads(tmp_path / "none")
    assert (found.notebooks, found.left) == ([], {})
