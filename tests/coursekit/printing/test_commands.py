"""The commands pdf, epub and offline."""

import pytest

from coursekit.cli import main
from coursekit.environment import NEEDS
from coursekit.printing.commands import PRINTING


@pytest.fixture
def call(tiny_book):
    return lambda *words: main(["--root", str(tiny_book), *map(str, words)])


def test_the_files_lie_beside_the_pages_and_are_named_with_their_sizes(call, tiny_book, capsys):
    assert call("epub", "--as-built") == 0
    assert call("offline", "--as-built") == 0
    said = capsys.readouterr().out.splitlines()
    for line, name in zip(said, ["paying-attention.epub", "paying-attention-offline.zip"], strict=True):
        path = tiny_book / "book/_build/files" / name
        assert path.is_file()
        assert line.startswith(f"{path}: written, 0.")
    assert said[0].endswith("with 2 formulas")


def test_to_names_another_folder_and_pages_those_of_another_book(call, tiny_book, tmp_path):
    moved = tmp_path / "elsewhere"
    (tiny_book / "book/_build/html").rename(moved)
    assert call("offline", "--pages", moved, "--to", tmp_path / "out") == 0
    assert (tmp_path / "out/paying-attention-offline.zip").is_file()


def test_the_book_is_built_first_and_a_failure_ends_there(call, monkeypatch):
    told = []
    monkeypatch.setattr("coursekit.tasks.run_task", lambda name, root: told.append(name) or 3)
    assert call("epub") == 3
    assert told == ["book"]


def test_pages_that_are_not_there_are_refused(call, tiny_book, capsys):
    (tiny_book / "book/_build/html/index.html").unlink()
    assert call("epub", "--as-built") == 2
    assert "Build it first: coursekit book, or make book" in capsys.readouterr().err


def test_a_volume_that_is_none_is_refused(call, capsys):
    with pytest.raises(SystemExit) as end:
        call("pdf", "chapter")
    assert end.value.code == 2
    assert "there is no volume 'chapter'; there is: chapters, evidence, labs" in capsys.readouterr().err


def test_without_chromium_no_book_is_built(call, monkeypatch, capsys):
    monkeypatch.setenv("ATTNBOOK_CHROMIUM", "/no/such/browser")
    assert call("pdf") == 2
    assert "there is no such program" in capsys.readouterr().err


def test_readers_who_have_no_pytorch_can_make_them():
    assert {NEEDS[name] for name in PRINTING} == {"reading"}
