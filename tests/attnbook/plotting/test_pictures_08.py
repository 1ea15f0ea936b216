import pytest

from attnbook.plotting.pictures_08 import plot_by_distance, plot_silenced


def test_scores_are_drawn_over_their_distances():
    ax = plot_by_distance({"head_0": [1.0, 2.0, 1.0], "head 1": [0.0, 3.0, 0.0]}, [-1, 0, 1], (-0.5, 0.5))
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert drawn == {"head 0": [1.0, 2.0, 1.0], "head 1": [0.0, 3.0, 0.0]}
    assert "distances seen in training" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert len({line.get_linestyle() for line in ax.lines}) == 2  # told apart in grey print


@pytest.mark.parametrize("curves", [{}, {"head": [1.0, 2.0]}])
def test_curves_that_do_not_fit_the_distances_are_refused(curves):
    with pytest.raises(ValueError, match="one value for each distance"):
        plot_by_distance(curves, [-1, 0, 1], (0, 1))


def test_each_silent_head_has_a_dot_in_its_layer():
    axes = plot_silenced({"source": [[1.0, 0.9], [0.8, 0.0]], "target": [[1.0, 1.0], [1.0, 1.0]]}, "exact match")
    assert [ax.get_title() for ax in axes] == ["source", "target"]
    dots = [list(line.get_ydata()) for line in axes[0].lines]
    assert dots == [[1.0, 0.9], [0.8, 0.0]]
    assert axes[0].get_ylabel() == "exact match"


def test_no_table_is_refused():
    with pytest.raises(ValueError, match="tables is empty"):
        plot_silenced({})
