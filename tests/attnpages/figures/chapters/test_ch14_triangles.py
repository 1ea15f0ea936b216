import pytest
import torch

from attnpages.figures.chapters.ch14_triangles import plot_triangulations

SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.9]])
RIGHT, LACKS_ONE, OTHER = torch.tensor([0, 1, 3, 1, 2, 3, 4]), torch.tensor([3, 0, 1, 4]), torch.tensor([0, 1, 2, 4])


def styles(ax):
    """How many edges are drawn in each style."""
    edges = [line for line in ax.lines if len(line.get_xdata()) == 2]
    return sorted(line.get_linestyle() for line in edges)


def test_right_triangles_are_filled_other_edges_are_dashed_and_those_that_lack_dotted(looks_right):
    right, lacks, other = plot_triangulations(
        {"right": (SQUARE, RIGHT, RIGHT), "one triangle": (SQUARE, LACKS_ONE, RIGHT), "other": (SQUARE, OTHER, RIGHT)}
    )
    assert [len(ax.patches) for ax in (right, lacks, other)] == [2, 1, 0]
    assert styles(right) == ["-"] * 5
    assert sorted(styles(lacks)) == sorted(["-"] * 3 + [":"] * 2)
    assert sorted(styles(other)) == sorted(["--"] * 3 + [":"] * 3)
    assert right.get_title(loc="left") == "right"


@pytest.mark.parametrize("panels, columns", [({}, 1), ({"x": (SQUARE, RIGHT, RIGHT)}, 0)])
def test_nothing_to_draw_is_refused(panels, columns):
    with pytest.raises(ValueError, match="at least one"):
        plot_triangulations(panels, columns)
