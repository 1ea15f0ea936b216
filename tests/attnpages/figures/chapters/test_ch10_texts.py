import pytest

from attnpages.figures.chapters.ch10_texts import plot_continuations

SHARES = {"greedy decoding": [0.4, 0.6], "beam of four": [0.7, 0.5], "the author": [0.0, 0.1]}


def test_each_text_is_a_line_and_each_writer_has_a_mean(texts):
    ax = plot_continuations(SHARES, "repeated pairs")
    assert [text for text in texts(ax) if "%" in text] == ["50 %", "60 %", "5 %"]
    lines = [line.get_ydata() for line in ax.lines if len(set(line.get_xdata())) == 3]
    assert [list(line) for line in lines] == [[0.4, 0.7, 0.0], [0.6, 0.5, 0.1]]
    means = [float(line.get_ydata()[0]) for line in ax.lines if len(line.get_ydata()) == 1]
    assert means == pytest.approx([0.5, 0.6, 0.05])


def test_no_mean_is_written_outside_the_axes():
    ax = plot_continuations(SHARES, "repeated pairs")
    ax.figure.canvas.draw()
    inside = ax.get_window_extent()
    assert all(
        inside.x0 <= text.get_window_extent().x0 and text.get_window_extent().x1 <= inside.x1 for text in ax.texts
    )


@pytest.mark.parametrize("shares", [{}, {"a": []}, {"a": [0.1], "b": [0.1, 0.2]}, {"a": [1.2]}])
def test_what_is_no_share_of_the_same_texts_is_refused(shares):
    with pytest.raises(ValueError, match="equally many numbers from 0 to 1"):
        plot_continuations(shares, "repeated pairs")
