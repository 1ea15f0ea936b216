import pytest
import torch

from attnpages.figures.chapters.ch16_reach import plot_from_query, plot_read_and_exchanged


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


def test_wide_images_use_the_width_of_the_page():
    (square, _), (wide, _) = (
        plot_from_query([(torch.rand(3, 8, across), (1, 2), {"a": torch.rand(4, across // 2)})]) for across in (8, 32)
    )
    sizes = [ax.figure.get_size_inches().tolist() for ax in (square, wide)]
    assert sizes[0] == pytest.approx([4.6, 2.8])
    assert sizes[1] == pytest.approx([6.5, 0.2 + 3.25 / 4 + 0.3])


def test_maps_stand_above_the_canvases_that_are_compared():
    weights, canvases = torch.rand(4, 16), torch.rand(3, 8, 32)
    query = (torch.rand(3, 8, 32), (2, 14), {"weights": weights})
    axes = plot_read_and_exchanged([query, query], {"before": canvases, "after": 1 - canvases})
    assert len(axes) == 2 * 2 + 2 * 3
    assert axes[1].images[0].get_array().tolist() == weights.tolist()
    assert axes[4].images[0].get_array().tolist() == canvases[0].tolist()
    axes[0].figure.canvas.draw()
    assert axes[0].get_window_extent().y0 > axes[4].get_window_extent().y1


def test_a_query_has_one_map_and_the_rows_equally_many_canvases():
    weights, canvases = torch.rand(4, 16), torch.rand(3, 8, 32)
    one, two = ((torch.rand(3, 8, 32), (2, 14), maps) for maps in ({"a": weights}, {"a": weights, "b": weights}))
    for queries, rows in (([two], {"a": canvases}), ([one], {"a": canvases, "b": canvases[:2]}), ([], {"a": canvases})):
        with pytest.raises(ValueError, match="one map each"):
            plot_read_and_exchanged(queries, rows)
