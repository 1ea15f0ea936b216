import pytest

from attnpages.figures.chapters.ch09_stream import draw_layer_by_hand, plot_blocks, written

STREAM = [(2.0, 4.0), (0.75, 4.0), (0.75, 5.41)]
INSIDE = [((-1.0, 1.0), (-1.25, 0.0)), ((-1.0, 1.0), (0.0, 1.41))]
NAMES, NOTES = ["self-attention", "feed-forward"], ["weights 0.94 and 0.06", "negative numbers become 0"]


def test_a_vector_is_written_as_on_paper():
    assert written([-1.4142, 0.0, -0.001, 4.0, 7.25]) == "(−1.41, 0, 0, 4, 7.25)"


def test_each_vector_of_the_stream_and_of_the_sublayers_is_written(texts):
    ax = draw_layer_by_hand(STREAM, INSIDE, NAMES, NOTES)
    shown = texts(ax)
    vectors = [*STREAM, *(vector for pair in INSIDE for vector in pair)]
    assert {written(vector) for vector in vectors} | {*NAMES, *NOTES, "+", "layer norm"} <= set(shown)
    with pytest.raises(ValueError, match="2 sublayers need one vector more, got 2"):
        draw_layer_by_hand(STREAM[:2], INSIDE, NAMES, NOTES)


def test_blocks_have_a_bar_per_name_and_a_cut_bar_bears_its_number(texts):
    panels = {"nats": {"cost": [[8.0, 0.5], [6.0, 0.7]]}, "terms": {"a": [[1.0, 2], [3, 4]], "b": [[0.0, 1], [2, 1]]}}
    costs, terms = plot_blocks(panels, most=3)
    assert costs.get_ylim()[1] == 3
    assert "← 7.0" in texts(costs)
    assert [bar.get_height() for bar in costs.patches] == [7.0, 0.6]
    assert [bar.get_height() for bar in terms.patches] == [2.0, 3.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="panels is empty"):
        plot_blocks({})
