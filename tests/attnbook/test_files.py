"""Files are written whole or not at all, readable by whom the umask allows, and leave nothing beside them."""

import os
import stat
import subprocess
import sys

import pytest

from attnbook import files
from attnbook.files import remove_halves, whole_file, write_whole


def test_a_file_is_written_with_the_folders_above_it_and_nothing_beside_it(tmp_path):
    write_whole(tmp_path / "new" / "folder" / "a.txt", b"all of it")
    assert (tmp_path / "new" / "folder" / "a.txt").read_bytes() == b"all of it"
    assert os.listdir(tmp_path / "new" / "folder") == ["a.txt"]


def test_until_the_block_ends_a_reader_finds_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("crash", [OSError("disk full"), KeyboardInterrupt()])
def test_after_an_error_the_old_file_is_whole_and_nothing_lies_beside_it(tmp_path, crash):
    write_whole(tmp_path / "a.txt", b"old")
    writing = whole_file(tmp_path / "a.txt")
    writing.__enter__().write(b"half")
    assert len(os.listdir(tmp_path)) == 2
    assert not writing.__exit__(type(crash), crash, None)
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_two_may_write_the_same_path_at_once_and_the_last_stays(tmp_path):
    with whole_file(tmp_path / "a.txt") as first, whole_file(tmp_path / "a.txt") as second:
        first.write(b"first")
        second.write(b"second")
    assert (tmp_path / "a.txt").read_bytes() == b"first"  # the outer block ended last
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_permissions_are_those_that_the_umask_leaves(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "a.txt", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


def test_the_bytes_are_on_the_disk_before_the_file_has_its_name(tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        call = getattr(os, name)
        monkeypatch.setattr(files.os, name, lambda *args, name=name, call=call: (done.append(name), call(*args)))
    write_whole(tmp_path / "a.txt", b"")
    assert done == ["fsync", "replace"]


def test_what_killed_processes_left_of_a_file_is_removed_and_nothing_else(tmp_path):
    kept = ["a.pt", "a.pt2.0123abcd.part", "b.pt.0123abcd.part"]
    for name in (*kept, "a.pt.0123abcd.part", "a.ptx0_1abcd.part"):
        (tmp_path / name).touch()
    remove_halves(tmp_path / "a.pt")
    assert sorted(os.listdir(tmp_path)) == kept
    remove_halves(tmp_path / "nowhere" / "a.pt")
    assert not (tmp_path / "nowhere").exists()


def test_the_module_needs_no_torch():
    code = "import sys, attnbook.files; assert not {'torch', 'numpy'} & set(sys.modules)"
    path = os.pathsep.join(filter(None, sys.path))
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}).returncode == 0
