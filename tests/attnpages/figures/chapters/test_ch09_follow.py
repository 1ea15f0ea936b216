import pytest

from attnpages.figures.chapters.ch09_follow import plot_bookings

CROSS = {"vierzig": 0.8, "other tens": 0.14, "und": 0.01}
UND = {"word": {"vierzig": 0.01, "other tens": 0.02, "und": 0.94}, "+ cross": CROSS}
ZWEI = {"word": {"und": 0.05, "zwei": 0.86}, "+ cross": {"und": 0.73, "zwei": 0.01}}
MAPS = {"cross-attention": ([[1.0, 0.0], [0.26, 0.74]], ["forty", "two"], ["und", "zwei"], "query")}


def test_parts_with_room_say_what_they_are(texts):
    first, second, below = plot_bookings({"at und": UND, "at zwei": ZWEI}, MAPS)
    assert {"und 0.94", "vierzig 0.80"} <= set(texts(first))
    assert "other tens 0.14" not in texts(first)
    assert {"zwei 0.86", "und 0.73"} <= set(texts(second))
    assert "und 0.05" not in texts(second)
    assert {"1.00", "0.26", "0.74"} <= set(texts(below))


def test_a_bar_is_as_long_as_its_share():
    first, *_ = plot_bookings({"at und": UND}, MAPS)
    assert [bar.get_width() for bar in first.patches] == pytest.approx([0.01, 0.02, 0.94, 0.8, 0.14, 0.01])


def test_a_legend_says_what_the_colours_mean():
    first, *_ = plot_bookings({"at und": UND}, MAPS)
    (legend,) = first.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "the right word",
        "other candidates",
        "the position's own word",
    ]
    assert [box.get_facecolor() for box in legend.get_patches()] == [bar.get_facecolor() for bar in first.patches[:3]]


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="at least one title with bars, and one map"):
        plot_bookings({}, MAPS)
    with pytest.raises(ValueError, match="at least one title with bars, and one map"):
        plot_bookings({"at und": UND}, {})
