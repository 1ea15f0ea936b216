import pytest
import torch
from matplotlib.colors import to_rgb

from attnpages.figures.chapters.ch16_reach import draw_reach, plot_from_query
from attnpages.figures.palette import BLUE


def test_each_convolution_reaches_one_position_further_and_attention_all():
    axes = draw_reach(layers=3, side=4)
    known = [sum(cell.get_facecolor()[:3] == to_rgb(BLUE) for cell in ax.patches) for ax in axes]
    assert known == [1, 4, 9, 16, 16]
    assert [ax.get_title() for ax in axes][1:3] == ["1 convolution", "2 convolutions"]


def test_the_position_that_attends_is_framed_in_the_image_and_in_each_map():
    weights = torch.rand(4, 4)
    axes = plot_from_query(
        [(torch.rand(3, 8, 8), (0, 3), {"a": weights}), (torch.rand(3, 8, 8), (3, 0), {"b": weights})]
    )
    assert len(axes) == 4
    assert axes[1].images[0].get_array().tolist() == weights.tolist()
    assert [ax.patches[-1].get_xy() for ax in axes] == [(6, 0), (6, 0), (0, 6), (0, 6)]
    assert [ax.get_title(loc="left") for ax in axes] == ["query", "a", "query", "b"]


def test_rows_have_equally_many_maps():
    image, weights = torch.rand(3, 8, 8), torch.rand(4, 4)
    with pytest.raises(ValueError, match="equally many maps"):
        plot_from_query([(image, (0, 0), {"a": weights}), (image, (0, 0), {"a": weights, "b": weights})])
