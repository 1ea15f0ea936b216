"""The folders outside of the repository."""

import pooch
import pytest

from attnbook.folders import cache_folder, named_folder


def test_a_variable_names_a_folder_or_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNBOOK_TRIED", f" {tmp_path} ")
    assert named_folder("ATTNBOOK_TRIED") == tmp_path
    for nothing in ("", "  "):
        monkeypatch.setenv("ATTNBOOK_TRIED", nothing)
        assert named_folder("ATTNBOOK_TRIED") is None
    monkeypatch.delenv("ATTNBOOK_TRIED")
    assert named_folder("ATTNBOOK_TRIED") is None


def test_what_is_no_folder_is_refused(monkeypatch):
    monkeypatch.setenv("ATTNBOOK_TRIED", "nowhere/at/all")
    with pytest.raises(ValueError, match="ATTNBOOK_TRIED is 'nowhere/at/all', which is no folder"):
        named_folder("ATTNBOOK_TRIED")


def test_what_is_fetched_lies_where_pooch_says(monkeypatch, tmp_path):
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    assert cache_folder() == tmp_path / "paying-attention"
