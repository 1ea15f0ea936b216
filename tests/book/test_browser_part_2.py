"""The built pages of Part II as Chromium shows them: on a desk and on a phone, by day and by night."""

import pytest
from seen_pages import ChaptersInABrowser

pytestmark = [pytest.mark.book, pytest.mark.slow]


class TestPart2(ChaptersInABrowser):
    group = "part_2"
