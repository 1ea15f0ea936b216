import pytest

from attnpages.figures.chapters.ch14_search import plot_gap_by_trips


def test_each_line_has_the_means_the_bars_the_range_and_each_other_way_a_point(looks_right):
    drawn = {"network": {1: [2.0, 4.0], 16: [0.1, 0.2]}, "by hand": {1: [6.0], 4: [3.0]}}
    ax = plot_gap_by_trips(drawn, {"greedy": (1, 1.9)}, {"rule": 5.0})
    line, other = (container.lines[0] for container in ax.containers)
    assert line.get_xydata().tolist() == [[1, 3], [16, pytest.approx(0.15)]]
    assert other.get_xydata().tolist() == [[1, 6], [4, 3]]
    (point,) = [of for of in ax.lines if of.get_marker() == "D"]
    assert point.get_xydata().tolist() == [[1, 1.9]]
    bars = ax.containers[0].lines[2][0].get_segments()
    assert bars[0].tolist() == [[1, 2], [1, 4]]
    assert any(set(of.get_ydata()) == {5} for of in ax.lines)
    assert {"network", "by hand", "greedy", "rule"} == {text.get_text() for text in ax.texts}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "16"]
    assert ax.get_xscale() == ax.get_yscale() == "log"


@pytest.mark.parametrize(
    "drawn, others, rules",
    [
        ({}, {}, {}),
        ({"x": {}}, {}, {}),
        ({"x": {1: []}}, {}, {}),
        ({"x": {1: [0.0]}}, {}, {}),
        ({"x": {1: [1.0]}}, {"x": (1, 0.0)}, {}),
        ({"x": {1: [1.0]}}, {}, {"x": 0.0}),
    ],
)
def test_what_logarithmic_axes_cannot_show_is_refused(drawn, others, rules):
    with pytest.raises(ValueError, match="gaps above 0"):
        plot_gap_by_trips(drawn, others, rules)
