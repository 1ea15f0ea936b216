import pytest
import torch

from attnpages.figures.chapters.ch13_machine import draw_machine, draw_read_and_write, draw_rows, draw_tape

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


def test_a_second_line_above_a_panel_says_what_the_controller_gives(looks_right):
    titles = [
        "1: content\n$k = e$, $\\beta = 10$",
        "2: mixed\n$g = 0.75$",
        "3: shifted\n$s = 0, 0.1, 0.9$",
        "4: sharpened",
    ]
    axes = draw_rows({title: [0.0, 0.5, 0.25, 0.25] for title in titles}, memory=torch.eye(4)[:, :3])
    looks_right(axes[0])
    assert [ax.get_title() for ax in axes] == titles


def test_the_part_of_a_bar_that_comes_from_the_old_weights_is_hatched(looks_right):
    mixed, shifted = draw_rows(COLUMNS, old={"mixed": [0, 0, 0, 0.25]})
    looks_right(mixed)
    hatched = [bar for bar in mixed.patches if bar.get_hatch()]
    assert [(bar.get_x(), bar.get_width()) for bar in hatched] == [(0, 0.25)]
    assert not any(bar.get_hatch() for bar in shifted.patches)
    (legend,) = mixed.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["from the weights before"]


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


def test_between_the_heads_stands_what_each_row_holds(looks_right):
    write, read, held = torch.eye(8)[[0, 1]], torch.eye(8)[[0, 0]], [["a", *[""] * 7], ["a", "b", *[""] * 6]]
    tape = draw_tape(["a", "b"], ["", "a"], write, read, held=held)
    looks_right(tape[2])
    letters = [(text.get_text(), *text.get_position()) for text in tape[1].texts if text.get_text()]
    assert letters == [("a", 0, 0), ("a", 1, 0), ("b", 1, 1)]
    assert tape[1].get_ylabel() == "memory:\nrow"
    with pytest.raises(ValueError, match="the letters of 8 rows, got 2"):
        draw_tape(["a", "b"], ["", "a"], write, read, held=[["a", "b"], ["a", "b"]])


def test_a_read_and_a_write_show_the_memory_the_weights_and_what_comes_out(looks_right):
    memory, reads, writes = torch.eye(4)[:, :3], [0, 0.5, 0.25, 0.25], [0, 0, 0.25, 0.75]
    read, write = draw_read_and_write(memory, reads, writes, 0.5 * memory, 0.25 + memory, names=["", "a", "b", ""])
    looks_right(write[1])
    assert [ax.get_title() for ax in read] == ["memory", "read head", "weight × row", "their sum"]
    assert [ax.get_title() for ax in write] == ["memory", "write head", "1: erased", "2: added"]
    assert [text.get_text() for text in read[3].texts] == ["0", "0.5", "0.25"]
    assert {text.get_position()[1] for text in read[3].texts} == {1.5}  # in the middle of the four rows
    assert [text.get_text() for text in write[1].texts] == ["0.00", "0.00", "0.25", "0.75"]
    assert [text.get_text() for text in write[2].texts[:4]] == ["0.5", "0", "0", "0"]
    assert [label.get_text() for label in write[0].get_yticklabels()] == ["0", "1 a", "2 b", "3"]
    with pytest.raises(ValueError, match=r"as many rows, got \[4, 4, 3, 4, 4\]"):
        draw_read_and_write(memory, reads, writes, memory, memory[:3])


def test_the_machine_names_what_each_arrow_carries(texts):
    assert {"1: write", "2: read", r"$k, \beta, g, s, \gamma$"} <= set(texts(draw_machine()))
