import pytest

from attnpages.figures.chapters.ch02_learning import plot_rises_and_weights

UP = {"before": [[0.001, -0.002], [0.002, 0.0]], "step 20": [[-0.1, 0.2], [0.3, -0.4]]}
READ = {"before": [[0.5, 0.5], [0.5, 0.5]], "step 20": [[0.1, 0.9], [0.8, 0.2]]}
DRAWN = {
    "marks": [(1, 0), (0, 1)],
    "labels": ("source letter", "letter written"),
    "names": ("score pushed up", "weight"),
}


def cells(ax):
    return ax.images[0].get_array().tolist()


def test_scores_that_rise_stand_above_the_weights_and_what_falls_is_white():
    axes = plot_rises_and_weights(UP, READ, **DRAWN)
    assert [cells(ax) for ax in axes] == [[[0.001, 0], [0.002, 0]], [[0, 0.2], [0.3, 0]], *READ.values()]


def test_each_upper_panel_has_its_own_scale_and_says_it_and_the_weights_share_one():
    axes = plot_rises_and_weights(UP, READ, **DRAWN)
    assert [ax.images[0].get_clim() for ax in axes] == [(0, 0.002), (0, 0.3), (0, 1), (0, 1)]
    assert [ax.get_title() for ax in axes] == ["before\nup to 0.0020", "step 20\nup to 0.30", "", ""]


def test_dots_lie_at_their_cells_in_each_panel():
    for ax in plot_rises_and_weights(UP, READ, **DRAWN):
        assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines] == [(1, 0), (0, 1)]


def test_curves_have_room_below_all_panels():
    *panels, last = plot_rises_and_weights(UP, READ, **DRAWN, curves=True)
    last.get_figure().canvas.draw()
    assert len(panels) == 4
    assert not last.lines
    assert last.get_position().y1 < min(ax.get_position().y0 for ax in panels)


def test_it_is_readable(looks_right):
    looks_right(plot_rises_and_weights(UP, READ, **DRAWN)[-1])


@pytest.mark.parametrize("read", [{}, {"step 20": READ["step 20"]}])
def test_other_stages_for_the_weights_are_refused(read):
    with pytest.raises(ValueError, match="give both the same ones"):
        plot_rises_and_weights(UP, read, **DRAWN)


def test_a_stage_in_which_no_score_rises_is_refused():
    with pytest.raises(ValueError, match="no score of 'before' rises"):
        plot_rises_and_weights({"before": [[0.0, -1.0]]}, {"before": [[0.5, 0.5]]}, **DRAWN)
