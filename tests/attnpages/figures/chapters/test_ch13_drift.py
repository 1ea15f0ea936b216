"""The strips of a head that waits: which rows and steps are shown, and what is refused."""

import pytest
import torch

from attnpages.figures.chapters.ch13_drift import draw_drift


def test_a_strip_shows_the_rows_around_row_0_and_counts_the_steps_from_the_mark(looks_right, texts):
    waits, drifts = torch.eye(6)[[0, 0, 0, 1]], torch.eye(6)[[0, 5, 5, 0]]
    axes = draw_drift({"one": waits, "another": drifts}, range(-2, 2), 2, ["empty", "empty", "first", "second"])
    looks_right(axes[1])
    assert [ax.get_title(loc="left") for ax in axes] == ["one", "another"]
    cells = axes[1].images[0]
    assert cells.get_array().T.tolist() == [[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert cells.get_extent() == [-2.5, 1.5, 3.5, -0.5]
    named = [label.get_text() for label in axes[0].get_yticklabels()]
    assert named == ["4: empty", "5: empty", "0: first", "1: second"]
    dashed, circle = axes[0].lines
    assert dashed.get_xdata()[0] == -0.5
    assert circle.get_ydata()[0] == 1.5  # between the last row and row 0
    assert "time steps from the end mark" in texts(axes[1])


@pytest.mark.parametrize("panels, mark, said", [
    ({}, 0, "panels is empty"), ({"a": torch.eye(3)}, 3, "mark must be one of the 3 steps, got 3"),
    ({"a": torch.eye(3), "b": torch.eye(4)}, 0, "the panels must have the same shape"),
])  # fmt: skip
def test_what_has_no_steps_or_other_ones_is_not_drawn(panels, mark, said):
    with pytest.raises(ValueError, match=said):
        draw_drift(panels, range(2), mark, ["", ""])
