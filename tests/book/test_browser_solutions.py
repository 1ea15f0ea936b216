"""The built pages of the labs' solutions as Chromium shows them: on a desk and on a phone, by day and by night."""

import pytest
from seen_pages import PagesInABrowser

pytestmark = [pytest.mark.book, pytest.mark.slow]


class TestSolutions(PagesInABrowser):
    group = "solutions"
