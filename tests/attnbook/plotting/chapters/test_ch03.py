import pytest

from attnbook.plotting.chapters.ch03 import draw_library, plot_counts, plot_runs

BOOKS = {
    "titles": ["A history of bread", "Encyclopaedia"],
    "query": [2, 0],
    "keys": [[2, 0], [2, 2]],
    "scores": [4, 4],
    "weights": [0.5, 0.5],
    "values": [[9, 1], [3, 3]],
}


def test_the_library_shows_each_book_and_the_sum(texts):
    ax = draw_library(**BOOKS)
    shown = texts(ax)
    assert {"A history of bread", "Encyclopaedia", "(2, 2)", "0.500", "(6.00, 2.00)"} <= set(shown)
    assert shown.count("+") == 1
    assert min(text.get_fontsize() for text in ax.texts) >= 10


def test_no_two_texts_of_the_library_overlap():
    ax = draw_library(**BOOKS)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_a_book_without_a_value_is_refused():
    with pytest.raises(ValueError, match="values has 1 entries but there are 2 titles"):
        draw_library(**{**BOOKS, "values": [[9, 1]]})


def test_each_run_is_a_line_of_its_own(looks_right, texts):
    runs = {1: [1.0, 1.0], 6: [1.0, 0.9], 12: [0.9, 0.2], 32: [0.3, 0.0]}
    axes = plot_runs({"content only": runs, "both": runs})
    axes[0].figure.canvas.draw()
    looks_right(axes[1])
    assert [len(ax.lines) for ax in axes] == [2, 2]
    first, second = axes[0].lines
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert list(second.get_ydata()) == [1.0, 0.9, 0.2, 0.0]
    assert {"content only", "seed 0", "seed 1"} <= set(texts(axes[0]))


def test_no_runs_are_refused():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_runs({})


def test_counts_stand_behind_their_bars(texts):
    axes = plot_counts({"multiplications": {"dot": 147_456, "mlp": 2_629_632}, "kept": {"dot": 6, "mlp": 9}})
    assert [ax.get_xlabel() for ax in axes] == ["multiplications", "kept"]
    assert {"dot", "mlp", "147,456", "2,629,632"} <= set(texts(axes[0]))
    assert [bar.get_width() for bar in axes[1].patches] == [6, 9]


def test_the_longest_bar_leaves_room_for_its_count():
    ax = plot_counts({"multiplications (thousands)": {"dot": 147, "mlp": 2_630}})[0]
    ax.figure.canvas.draw()
    assert max(text.get_window_extent().x1 for text in ax.texts) <= ax.figure.bbox.x1


def test_counts_need_a_panel_and_the_same_names():
    with pytest.raises(ValueError, match="panels is empty"):
        plot_counts({})
    with pytest.raises(ValueError, match="panel 'kept' has other names"):
        plot_counts({"multiplications": {"dot": 1}, "kept": {"mlp": 1}})
