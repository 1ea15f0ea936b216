import pytest
import torch

from attnpages.figures.chapters.ch13_machine import draw_contents, draw_rows, draw_tape

COLUMNS = {"mixed": [0.5, 0.0, 0.25, 0.25], "shifted": [0.25, 0.5, 0.0, 0.25]}


def test_each_row_shows_its_number_in_each_panel(looks_right, texts):
    axes = draw_rows(COLUMNS, memory=torch.eye(4)[:, :3])
    looks_right(axes[0])
    assert [ax.get_title() for ax in axes] == ["mixed", "shifted"]
    assert [text.get_text() for text in axes[0].texts] == ["0.50", "0.00", "0.25", "0.25"]
    assert texts(axes[0]).count("memory") == 1
    assert axes[0].get_xlabel() == "weight"
    assert axes[0].yaxis_inverted()


def test_rows_are_named_by_what_they_hold():
    axes = draw_rows(COLUMNS, names=["", "a", "b", ""])
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["0", "1 a", "2 b", "3"]
    with pytest.raises(ValueError, match="give a name for each row"):
        draw_rows(COLUMNS, names=["a"])


def test_what_has_other_rows_is_not_drawn():
    with pytest.raises(ValueError, match="columns is empty"):
        draw_rows({})
    with pytest.raises(ValueError, match="must have the same rows"):
        draw_rows({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="must have the same rows"):
        draw_rows({"a": [1, 2]}, memory=torch.eye(3))


def test_the_tape_names_what_is_written_and_what_is_read_before_its_output(looks_right, texts):
    write, read = torch.eye(5)[[0, 0, 1, 2, 3]], torch.eye(5)[[0, 0, 0, 0, 1]]
    tape = draw_tape(["start", "a", "b", "end", "next"], ["", "", "", "", "a"], write, read, lead=1)
    looks_right(tape[1])
    assert [(text.get_text(), *text.get_position()) for text in tape[0].texts] == [("a", 1, 0), ("b", 2, 1)]
    assert [(text.get_text(), *text.get_position()) for text in tape[1].texts] == [("a", 3, 0)]
    assert texts(tape[0]).count("input") == texts(tape[0]).count("output") == 1
    with pytest.raises(ValueError, match="give 2 outputs and weights of as many steps, got 1"):
        draw_tape(["a", "b"], [""], torch.eye(2), torch.eye(2))
    with pytest.raises(ValueError, match="as many steps"):
        draw_tape(["a", "b"], ["", ""], torch.eye(2), torch.ones(2, 3))


def test_the_contents_show_each_row_with_its_letter_and_where_the_head_is(looks_right):
    memory = torch.eye(3).expand(4, 3, 3)
    weights = torch.tensor([[1.0, 0, 0], [0.2, 0.8, 0], [0, 1, 0], [0, 0, 1]])
    vectors = {name: torch.full((4, 3), number) for name, number in (("erase", 1.0), ("add", -0.5), ("read", 0.5))}
    steps = [("a", ""), ("b", ""), ("end", ""), ("next", "a")]
    held = [["a", "", ""], ["a", "b", ""], ["a", "b", ""], ["a", "b", ""]]
    tapes = draw_contents(steps, memory, weights, vectors, held, end=2)
    looks_right(tapes[0])
    beside = [tape.child_axes[0].get_yticklabels() for tape in tapes]
    assert [[label.get_text() for label in labels] for labels in beside] == held
    assert [[line.get_ydata()[0] for line in tape.lines] for tape in tapes] == [[0], [0, 1], [1], [2]]
    assert [line.get_alpha() for line in tapes[1].lines] == pytest.approx([0.2, 0.8])
    with pytest.raises(ValueError, match="same number of steps"):
        draw_contents(steps, memory[:3], weights, vectors, held, end=2)
    with pytest.raises(ValueError, match="on both sides of end"):
        draw_contents(steps, memory, weights, vectors, held, end=4)


def test_each_column_of_the_contents_shows_its_strips_with_their_numbers():
    memory, weights = torch.eye(3).expand(3, 3, 3), torch.eye(3)
    vectors = {name: number * torch.eye(3) for name, number in (("erase", 0.5), ("add", -1.0), ("read", 0.25))}
    steps = [("a", ""), ("end", ""), ("next", "a")]
    tapes = draw_contents(steps, memory, weights, vectors, [["a", "", ""]] * 3, end=1)
    figures = [tape.figure for tape in tapes]
    strips = {id(ax): ax for half in figures for ax in half.axes if ax.images and ax not in tapes}.values()
    shown = [ax.images[0].get_array().ravel().tolist() for ax in strips]
    assert shown == [[0.5, 0, 0], [-1, 0, 0], [0, 0.25, 0], [0, 0, 0.25]]  # erase, add at a; read at end, read at next
    assert [ax.images[0].get_clim() for ax in strips] == [(0, 1), (-1, 1), (-1, 1), (-1, 1)]
    named = [[label.get_text().strip() for label in ax.get_yticklabels()] for ax in strips]
    assert named == [["erase"], ["add"], ["read"], []]  # the first column of a half names its rows
    assert [ax.get_xlabel() for ax in strips] == ["", "", "output: –", "output: a"]
    assert tapes[0].get_xlabel() == "3 features"
    assert [ax.get_title() for ax in (*list(strips)[:1], *tapes[1:])] == ["input: a", "input: end", "input: next"]
