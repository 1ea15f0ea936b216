import pytest

from attnpages.figures.chapters.ch14_copy import plot_written_and_copied


def test_each_word_has_one_bar_of_what_is_written_and_what_is_copied():
    ax = plot_written_and_copied({"a": 0.04, "‹unk›": 0.16}, {"Ruvis": 0.72, "a": 0.08})
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Ruvis", "‹unk›", "a"]
    written, copied = ax.containers
    assert [bar.get_width() for bar in written] == [0, 0.16, 0.04]
    assert [(bar.get_x(), bar.get_width()) for bar in copied] == [(0, 0.72), (0.16, 0), (0.04, 0.08)]
    assert [text.get_text() for text in ax.texts] == ["0.72", "0.16", "0.12"]


@pytest.mark.parametrize("words", [({}, {}), ({"a": 0.4}, {"b": 0.5})])
def test_probabilities_must_sum_to_one(words):
    with pytest.raises(ValueError, match="must sum to 1"):
        plot_written_and_copied(*words)
