"""The maps of what positions contribute to scores."""

import pytest
import torch

from attnpages.figures.chapters.ch08_maps import plot_position_scores


def test_each_kind_has_a_map_with_its_name_and_values():
    first, second = torch.arange(9.0).view(3, 3), torch.eye(3)
    drawn = plot_position_scores({"added": {"table": first}, "in the score": {"bias": second}})
    assert [ax.get_title() for ax in drawn] == ["table", "bias"]
    assert [ax.get_ylabel() for ax in drawn] == ["query", "query"]
    assert [ax.images[0].get_array().tolist() for ax in drawn] == [first.tolist(), second.tolist()]


@pytest.mark.parametrize(
    "rows", [{}, {"added": {}}, {"a": {"x": torch.eye(2)}, "b": {"y": torch.eye(2), "z": torch.eye(2)}}]
)
def test_rows_of_different_lengths_are_refused(rows):
    with pytest.raises(ValueError, match="same number of maps"):
        plot_position_scores(rows)


def test_a_map_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="must be square"):
        plot_position_scores({"added": {"table": torch.ones(2, 3)}})
