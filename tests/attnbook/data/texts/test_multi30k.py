"""Multi30k: the reader's folder comes first, a damaged file is refused, and a missing connection is explained."""

import gzip
import hashlib
import os

import pytest

from attnbook.data.texts import multi30k

TEXT = "A man in a blue shirt.\nTwo  dogs run. \n"


@pytest.fixture(autouse=True)
def forget():
    """Each test reads anew."""
    multi30k._read.cache_clear()
    yield
    multi30k._read.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small file in place of the captions for validation."""
    (tmp_path / "multi30k").mkdir()
    packed = gzip.compress(TEXT.encode())
    (tmp_path / "multi30k" / "val.en.gz").write_bytes(packed)
    monkeypatch.setitem(multi30k.SHA256, "val.en.gz", hashlib.sha256(packed).hexdigest())
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path))
    return tmp_path


def test_there_is_a_checksum_for_each_split_and_language():
    assert set(multi30k.SHA256) == {f"{s}.{g}.gz" for s in multi30k.SPLITS for g in multi30k.LANGUAGES}


def test_the_readers_folder_comes_first_and_spaces_are_single(folder):
    assert multi30k.lines("val") == ["A man in a blue shirt.", "Two dogs run."]


def test_a_damaged_file_is_refused(folder):
    (folder / "multi30k" / "val.en.gz").write_bytes(b"half a file")
    with pytest.raises(ValueError, match="damaged or another version; delete it"):
        multi30k.lines("val")


@pytest.mark.parametrize("named", [True, False])
def test_a_file_that_is_not_there_is_fetched_into_a_folder_that_stays(folder, monkeypatch, named):
    if not named:
        monkeypatch.delenv("ATTNBOOK_DATA")
    whole = folder / "fetched.gz"
    whole.write_bytes(gzip.compress(b"Ein Mann."))
    calls = []

    def retrieve(url, known_hash, fname, path):
        calls.append((url, known_hash, fname))
        return str(whole)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    assert multi30k.lines("val", "de") == ["Ein Mann."]
    assert calls == [(multi30k.ADDRESS + "val.de.gz", multi30k.SHA256["val.de.gz"], "val.de.gz")]


def test_without_a_connection_the_message_says_what_to_do(folder, monkeypatch):
    def retrieve(*arguments, **named):
        raise OSError("no route")

    monkeypatch.setattr("pooch.retrieve", retrieve)
    with pytest.raises(ConnectionError, match=r"Run this again with a connection, or copy https.*ATTNBOOK_DATA"):
        multi30k.lines("val", "de")


def test_a_folder_that_is_none_is_named(monkeypatch):
    monkeypatch.setenv("ATTNBOOK_DATA", "nowhere/at/all")
    with pytest.raises(ValueError, match="ATTNBOOK_DATA is 'nowhere/at/all', which is no folder"):
        multi30k.lines("val")


def test_a_split_or_language_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"split must be one of train, val, .*got 'test'"):
        multi30k.lines("test")
    with pytest.raises(ValueError, match="language must be one of en, de, got 'fr'"):
        multi30k.lines("val", "fr")


@pytest.mark.skipif(not os.environ.get("ATTNBOOK_DATA"), reason="needs the files of Multi30k in ATTNBOOK_DATA")
def test_the_real_files_have_as_many_lines_in_both_languages():
    counts = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000, "test_2017_flickr": 1_000}
    for split, count in counts.items():
        assert [len(multi30k.lines(split, language)) for language in multi30k.LANGUAGES] == [count, count]
