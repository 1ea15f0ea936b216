import pytest

from attnpages.figures.chapters.ch14_search import plot_gap_by_trips


def test_the_line_has_the_means_the_bars_the_range_and_each_other_way_a_point(looks_right):
    ax = plot_gap_by_trips({1: [2.0, 4.0], 16: [0.1, 0.2]}, {"greedy": (1, 1.9), "beam": (4, 0.2)}, {"rule": 5.0})
    line, *points = [drawn for drawn in ax.lines if drawn.get_marker() in ("o", "D")]
    assert line.get_xydata().tolist() == [[1, 3], [16, pytest.approx(0.15)]]
    assert [point.get_xydata().tolist() for point in points] == [[[1, 1.9]], [[4, 0.2]]]
    bars = ax.containers[0].lines[2][0].get_segments()
    assert bars[0].tolist() == [[1, 2], [1, 4]]
    (rule,) = [drawn for drawn in ax.lines if drawn.get_linestyle() == "--"]
    assert set(rule.get_ydata()) == {5}
    assert {"greedy", "beam", "rule"} < {text.get_text() for text in ax.texts}
    assert ax.get_xscale() == ax.get_yscale() == "log"


@pytest.mark.parametrize(
    "drawn, others, rules",
    [
        ({}, {}, {}),
        ({1: []}, {}, {}),
        ({1: [0.0]}, {}, {}),
        ({1: [1.0]}, {"x": (1, 0.0)}, {}),
        ({1: [1.0]}, {}, {"x": 0.0}),
    ],
)
def test_what_logarithmic_axes_cannot_show_is_refused(drawn, others, rules):
    with pytest.raises(ValueError, match="gaps above 0"):
        plot_gap_by_trips(drawn, others, rules)
