"""Skips that are no excuse where a workflow has what they lack."""

import os
from typing import NoReturn

import pytest

VARIABLE = "ATTNBOOK_NO_SKIPS"  # words, each of which is something that must be there


def skip_for_want_of(what: str, reason: str) -> NoReturn:
    """Skip a test because something is missing; fail it where ``ATTNBOOK_NO_SKIPS`` says that this must be there."""
    if what in os.environ.get(VARIABLE, "").split():
        pytest.fail(f"{VARIABLE} demands {what}: {reason}", pytrace=False)
    pytest.skip(reason)
