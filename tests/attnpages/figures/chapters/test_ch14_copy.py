import pytest

from attnpages.figures.chapters.ch14_copy import plot_weights_and_p_gen, plot_written_and_copied

SOURCE = [("Ruvis", 0.5), ("came", 0.0), ("Ruvis", 0.4), ("a", 0.1)]


def test_each_word_has_one_bar_of_what_is_written_and_one_piece_per_position(looks_right):
    *_, ax = plot_written_and_copied(0.2, {"a": 0.2, "‹unk›": 0.8, "by": 0.0}, SOURCE)
    looks_right(ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Ruvis", "‹unk›", "a"]
    written, *copied = ax.containers
    assert [bar.get_width() for bar in written] == pytest.approx([0, 0.16, 0.04])
    pieces = [number for (bar,) in copied for number in (bar.get_x(), bar.get_width())]
    assert pieces == pytest.approx([0, 0.4, 0.4, 0.32, 0.04, 0.08])
    assert [text.get_text() for text in ax.texts] == ["0.72", "0.16", "0.12"]


def test_both_distributions_stand_above_with_their_factors():
    vocabulary, source, _ = plot_written_and_copied(0.2, {"a": 0.0, "‹unk›": 1.0}, SOURCE)
    assert [text.get_text() for text in vocabulary.texts] == ["a", "0", "‹unk›", "1.0"]
    assert [text.get_text() for text in source.texts] == ["Ruvis", "0.5", "came", "0", "Ruvis", "0.4", "a", "0.1"]
    assert [one.get_title("left").split(", ")[0] for one in (vocabulary, source)] == [
        r"$p_\mathrm{gen}$ = 0.2",
        r"$1 - p_\mathrm{gen}$ = 0.8",
    ]
    shades = [bar.patches[0].get_facecolor()[3] for bar in source.containers]
    assert shades == pytest.approx([0.75, 0, 0.6, 0.15])
    assert vocabulary.get_xlim() == source.get_xlim()  # words are equally wide


@pytest.mark.parametrize("words", [({}, []), ({"a": 1.0}, []), ({"a": 0.4}, [("b", 0.5)])])
def test_probabilities_must_sum_to_one(words):
    with pytest.raises(ValueError, match="must sum to 1"):
        plot_written_and_copied(0.5, *words)


def test_each_row_of_weights_has_its_p_gen_at_the_same_height():
    left, right = plot_weights_and_p_gen([[1.0, 0.0], [0.25, 0.75]], ["Ruvis", "came"], ["was", "Ruvis"], [0.9, 0.25])
    assert [bar.get_width() for bar in right.patches] == pytest.approx([0.9, 0.25])
    assert [text.get_text() for text in right.texts] == ["0.90", "0.25"]
    assert right.get_ylim() == left.get_ylim()
    with pytest.raises(ValueError, match=r"must hold 2 numbers from 0 to 1, got \[0.9\]"):
        plot_weights_and_p_gen([[1.0, 0.0], [0.0, 1.0]], ["Ruvis", "came"], ["was", "Ruvis"], [0.9])
