"""Each page is looked at in a browser, once: the groups of pages leave none out, and each has its file of tests."""

from pathlib import Path

import pytest
from seen_pages import GROUPS, group_of, pages_of

HERE = Path(__file__).parent


def test_each_page_of_the_contents_is_in_one_group(toc_files, toc_parts):
    grouped = [page for group in GROUPS for page in pages_of(group, toc_parts)]
    assert sorted(grouped) == sorted(f"{name}.html" for name in toc_files)


def test_each_group_has_pages_and_a_file_of_tests(toc_parts):
    assert all(pages_of(group, toc_parts) for group in GROUPS)
    files = {path.stem.removeprefix("test_browser_"): path for path in HERE.glob("test_browser_*.py")}
    assert set(files) == {*GROUPS, "groups", "finds"}
    assert all(f'group = "{group}"' in files[group].read_text(encoding="utf-8") for group in GROUPS)


@pytest.mark.parametrize("caption, group", [
    ("Part I. A", "part_1"), ("Part II. B", "part_2"), ("Part III. C", "others"), ("", "others"),
])  # fmt: skip
def test_a_caption_says_to_which_group_its_pages_belong(caption, group):
    assert group_of(caption) == group
