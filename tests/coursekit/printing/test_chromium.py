"""Chromium, found or not."""

import os
import stat

import pytest

from coursekit import CourseError
from coursekit.printing import chromium
from coursekit.printing.chromium import VARIABLE, find_chromium, print_pdf


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program that stands for the browser: program(text of a shell script)."""

    if os.name == "nt":
        pytest.skip("the program is a shell script, which Windows does not run")

    def make(script: str) -> str:
        path = tmp_path / "browser"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(VARIABLE, str(path))
        return str(path)

    return make


def test_without_a_browser_it_is_said_what_to_install_and_what_does_without(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    with pytest.raises(CourseError, match=rf"no Chromium was found.*131 or newer.*{VARIABLE}.*coursekit epub"):
        find_chromium()


def test_a_named_browser_must_be_there(monkeypatch, program):
    named = program("exit 0")
    assert find_chromium() == named
    monkeypatch.setenv(VARIABLE, "/no/such/browser")
    with pytest.raises(CourseError, match="names '/no/such/browser', and there is no such program"):
        find_chromium()


def test_a_browser_that_writes_nothing_is_quoted(program, tmp_path):
    name = program("echo 'it hurts' >&2; exit 3")
    with pytest.raises(CourseError, match=rf"{name} wrote no a\.pdf \(status 3\); it said: it hurts"):
        print_pdf(tmp_path / "a.html", tmp_path / "a.pdf")


def test_a_browser_that_hangs_is_ended(program, tmp_path):
    program("exec sleep 60")
    with pytest.raises(CourseError, match=r"was ended: it had not printed a\.html after 0 s"):
        print_pdf(tmp_path / "a.html", tmp_path / "a.pdf", seconds=0.2)


def test_a_snap_gets_a_folder_that_it_sees_and_any_other_browser_the_systems(program, tmp_path, monkeypatch):
    monkeypatch.setattr(chromium.Path, "home", lambda: tmp_path / "home")
    own = tmp_path / "home" / "snap" / "chromium" / "common"
    assert chromium.folder_for(program("exec /usr/lib/chromium/chromium")) is None
    assert chromium.folder_for("no-such-browser") is None
    assert not own.exists()
    assert chromium.folder_for(program('exec /snap/bin/chromium "$@"')) == str(own)
    assert own.is_dir()
    (tmp_path / "snap").mkdir()
    linked = tmp_path / "snap" / "chromium"
    linked.symlink_to(tmp_path / "browser")
    assert chromium.folder_for(str(linked)) == str(own)


def test_the_files_of_a_snap_lie_in_its_folder_and_an_error_says_what_it_sees(program, tmp_path, monkeypatch):
    monkeypatch.setattr(chromium.Path, "home", lambda: tmp_path)
    program('# not /snap/bin/chromium itself\necho "$@" >&2; exit 1')
    with pytest.raises(CourseError, match=r"snap/chromium/common/.*; this Chromium is a snap, .*no hidden folder"):
        print_pdf(tmp_path / "a.html", tmp_path / "a.pdf")
