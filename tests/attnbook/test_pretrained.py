"""The command that fetches weights; `models/pretrained/test_fetching.py` has the tests of what it calls."""

from pathlib import Path

import pytest

from attnbook import pretrained


@pytest.mark.parametrize("bring, status, printed", [(Path, 0, "smollm2 (Apache-2.0): "), (None, 2, "no connection")])
def test_fetching_says_where_the_weights_are_or_why_not(monkeypatch, capsys, bring, status, printed):
    def fetch(name):
        if bring is None:
            raise ConnectionError("no connection")
        return bring(name)

    monkeypatch.setattr(pretrained, "fetch", fetch)
    assert pretrained.main(["smollm2"]) == status
    assert printed in "".join(capsys.readouterr())
