import pytest

from attnpages.figures.chapters.ch14_copy import plot_switch, plot_written_and_copied

SOURCE = [("Ruvis", 0.4), ("came", 0.0), ("Ruvis", 0.32), ("a", 0.08)]


def test_each_word_has_one_bar_of_what_is_written_and_one_piece_per_position(looks_right):
    _, ax = plot_written_and_copied({"a": 0.04, "‹unk›": 0.16, "by": 0.0}, SOURCE)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Ruvis", "‹unk›", "a"]
    written, *copied = ax.containers
    assert [bar.get_width() for bar in written] == [0, 0.16, 0.04]
    pieces = [number for (bar,) in copied for number in (bar.get_x(), bar.get_width())]
    assert pieces == pytest.approx([0, 0.4, 0.4, 0.32, 0.04, 0.08])
    assert [text.get_text() for text in ax.texts] == ["0.72", "0.16", "0.12"]


def test_the_source_stands_above_in_its_order_with_what_each_position_gives():
    strip, _ = plot_written_and_copied({"‹unk›": 0.2}, SOURCE)
    assert [text.get_text() for text in strip.texts] == ["Ruvis", "0.40", "came", "0", "Ruvis", "0.32", "a", "0.08"]
    shades = [bar.patches[0].get_facecolor()[3] for bar in strip.containers]
    assert shades == pytest.approx([0.75, 0, 0.6, 0.15])


@pytest.mark.parametrize("words", [({}, []), ({"a": 1.0}, []), ({"a": 0.4}, [("b", 0.5)])])
def test_probabilities_must_sum_to_one(words):
    with pytest.raises(ValueError, match="must sum to 1"):
        plot_written_and_copied(*words)


def test_each_output_word_has_a_full_bar_of_writing_and_copying(looks_right):
    ax = plot_switch(["a", "violin", "was", "given", "to", "Ruvis", "by", "Gife"], [0, 0, 1, 1, 1, 0.25, 1, 0])
    looks_right(ax)
    assert [text.get_text() for text in ax.get_xticklabels()][4:6] == ["to", "Ruvis"]
    writing, copying = ([(bar.get_y(), bar.get_height()) for bar in bars] for bars in ax.containers)
    assert [writing[5], copying[5]] == [(0, 0.25), (0.25, 0.75)]
    assert [text.get_text() for text in ax.texts][4:] == ["1.00", "0.25", "1.00", "0.00"]


@pytest.mark.parametrize(
    "steps, message", [(([], []), "one p_gen"), ((["a"], [0.1, 0.2]), "one p_gen"), ((["a"], [1.2]), "between 0 and 1")]
)
def test_each_step_has_one_share(steps, message):
    with pytest.raises(ValueError, match=message):
        plot_switch(*steps)
