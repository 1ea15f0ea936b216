import matplotlib.pyplot as plt
import pytest

from attnpages.figures.chapters.ch03_roles import draw_changes, draw_roles, plot_pull

KEYS, WEIGHTS, VALUES = [(2, 1), (1, 4)], [0.25, 0.75], [(4, 0), (0, 8)]
SHELVES = {
    "as before": (KEYS, WEIGHTS, VALUES),
    "another value": (KEYS, WEIGHTS, [(4, 0), (0, 0)]),
    "another key": ([(2, 1), (1, 0)], [0.5, 0.5], VALUES),
}
OFFERING = {"cat": (4.4, 0.72), "slept": (1.7, 0.05), "tired": (1.2, 0.03)}


def overlapping(ax):
    """Pairs of texts that overlap."""
    ax.figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in ax.texts if text.get_text()]
    return [(a, b) for i, (a, one) in enumerate(boxes) for b, other in boxes[i + 1 :] if one.overlaps(other)]


def test_each_shelf_shows_its_books_and_its_context(texts):
    ax = draw_changes(SHELVES, ("bread", "cookbook"))
    shown = texts(ax)
    assert {*SHELVES, "bread", "cookbook", "(1.00, 6.00)", "(1.00, 0.00)", "(2.00, 4.00)"} <= set(shown)
    assert shown.count("0.75") == 2
    assert shown.count("(0, 0)") == shown.count("(1, 0)") == 1


def test_what_differs_from_the_first_shelf_is_framed():
    def frames(shelves):
        ax = draw_changes(shelves, ("bread", "cookbook"))
        return sum(not isinstance(patch, plt.Rectangle) for patch in ax.patches)

    assert frames(SHELVES) == 2
    assert frames({"as before": SHELVES["as before"]}) == 0


def test_a_word_that_asks_has_a_query_and_the_others_have_keys_and_values(texts):
    shown = texts(draw_roles("it", OFFERING, "The others share 0.20."))
    assert {"it", *OFFERING, "4.4", "0.72 ×", "The others share 0.20."} <= set(shown)
    assert [shown.count(part) for part in ("query", "key", "value", "$W_q$", "$W_k$", "$W_v$")] == [1, 3, 3, 1, 3, 3]


@pytest.mark.parametrize(
    "draw", [lambda: draw_changes(SHELVES, ("bread", "cookbook")), lambda: draw_roles("it", OFFERING, "The others.")]
)
def test_no_two_texts_overlap_and_all_can_be_read(draw):
    ax = draw()
    assert overlapping(ax) == []
    assert min(text.get_fontsize() for text in ax.texts) >= 10


def test_thick_lines_have_the_slope_of_the_curve(texts):
    ax = plot_pull({"with the root": 1, "without the root": 8})
    assert {"with the root\ngap 1, slope 0.197", "without the root\ngap 8, slope 0.0003"} <= set(texts(ax))
    assert overlapping(ax) == []
    frame = ax.get_window_extent()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert all(frame.x0 < box.x0 and box.x1 < frame.x1 for box in boxes)
    steep, flat = (line.get_xydata() for line in ax.lines if line.get_linewidth() == 4)
    slopes = [(end[1] - start[1]) / (end[0] - start[0]) for start, end in (steep, flat)]
    assert slopes == pytest.approx([0.1966, 0.000335], rel=1e-3)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="shelves is empty"):
        draw_changes({}, ())
    with pytest.raises(ValueError, match="'as before' needs one key, one weight and one value for each of 1 names"):
        draw_changes(SHELVES, ("bread",))
    with pytest.raises(ValueError, match="offering has 1 words; there is room for three"):
        draw_roles("it", {"cat": (4.4, 0.72)})
    with pytest.raises(ValueError, match="gaps is empty"):
        plot_pull({})
