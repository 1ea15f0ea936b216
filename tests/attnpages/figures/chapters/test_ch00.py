"""The map of the book names the chapters that are there, and the grids show who may attend to whom."""

import json
import re
from pathlib import Path

import pytest
import torch
from matplotlib.patches import FancyArrowPatch
from without_a_lab import is_page

from attnpages.figures.chapters.ch00 import (
    ARROWS,
    CHAPTERS,
    ConceptMap,
    draw_three_steps,
    plot_answers,
    plot_learning,
    plot_needed,
    plot_pulls,
    plot_who_attends,
)

FOLDER = Path(__file__).parents[4] / "chapters"
NEEDS = re.compile(
    r"^You need (?!not )(.*?)(?:;|\.(?: |$)|, and for the section)", flags=re.M
)  # not what helps one section


def needed_by(number):
    """The chapters that a chapter's own box says a reader needs, without Chapter 0."""
    cells = json.loads((FOLDER / CHAPTERS[number].notebook).read_text(encoding="utf-8"))["cells"]
    said = NEEDS.search("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"))[1]
    return {int(found) for found in re.findall(r"\((\d\d)_\w+\.ipynb\)", said)} - {0}


def on_the_way_to(number):
    """All chapters from which arrows lead to a chapter, over others too."""
    before = {start for start, end in ARROWS if end == number}
    return before.union(*(on_the_way_to(start) for start in before))


def test_the_map_leads_to_each_chapter_that_is_there():
    there = {path.name for path in FOLDER.glob("*.ipynb") if not path.stem.startswith("00_") and not is_page(path.stem)}
    assert {one.notebook for one in CHAPTERS.values()} == there
    assert all(one.notebook.startswith(f"{number:02d}_") for number, one in CHAPTERS.items())


def test_each_box_has_a_place_of_its_own_and_its_words_fit():
    assert len({(one.column, one.row) for one in CHAPTERS.values()}) == len(CHAPTERS)
    assert all(len(one.title) <= 22 and len(one.idea) <= 31 for one in CHAPTERS.values())


@pytest.mark.parametrize("number", CHAPTERS)
def test_arrows_lead_from_what_a_chapter_says_that_it_needs(number):
    direct = {start for start, end in ARROWS if end == number}
    assert direct <= needed_by(number) <= on_the_way_to(number)


def test_no_arrow_repeats_a_longer_way():
    for start, end in ARROWS:
        others = {before for before, after in ARROWS if after == end} - {start}
        assert not any(start in on_the_way_to(other) for other in others)


def test_every_chapter_can_be_reached_from_the_first():
    reached = {1}
    for _ in CHAPTERS:
        reached |= {end for start, end in ARROWS if start in reached}
    assert reached == set(CHAPTERS)


def test_each_box_of_the_drawing_is_a_link():
    drawn = ConceptMap()._repr_html_()
    assert re.findall(r'<a href="(.+?)"', drawn) == [one.notebook for one in CHAPTERS.values()]
    assert drawn.count("marker-end") == len(ARROWS)


def test_in_words_the_map_names_chapters_and_arrows():
    assert "1 (Part I) The bottleneck: one vector per sentence" in repr(ConceptMap())
    assert "1 → 2" in repr(ConceptMap())


