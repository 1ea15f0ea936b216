"""What Chromium must find on the built pages, written once: `tests/book/test_browser_….py` only name their pages.

The pages lie in groups, one file of tests for each, because a worker of pytest-xdist takes whole files: so the workers
share the pages of one built book. The groups are made of the captions in the table of contents.
"""

from collections.abc import Sequence

import pytest
from browser import chromium, look_at

# The words that a caption in `book/_toc.yml` begins with; the last group takes every page that no other has.
GROUPS = {"part_1": "Part I.", "part_2": "Part II.", "solutions": "Solutions of the labs", "others": ""}
SCREEN = 1080  # pixels, of a usual desktop


def pages_of(group: str, toc_parts: Sequence[tuple[str, list[str]]]) -> list[str]:
    """The pages of a group, in the order of the contents, as paths in the built book.

    Args:
        group: a key of GROUPS. toc_parts: each part's caption, and its files without their endings.
    """
    return [f"{file}.html" for caption, files in toc_parts if group_of(caption) == group for file in files]


def group_of(caption: str) -> str:
    """The first group whose words the caption begins with; those of the last group are none."""
    return next(group for group, words in GROUPS.items() if caption.startswith(words))


def faults(seen: dict[str, dict], kind: str) -> dict[str, list]:
    """The faults of one kind by page, where there are any."""
    return {page: found[kind] for page, found in seen.items() if found[kind]}


def chapters(seen: dict[str, dict]) -> dict[str, dict]:
    """The heights on each page that is a chapter."""
    return {page: found["heights"] for page, found in seen.items() if page.startswith("chapters/")}


class PagesInABrowser:
    """Subclass it, and name the `group`."""

    group: str

    @pytest.fixture(scope="class")
    def seen(self, html, toc_parts, tmp_path_factory):
        """What Chromium finds on each page of the group."""
        if chromium() is None:
            pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
        pages = pages_of(self.group, toc_parts)
        seen = look_at(html, pages, tmp_path_factory.mktemp("browser"), seconds=900)
        assert list(seen) == pages
        return seen

    def test_each_page_opens(self, seen):
        assert faults(seen, "errors") == {}

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_no_page_has_a_moderate_or_serious_fault_of_accessibility(self, seen, theme):
        assert faults(seen, theme) == {}

    def test_no_output_is_wider_than_its_column(self, seen):
        assert faults(seen, "wide") == {}

    def test_what_goes_on_to_the_right_says_so(self, seen):
        assert faults(seen, "unsaid") == {}


class ChaptersInABrowser(PagesInABrowser):
    """The same for a group that has chapters."""

    def test_text_takes_more_of_a_chapter_than_code(self, seen):
        assert chapters(seen)
        assert {page: at for page, at in chapters(seen).items() if at["text"] <= at["code"]} == {}

    def test_the_first_figure_of_a_chapter_begins_within_two_screens(self, seen):
        late = {page: at["figure"] for page, at in chapters(seen).items() if not 0 < at["figure"] < 2 * SCREEN}
        assert late == {}
