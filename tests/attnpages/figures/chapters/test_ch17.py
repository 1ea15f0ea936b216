import pytest

from attnpages.figures.chapters.ch17 import (
    Spread,
    mark_right,
    plot_hands,
    plot_panels,
    plot_two_steps,
    plot_ways,
    plot_weights,
)
from attnpages.figures.curves import plot_by_length


def test_panels_share_one_legend_and_have_their_own_titles():
    curves = {"one training": {2: [1.0, 0.9], 24: [0.5, 0.3]}}
    axes = plot_panels({"learned": curves, "none": curves}, "letters", "share", "trained", columns=2, each=True)
    assert [ax.get_title(loc="left") for ax in axes] == ["learned", "none"]
    assert [line.get_ydata().tolist() for line in axes[1].lines] == [[1.0, 0.5], [0.9, 0.3]]
    assert all(ax.get_legend() is None for ax in axes)
    (legend,) = axes[0].get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["one training", "trained"]
    with pytest.raises(ValueError, match="panels is empty"):
        plot_panels({}, "letters", "share", "trained")


def test_the_key_that_agrees_in_most_letters_has_the_thickest_arc():
    ax = plot_two_steps("|abacad|abaca", [2, 4, 6])
    widths = [line.get_linewidth() for line in ax.lines]
    assert widths == pytest.approx([1.3, 2.6, 3.9])
    assert [line.get_xdata()[[0, -1]].tolist() for line in ax.lines] == [[12, 2], [12, 4], [12, 6]]
    words = [text.get_text() for text in ax.texts]
    assert words[:13] == list("|abacad|abaca")
    assert words[13:16] == ["a", "c", "a"]
    assert [word for word in words if word in "123"] == ["1", "2", "3"]
    with pytest.raises(ValueError, match="letter before them"):
        plot_two_steps("aba", [0])


def test_hands_agree_where_the_query_was_turned_back_to():
    axes = plot_hands({"fast": (1.0, 1), "slow": (0.1, 1), "unturned": (1.0, 0)}, [0, 1, 4])
    assert [ax.get_title() for ax in axes] == ["0 back", "1 back", "4 back", *6 * [""]]
    said = [ax.get_xlabel() for ax in axes]
    assert said == [
        f"cosine {number}" for number in ("0.54", "1.00", "−0.99", "1.00", "1.00", "0.96", "1.00", "0.54", "−0.65")
    ]
    query, key = axes[1].lines
    assert query.get_xydata() == pytest.approx(key.get_xydata())
    assert axes[2].lines[1].get_xdata()[1] < 0 < axes[0].lines[1].get_xdata()[1]  # clockwise: behind is left of noon
    assert [axes[i].get_ylabel() for i in (0, 3, 6)] == ["fast", "slow", "unturned"]
    (legend,) = axes[0].get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["query", "key"]
    with pytest.raises(ValueError, match="at least one pair"):
        plot_hands({}, [1])


def test_right_keys_are_marked_and_fit_into_the_panel():
    ax = plot_by_length({"wrong": {2: [1.0], 4: [3.0]}}, "distance", "score", trained=(1, 2))
    mark_right(ax, {"right, as trained": (3, 9.0), "right, slowed": (4, 12.0)})
    stars = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "*"]
    assert stars == [(3, 9.0), (4, 12.0)]
    assert [text.get_text() for text in ax.texts] == ["right, as trained", "right, slowed"]
    assert ax.get_ylim()[1] > 12
    mark_right(ax, {"high": (1, 2.0), "low": (2, -2.0)}, lift=11)
    assert [text.xyann for text in ax.texts] == [(10, 0), (10, 0), (10, 11), (10, -11)]


def test_weights_have_a_bar_per_distance_and_the_sum_over_the_rewarded_ones():
    two = Spread([[0.1, 0.1, 0.2, 0.0, 0.6], [0.3, 0.1, 0.2, 0.2, 0.2]], right=4, rewarded=(1, 2))
    one = Spread([[0.05, 0.05, 0.1, 0.8]], right=3, rewarded=(2, 3))
    first, second, third = plot_weights({"as trained": two, "by hand": one, "again": one})
    assert [ax.get_title(loc="left") for ax in (first, second, third)] == ["as trained", "by hand", "again"]
    assert [bar.get_height() for bar in first.patches if bar.get_width() == 0.8] == pytest.approx(
        [0.2, 0.1, 0.2, 0.1, 0.4]
    )
    assert [text.get_text() for text in first.texts] == ["0.30", "0.40"]
    assert [text.get_text() for text in second.texts] == ["0.10", "0.80"]  # the right one is not in the sum
    (ranges,) = first.collections
    assert ranges.get_segments()[0].tolist() == [[0, 0.1], [0, 0.3]]
    assert not second.collections
    with pytest.raises(ValueError, match="panels is empty"):
        plot_weights({})


def test_each_training_has_a_line_through_its_ways():
    ways = {
        "file": [{"as trained": 0.5, "both": 0.2}, {"as trained": 0.6, "both": 0.1}],
        "blocks": [{"as trained": 0.1, "both": 0.2}],
    }
    first, second = plot_ways({"15 letters": ways, "24 letters": ways}, "share")
    for ax, title in ((first, "15 letters"), (second, "24 letters")):
        assert [line.get_ydata().tolist() for line in ax.lines] == [[0.5, 0.2], [0.6, 0.1], [0.1, 0.2]]
        assert [label.get_text() for label in ax.get_xticklabels()] == ["as trained", "both"]
        assert ax.get_ylabel() == f"share\n({title})"
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["file", "blocks"]
    assert first.lines[0].get_color() == first.lines[1].get_color() != first.lines[2].get_color()
    with pytest.raises(ValueError, match="panels is empty"):
        plot_ways({}, "share")
    with pytest.raises(ValueError, match="a training of blocks has the ways"):
        plot_ways({"15 letters": ways | {"blocks": [{"both": 0.2}]}}, "share")
