"""What a release holds: every file, its sum, and no file beside them."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import dist
from coursekit.cli import main
from coursekit.environment import NEEDS

VERSION = "1.2.3"
# What a release of the book holds. Whoever adds a kind of file to the book decides here whether it is given out.
HELD = {
    "README.txt", "SHA256SUMS", "requirements.lock",
    "paying-attention-offline.zip", "paying-attention.epub", "paying-attention-labs.zip",
    "paying-attention.pdf", "paying-attention-evidence.pdf", "paying-attention-labs.pdf",
    f"paying_attention-{VERSION}-py3-none-any.whl", f"attnbook-{VERSION}-py3-none-any.whl",
    f"misread-{VERSION}-py3-none-any.whl",
}  # fmt: skip


def fake_pdf(root, html, volume, path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(volume.name.encode())
    return ["3 pages", "Wider than the page."] if volume.name == "paying-attention" else ["3 pages"]


def fake_wheel(root, alone=None):
    return f"{alone or 'paying_attention'}-{VERSION}-py3-none-any.whl", f"wheel of {alone}".encode()


@pytest.fixture
def root(project, monkeypatch) -> Path:
    """A course with a page, in which all that takes long is made up."""
    page = project.root / "book/_build/html/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("the book")
    about = f'[project]\nversion = "{VERSION}"\nrequires-python = ">=3.11,<3.15"\n'
    (project.root / "pyproject.toml").write_text(about)
    (project.root / "requirements.lock").write_text("torch==2.6.0\n")
    monkeypatch.setattr("coursekit.printing.pdf.make_pdf", fake_pdf)
    monkeypatch.setattr("coursekit.printing.epub.make_epub", lambda root, html, version: (b"epub", 2))
    monkeypatch.setattr("coursekit.printing.chromium.find_chromium", lambda: "chromium")
    monkeypatch.setattr("coursekit.teaching.wheel.build_wheel", fake_wheel)
    return project.root


@pytest.fixture
def call(root):
    return lambda *words: main(["--root", str(root), "dist", *map(str, words)])


def test_a_release_holds_each_file_and_the_readme_says_what_it_is(call, root, capsys):
    assert call("--as-built") == 0
    assert {path.name for path in (root / "dist").iterdir()} == HELD
    text = (root / "dist/README.txt").read_text()
    assert [name for name in HELD - {"README.txt"} if name not in text] == []
    said = capsys.readouterr().out
    assert "paying-attention.pdf: written, 0.0 MB\nWider than the page.\n" in said
    assert said.endswith(f"SHA256SUMS: written; the release of {VERSION} is whole, {len(HELD) - 1} files\n")


def test_the_sums_are_those_of_all_other_files(call, root):
    call("--as-built")
    lines = (root / "dist/SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    assert sums.keys() == HELD - {"SHA256SUMS"}
    assert all(hashlib.sha256((root / "dist" / name).read_bytes()).hexdigest() == sum for name, sum in sums.items())


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum here")
def test_the_tool_that_the_readme_names_accepts_the_sums_and_sees_a_changed_file(call, root):
    call("--as-built")
    command = re.search(r"sha256sum --check \w+", (root / "dist/README.txt").read_text())[0].split()
    assert subprocess.run(command, cwd=root / "dist", capture_output=True).returncode == 0
    (root / "dist/paying-attention.epub").write_bytes(b"another")
    assert subprocess.run(command, cwd=root / "dist", capture_output=True).returncode == 1


def test_made_twice_it_is_the_same_and_the_second_time_writes_over_the_first(call, root):
    call("--as-built")
    first = (root / "dist/SHA256SUMS").read_bytes()
    assert call("--as-built") == 0
    assert (root / "dist/SHA256SUMS").read_bytes() == first


def test_a_folder_with_another_file_is_refused_before_anything_is_made(call, root, capsys, monkeypatch):
    monkeypatch.setattr("coursekit.tasks.run_task", lambda name, root: sys.exit("built"))
    old = root / "dist/attnbook-1.0.0-py3-none-any.whl"
    old.parent.mkdir()
    old.write_bytes(b"old")
    (old.parent / ".DS_Store").write_bytes(b"a file manager's")
    assert call() == 2
    assert "does not make: attnbook-1.0.0-py3-none-any.whl. Move it away, or name another" in capsys.readouterr().err
    assert {path.name for path in old.parent.iterdir()} == {old.name, ".DS_Store"}


def test_a_release_that_was_interrupted_has_no_sums(call, root, monkeypatch):
    call("--as-built", "--to", root / "out")
    monkeypatch.setattr("coursekit.teaching.wheel.build_wheel", interrupted)
    assert call("--as-built", "--to", root / "out") == 130
    assert {path.name for path in (root / "out").iterdir()} == HELD - {"SHA256SUMS"}


def interrupted(root, alone=None):
    raise KeyboardInterrupt


def test_without_chromium_or_after_a_failed_build_there_is_no_release(call, root, monkeypatch, capsys):
    monkeypatch.setattr("coursekit.tasks.run_task", lambda name, root: 3)
    assert call() == 3
    monkeypatch.undo()
    monkeypatch.setenv("ATTNBOOK_CHROMIUM", "/no/such/browser")
    assert call() == 2
    assert "there is no such program" in capsys.readouterr().err
    assert not (root / "dist").exists()


def test_it_needs_the_whole_environment():
    assert "dist" not in NEEDS  # handouts are made by nbgrader
    assert dist.FOLDER.as_posix() == "dist"
