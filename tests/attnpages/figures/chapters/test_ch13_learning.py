"""The heads during training: cells for each stage, dots for the long list, and what is refused."""

import pytest
import torch

from attnpages.figures.chapters.ch13_learning import draw_learning


def weights(rows):
    """Each head with all its weight on one row per step: (T, 2, 6), the read head's rows and the write head's."""
    return torch.eye(6)[torch.tensor(rows)].transpose(0, 1)


def test_each_stage_shows_the_write_head_above_the_read_head_and_the_long_list_as_dots(looks_right, texts):
    one = weights([[0, 0, 0, 1], [2, 3, 4, 4]])
    blurred = torch.full((6, 2, 6), 1 / 6)
    blurred[1, 1] = torch.eye(6)[5]
    axes = draw_learning({"step 1": one, "step 2": one}, "long", blurred)
    looks_right(axes[1, 0])
    assert axes.shape == (2, 3)
    assert axes[0, 1].images[0].get_array().argmax(axis=0).tolist() == [2, 3, 4, 4]
    assert axes[1, 1].images[0].get_array().argmax(axis=0).tolist() == [0, 0, 0, 1]
    dots, mark = axes[0, 2].lines
    assert (dots.get_xdata().tolist(), dots.get_ydata().tolist()) == ([1], [5])
    assert mark.get_xdata()[0] == 2.5  # in front of the fourth of six steps
    assert len(axes[1, 2].lines[0].get_xdata()) == 0
    assert [ax.get_title() for ax in axes[0]] == ["step 1", "step 2", "long"]
    assert "write head:\nrow of memory" in texts(axes[0, 0])


@pytest.mark.parametrize("stages, far", [
    ({}, torch.ones(4, 2, 6)), ({"a": torch.ones(4, 6)}, torch.ones(4, 2, 6)),
    ({"a": torch.ones(5, 2, 6)}, torch.ones(4, 2, 6)),
])  # fmt: skip
def test_what_is_no_weights_of_two_heads_is_not_drawn(stages, far):
    with pytest.raises(ValueError, match=r"give weights \(T, 2, N\)"):
        draw_learning(stages, "long", far)