def test_the_three_steps_show_their_numbers(texts):
    key, value = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([[4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    shown = texts(draw_three_steps(torch.tensor([2.0, 1.0]), key, value))
    assert {"(2, 1)", "(1, 0)", "2", "1", "3", "0.245", "0.090", "0.665", "(4, 0)", "(3.64, 3.02)"} <= set(shown)


def test_three_steps_of_odd_shapes_are_refused():
    with pytest.raises(ValueError, match=r"shapes \(D,\), \(Tk, D\), \(Tk, Dv\); got \(2,\), \(3, 1\), \(3, 2\)"):
        draw_three_steps(torch.ones(2), torch.ones(3, 1), torch.ones(3, 2))


def test_each_score_pulls_the_context_towards_its_value():
    value, weights = torch.tensor([[4.0, 0.0], [0.0, 4.0], [4.0, 4.0]]), torch.tensor([0.25, 0.25, 0.5])
    ax = plot_pulls(value, weights)
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    starts, ends = zip(*(one._posA_posB for one in arrows), strict=True)
    assert set(starts) == {(3.0, 3.0)}  # the context
    assert ends == ((3.25, 2.25), (2.25, 3.25), (3.5, 3.5))
    assert [text.get_text() for text in ax.texts] == [
        *("$v_1$, weight 0.250", "$v_2$, weight 0.250", "$v_3$, weight 0.500"),
        "$c$",
    ]


@pytest.mark.parametrize(("value", "weights"), [((3, 3), 3), ((3, 2), 2), ((2,), 2)])
def test_pulls_of_odd_shapes_are_refused(value, weights):
    with pytest.raises(ValueError, match=r"must be \(Tk, 2\), \(Tk\); got"):
        plot_pulls(torch.ones(value), torch.ones(weights))


def test_open_cells_are_dark_and_words_stand_at_the_axes():
    mask = torch.tensor([[True, False], [True, True]])
    (ax, _) = plot_who_attends({"causal": mask}, {"causal": (["a", "b"], ["c", "d"])})
    assert (ax.images[0].get_array() > 0).tolist() == mask.tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["c", "d"]


def test_three_masks_stand_in_one_row():
    masks = {name: torch.ones(2, 2).bool() for name in "abc"}
    axes = plot_who_attends(masks, dict.fromkeys(masks, (["x", "y"], ["x", "y"])))
    assert [ax.get_title() for ax in axes] == ["a", "b", "c"]
    assert len({ax.get_position().y0 for ax in axes}) == 1


def test_a_legend_names_open_and_closed_cells():
    mask = torch.tensor([[True, False]])
    (ax, _) = plot_who_attends({"causal": mask}, {"causal": (["a"], ["c", "d"])}, legend=True)
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["may attend", "may not"]
    shown = ax.images[0].to_rgba(ax.images[0].get_array())[0]
    assert [box.get_facecolor() for box in legend.get_patches()] == [tuple(colour) for colour in shown]


def test_a_panel_without_names_is_refused():
    with pytest.raises(KeyError):
        plot_who_attends({"causal": torch.ones(2, 2)}, {})


def test_the_word_that_is_translated_is_dark_and_what_else_decides_its_form_is_pale():
    words = ["my", "brother", "yesterday"]
    ax = plot_needed(words, {"mein": ["my", "brother"], "Bruder": ["brother"], "gestern": ["yesterday"]})
    shown = ax.images[0].get_array()
    assert (shown > 0.5).tolist() == [[True, False, False], [False, True, False], [False, False, True]]
    assert [(row, column) for row in range(3) for column in range(3) if 0 < shown[row, column] < 0.5] == [(0, 1)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["mein", "Bruder", "gestern"]
    assert [label.get_text() for label in ax.get_xticklabels()] == words
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[1, 0]]]  # the dot, which is seen in grey, too


@pytest.mark.parametrize("needed", [{}, {"sind": ["locks"]}, {"sind": []}])
def test_words_that_are_not_in_the_sentence_are_refused(needed):
    with pytest.raises(ValueError, match="words of the sentence"):
        plot_needed(["the", "keys"], needed)


def test_each_kind_shows_its_weights_and_its_result():
    closed = torch.tensor([0.25, 0.75, torch.nan])
    ax = plot_answers({"soft": (torch.tensor([0.2, 0.1, 0.7]), "(2, 1)"), "local": (closed, "(3, 0)")}, ["a", "b", "c"])
    assert [text.get_text() for text in ax.texts] == ["0.20", "0.10", "0.70", "0.25", "0.75", "closed"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["soft", "local"]
    assert [label.get_text() for label in ax.child_axes[0].get_yticklabels()] == ["(2, 1)", "(3, 0)"]


@pytest.mark.parametrize("answers", [{}, {"soft": (torch.ones(2) / 2, "")}])
def test_kinds_without_one_weight_per_key_are_refused(answers):
    with pytest.raises(ValueError, match="3 weights, one per key"):
        plot_answers(answers, ["a", "b", "c"])


def test_a_training_shows_its_curves_and_the_weights_of_one_query():
    curves = {"soft": {0: [0.1, 0.2], 50: [0.9, 1.0]}, "best": {0: [0.1, 0.1], 50: [0.2, 0.1]}}
    left, right = plot_learning(curves, {0: torch.tensor([0.4, 0.6]), 50: torch.tensor([0.0, 1.0])}, ["Ada", "Ben"])
    assert left.get_xlabel() == "training step"
    assert [text.get_text() for text in right.texts] == [".40", ".60", ".00", "1"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["0", "50"]


def test_weights_that_fit_no_pairs_are_refused():
    with pytest.raises(ValueError, match="2 weights, one per pair"):
        plot_learning({"soft": {0: [0.1]}}, {0: torch.ones(3) / 3}, ["Ada", "Ben"])
