import pytest

from attnpages.figures.chapters.ch11 import plot_next_words


def test_each_way_has_a_panel_and_each_word_a_bar(looks_right):
    axes = plot_next_words({"all": [0.5, 0.3, 0.2], "top-k": [0.6, 0.4, 0.0]}, ["cat", "dog", "goat"])
    assert [ax.get_title() for ax in axes] == ["all", "top-k"]
    assert [[bar.get_width() for bar in ax.patches] for ax in axes] == [[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]]
    assert axes[1].texts[-1].get_text() == "–"
    looks_right(axes[0])


@pytest.mark.parametrize("panels", [{}, {"all": [0.5, 0.5]}])
def test_panels_that_do_not_fit_the_words_are_named(panels):
    with pytest.raises(ValueError, match="at least one panel, each with 3 probabilities"):
        plot_next_words(panels, ["cat", "dog", "goat"])
