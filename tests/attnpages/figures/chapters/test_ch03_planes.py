import pytest
import torch

from attnpages.figures.chapters.ch03_planes import draw_bump, plot_preferences


def test_each_score_has_a_plane_with_the_query_and_the_keys(texts):
    scores = {"dot": lambda keys: keys @ torch.tensor([2.0, 1]), "norm": lambda keys: keys.norm(dim=-1)}
    axes = plot_preferences(scores, [2, 1], {"bread": (2, 1), "Rome": (1, 0)})
    assert [ax.get_title() for ax in axes.flat] == ["dot", "norm"]
    for ax in axes.flat:
        assert {"bread", "Rome"} <= set(texts(ax))
        assert [line.get_xydata().tolist() for line in ax.lines] == [[[2, 1]], [[2, 1]], [[1, 0]]]
        assert ax.get_xlim() == ax.get_ylim() == (-1, 5)


def test_names_stand_away_from_the_query():
    ax = plot_preferences({"dot": lambda keys: keys.sum(dim=-1)}, [2, 1], {"bread": (2, 1), "Rome": (1, 0)})[0, 0]
    ax.figure.canvas.draw()
    bread, rome = (text.get_window_extent() for text in ax.texts)
    ring = ax.transData.transform((2, 1))[1]
    assert bread.y0 > ring > rome.y1
    assert not bread.overlaps(rome)


def test_a_triangle_is_a_closed_line_in_each_panel():
    scores = dict.fromkeys(("one", "two"), lambda keys: keys.sum(dim=-1))
    for ax in plot_preferences(scores, [2, 1], {}, triangle=[(1, 0), (1, 4), (4, 2)]).flat:
        assert ax.lines[-1].get_xydata().tolist() == [[1, 0], [1, 4], [4, 2], [1, 0]]


def test_a_shadow_is_the_foot_of_the_perpendicular_to_the_line_of_the_query():
    scores = dict.fromkeys(("dot", "other"), lambda keys: keys.sum(dim=-1))
    shown, other = plot_preferences(scores, [2, 1], {"cookbook": (1, 4)}, shadows=["dot"]).flat
    length, perpendicular, foot, *_ = (line.get_xydata() for line in shown.lines[2:])
    assert length.tolist() == [[0, 0], [1, 4]]
    assert perpendicular.tolist() == [[1, 4], foot[0].tolist()]
    assert foot[0].tolist() == pytest.approx([2.4, 1.2])
    assert len(other.lines) == len(shown.lines) - 4


def test_a_panel_without_a_score_is_removed():
    scores = dict.fromkeys(("one", "two", "three"), lambda keys: keys.sum(dim=-1))
    figure = plot_preferences(scores, [2, 1], {})[0, 0].figure
    assert [ax.get_title() for ax in figure.axes] == ["one", "two", "three"]


def test_a_last_panel_has_axes_of_its_own():
    scores = dict.fromkeys(("one", "two", "three"), lambda keys: keys.sum(dim=-1))
    axes = plot_preferences(scores, [2, 1], {}, last=draw_bump).flat
    assert [ax.get_ylabel() != "" for ax in axes] == [True, False, True, False]
    assert axes[3].get_xlabel() == "x: query minus key"
    assert [ax.get_xlabel() for ax in axes[:3]] == ["", *["feature 1 of the key"] * 2]
    up, down, bump = (line.get_ydata() for line in axes[3].lines)
    assert (up - down).tolist() == bump.tolist()
    assert max(bump) == pytest.approx(2 * torch.tensor(1.0).tanh().item())


@pytest.mark.parametrize(
    ("scores", "query", "says"), [({}, [2, 1], "scores is empty"), ({"a": None}, [2], "1 features")]
)
def test_no_scores_and_a_query_outside_the_plane_are_refused(scores, query, says):
    with pytest.raises(ValueError, match=says):
        plot_preferences(scores, query, {})
