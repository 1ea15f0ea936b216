"""The built pages as Chromium shows them: on a desk and on a phone, by day and by night."""

import pytest
from browser import chromium, look_at

pytestmark = [pytest.mark.book, pytest.mark.slow]


@pytest.fixture(scope="module")
def seen(html, toc_files, tmp_path_factory):
    """What Chromium finds on each page of the contents."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    pages = [f"{name}.html" for name in toc_files]
    seen = look_at(html, pages, tmp_path_factory.mktemp("browser"), seconds=900)
    assert list(seen) == pages
    return seen


def faults(seen, kind):
    return {page: found[kind] for page, found in seen.items() if found[kind]}


def test_each_page_opens(seen):
    assert faults(seen, "errors") == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_moderate_or_serious_fault_of_accessibility(seen, theme):
    assert faults(seen, theme) == {}


def test_no_output_is_wider_than_its_column(seen):
    assert faults(seen, "wide") == {}


def test_what_goes_on_to_the_right_says_so(seen):
    assert faults(seen, "unsaid") == {}


def chapters(seen):
    return {page: found["heights"] for page, found in seen.items() if page.startswith("chapters/")}


def test_text_takes_more_of_a_chapter_than_code(seen):
    assert chapters(seen)
    assert {page: at for page, at in chapters(seen).items() if at["text"] <= at["code"]} == {}


SCREEN = 1080  # pixels, of a usual desktop


def test_the_first_figure_of_a_chapter_begins_within_two_screens(seen):
    assert {page: at["figure"] for page, at in chapters(seen).items() if not 0 < at["figure"] < 2 * SCREEN} == {}
