"""What a chapter must carry to be shown."""

import pytest
from nbformat import from_dict

from coursekit import chapterrules
from coursekit.chapterrules import chapter_problems, repeated_figure_names, stored_problems
from coursekit.execute import execute
from coursekit.notebooks import images, read


@pytest.fixture
def chapter(project, change):
    """The chapter as `coursekit execute` would leave it, without the two seconds of a kernel."""

    def run(cells, notebook):
        notebook.metadata = from_dict({**read_about(notebook), **KERNEL})
        for count, name in enumerate(("claim", "count", "draw"), start=1):
            cells[name].execution_count = count
        cells["draw"].outputs = [from_dict(PICTURE)]

    change(project.chapters[0], run)
    return project.chapters[0]


def read_about(notebook) -> dict:
    return {"attnbook": notebook.metadata.attnbook}


KERNEL = {"kernelspec": chapterrules.normalise(from_dict({"metadata": {}, "cells": []})).metadata.kernelspec}
KERNEL["language_info"] = chapterrules.normalise(from_dict({"metadata": {}, "cells": []})).metadata.language_info
PICTURE = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}


def problems_after(chapter, change, function) -> str:
    change(chapter, function)
    return "\n".join(chapter_problems(chapter))


def test_a_whole_chapter_has_no_problems(chapter):
    assert chapter_problems(chapter) == []


@pytest.mark.slow
def test_what_execute_stores_has_no_problems(project):
    execute(project.chapters[0])
    assert chapter_problems(project.chapters[0]) == []
    assert images(read(project.chapters[0]).cells[3]) == 1


def test_a_cell_that_did_not_run_is_named(chapter, change):
    found = problems_after(chapter, change, lambda cells, _: cells["count"].update(execution_count=None))
    assert "cells without a run, from count on" in found


def test_a_chapter_run_by_hand_is_to_be_executed(chapter, change):
    found = problems_after(chapter, change, lambda cells, _: cells["count"].update(execution_count=17))
    assert "not stored in the course's form" in found


def test_a_stored_error_is_named(chapter, change):
    error = {"output_type": "error", "ename": "ValueError", "evalue": "x", "traceback": []}
    found = problems_after(chapter, change, lambda cells, _: cells["count"].update(outputs=[from_dict(error)]))
    assert found == "cell count: a stored error: ValueError"


def test_an_address_that_changes_with_each_run_is_named(chapter, change):
    shown = {"output_type": "stream", "name": "stdout", "text": "<function f at 0x7f3a12345678>\n"}
    found = problems_after(chapter, change, lambda cells, _: cells["count"].update(outputs=[from_dict(shown)]))
    assert "shows an address" in found


def test_what_a_last_line_returned_by_the_way_is_named(chapter, change):
    shown = {
        "output_type": "execute_result",
        "data": {"text/plain": "<All keys matched successfully>"},
        "metadata": {},
        "execution_count": 2,
    }
    found = problems_after(chapter, change, lambda cells, _: cells["count"].update(outputs=[from_dict(shown)]))
    assert (
        found == "cell count: shows what its last line returned, <All keys matched successfully>: end this line with ;"
    )


@pytest.mark.parametrize("place, key, words", [
    ("figure", "caption", "a picture without caption"),
    ("figure", "name", "a picture without name"),
    ("image", "alt", "a picture without alt text"),
])  # fmt: skip
def test_a_picture_needs_caption_name_and_alt_text(chapter, change, place, key, words):
    assert words in problems_after(chapter, change, lambda cells, _: cells["draw"].metadata.mystnb[place].pop(key))


def test_a_picture_of_a_solution_needs_a_caption_too(chapter, change):
    """A solved lab is looked at by `stored_problems`, which asks the same of it."""
    change(chapter, lambda cells, _: cells["draw"].metadata.mystnb.pop("figure"))
    assert "cell draw: a picture without caption" in stored_problems(chapter)


def test_two_pictures_under_one_caption_are_a_problem(chapter, change):
    two = [from_dict(PICTURE), from_dict(PICTURE)]
    assert "2 pictures in one cell" in problems_after(
        chapter, change, lambda cells, _: cells["draw"].update(outputs=two)
    )


def test_a_caption_without_a_picture_is_a_problem(chapter, change):
    assert "stored no picture" in problems_after(chapter, change, lambda cells, _: cells["draw"].update(outputs=[]))


@pytest.mark.parametrize("markup", ["![](a.svg)", "![ ](a.svg)", '<img src="a.svg">'])
def test_a_picture_in_the_prose_needs_alt_text(chapter, change, markup):
    assert "no alt text" in problems_after(chapter, change, lambda cells, _: cells["title"].update(source=markup))


def test_a_picture_in_the_prose_with_alt_text_is_fine(chapter, change):
    both = '![a line](a.svg) <img src="a.svg" alt="a line">'
    assert problems_after(chapter, change, lambda cells, _: cells["title"].update(source=both)) == ""


def test_a_chapter_that_grew_too_large_is_a_problem(chapter, monkeypatch):
    monkeypatch.setattr(chapterrules, "LARGEST", 100)
    assert "MB stored; the limit is" in chapter_problems(chapter)[0]


def test_a_chapter_says_its_title(chapter, change):
    assert "attnbook.title" in problems_after(chapter, change, lambda _, nb: nb.metadata.attnbook.pop("title"))


def test_a_chapter_says_no_minutes_because_they_are_computed(chapter, change):
    assert problems_after(chapter, change, lambda _, nb: nb.metadata.attnbook.pop("minutes", None)) == ""


def test_a_figure_name_may_stand_once_in_the_book(chapter):
    assert repeated_figure_names([chapter]) == []
    assert repeated_figure_names([chapter, chapter]) == ["figure name fig-line stands 2 times"]
