"""The pages of the reference, of the real packages."""

import re
from pathlib import Path

import pytest

from coursekit.interface.definitions import modules_of
from coursekit.interface.pages import FOLDER, ROOMS, Interface, where
from coursekit.interface.uses import Use
from coursekit.project import Project

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def interface() -> Interface:
    return Interface(Project(ROOT))


def test_each_page_is_there_with_a_place_for_its_entries_and_in_the_contents():
    contents = (ROOT / "book/_toc.yml").read_text(encoding="utf-8")
    for page in ROOMS:
        assert "{{ interface }}" in (ROOT / FOLDER / f"{page}.md").read_text(encoding="utf-8")
        assert f"file: {FOLDER}/{page}\n" in contents


def test_every_name_that_a_package_exports_has_an_entry_with_words(interface):
    entries = {
        one.path: one for modules in interface.modules.values() for module in modules for one in module.definitions
    }
    for package in ("attnbook", "misread"):
        for module in modules_of(ROOT / "utils", package):
            exported = [one.path for one in module.definitions if one.home != one.module]
            assert set(exported) <= entries.keys()
    assert [path for path, one in entries.items() if not one.words] == []
    assert {
        "attnbook.attention.attend",
        "attnbook.seeding.seed_everything",
        "misread.exercise.Exercise",
    } <= entries.keys()


def test_an_entry_says_what_it_takes_and_which_chapter_explains_it(interface):
    text = interface.text("attention")
    entry = text[text.index(".. py:function:: attend(") :].split("\n.. py:")[0]
    assert ":module: attnbook.attention\n   :canonical: attnbook.attention.core.attend\n" in entry
    assert ":Raises:" in entry
    assert re.search(r"(Explained|Used) in :ref:`Chapter \d+ <sec-", entry)


def test_chapters_that_show_the_source_come_first_and_evidence_only_where_no_chapter_is():
    shown, used = Use("chapters/03_scores", "sec-03-a", True), Use("chapters/02_bahdanau", "", False)
    proof = Use("chapters/13_ntm_evidence", "", False)
    assert where([used, shown, proof]) == [
        "Explained in :ref:`Chapter 3 <sec-03-a>`. Used in :doc:`Chapter 2 </chapters/02_bahdanau>`."
    ]
    assert where([proof]) == ["Used in :doc:`Chapter 13, evidence </chapters/13_ntm_evidence>`."]
    assert where([]) == []


def test_a_page_begins_with_one_line_per_name(interface):
    for page, modules in interface.modules.items():
        names = [one.path for module in modules for one in module.definitions]
        table = interface.text(page).split("````")[1]
        assert re.findall(r"\* - :py:obj:`\w+ <([\w.]+)>`\n     - \S", table) == names
    assert "`attend <attnbook.attention.attend>`\n     - " in interface.text("attention")
