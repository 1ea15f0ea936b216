import pytest

from attnpages.figures.chapters.ch06_gradient import plot_draws, plot_leads, plot_learning, plot_seeds, plot_variances


def test_draws_have_a_panel_per_baseline_and_cell_with_the_probabilities_after_the_step():
    after = [[0.4, 0.6], [0.52, 0.48]]
    axes = plot_draws(["two", "seven"], [0.5, 0.5], {"none": after, "b = 1": [[0.45, 0.55], [0.4, 0.6]]})
    assert [ax.get_title() for ax in axes] == ["drawn: two", "drawn: seven", "", ""]
    assert [[text.get_text() for text in ax.texts] for ax in axes[:2]] == [["0.40", "0.60"], ["0.52", "0.48"]]
    assert [[text.get_fontweight() for text in ax.texts] for ax in axes[:2]] == [["bold", "normal"], ["normal", "bold"]]
    assert [bar.get_height() for bar in axes[0].patches] == [0.4, 0.6, 0.5, 0.5]


@pytest.mark.parametrize("rows", [{}, {"none": [[0.4, 0.6]]}, {"none": [[0.4, 0.6], [1.0]]}])
def test_draws_of_other_numbers_are_refused(rows):
    with pytest.raises(ValueError, match="with 2 draws of 2 probabilities"):
        plot_draws(["two", "seven"], [0.5, 0.5], rows)


def test_variances_have_a_dot_per_seed(looks_right):
    early, late = plot_variances({"early": {"none": [3.0, 1.0], "moving": [0.1, 0.2]}, "late": {"none": [1.0, 2.0],
                                  "moving": [0.3, 0.1]}})  # fmt: skip
    dots = [list(one.get_xdata()) for one in early.lines if one.get_marker() == "o"]
    assert dots == [[3.0, 1.0], [0.1, 0.2]]
    assert late.get_xscale() == "log"
    assert [label.get_text() for label in early.get_yticklabels()] == ["none", "moving"]


@pytest.mark.parametrize("panels", [{}, {"a": {"x": [1.0]}, "b": {"y": [1.0]}}])
def test_panels_with_different_estimators_are_refused(panels):
    with pytest.raises(ValueError, match="same estimators"):
        plot_variances(panels)


def test_a_variance_of_zero_is_refused():
    with pytest.raises(ValueError, match="not above 0"):
        plot_variances({"a": {"x": [0.0]}})


def test_learning_has_a_line_per_seed_and_one_through_the_medians(looks_right):
    hard = {0: [0.0, 0.1, 0.5], 10: [0.2, 1.0, 0.9]}
    variance = {"hard": {0: [1.0, 4.0], 10: [0.1, 0.1]}}
    left, right = plot_learning({"soft": {0: [0.1, 0.1, 0.1]}, "hard": hard}, variance, level=0.75)
    assert list(left.lines[-1].get_ydata()) == [0.75, 0.75]
    thick = [one for one in left.lines if one.get_linewidth() > 2]
    assert (len(left.lines), len(thick)) == (9, 2)
    assert list(thick[1].get_ydata()) == [0.1, 0.9]
    assert right.get_yscale() == "log"
    assert right.lines[-1].get_color() == thick[1].get_color()


def test_learning_without_variances_has_one_panel(looks_right):
    (only,) = plot_learning({"soft": {0: [0.1, 0.2], 10: [0.3, 0.4]}}, share="correct relations")
    assert len(only.lines) == 3
    assert only.get_ylabel() == "correct relations"


@pytest.mark.parametrize(
    "exact, variance",
    [({}, {"a": {0: [1.0]}}), ({"a": {0: [1.0]}}, {"a": {0: [0.0]}}), ({"a": {0: [1.0], 1: []}}, {"a": {0: [1.0]}})],
)
def test_learning_that_cannot_be_drawn_is_refused(exact, variance):
    with pytest.raises(ValueError, match=r"must|not above 0"):
        plot_learning(exact, variance)


def test_each_way_has_a_panel_with_a_line_per_seed_and_one_through_the_medians(looks_right):
    exact = {0: [0.0, 0.1, 0.5], 10: [0.2, 1.0, 0.9]}
    first, second = plot_seeds({"soft": {0: [0.1], 10: [0.3]}, "exact\ngradient": exact}, 0.75, "exact match")
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["soft", "exact\ngradient"]
    assert (len(first.lines), len(second.lines)) == (3, 5)
    assert list(second.lines[3].get_ydata()) == [0.1, 0.9]
    assert list(second.lines[4].get_ydata()) == [0.75, 0.75]


@pytest.mark.parametrize("panels", [{}, {"soft": {0: [0.1], 10: [0.3, 0.4]}}])
def test_panels_with_different_numbers_of_seeds_are_refused(panels):
    with pytest.raises(ValueError, match="at least one, each with as many seeds"):
        plot_seeds(panels, 0.75, "exact match")


def test_leads_have_a_line_per_training_and_a_filled_dot_where_the_other_is_chosen(looks_right):
    low = [{50: (0.1, 0.4), 100: (0.2, 0.6)}, {50: (0.0, 0.5), 100: (-0.9, 0.9)}]
    ax = plot_leads({"low": low, "high": [{50: (0.1, 0.4), 100: (0.3, 0.1)}]}, "lead (nats)", "first chosen")
    lines = [one for one in ax.lines[1:] if len(one.get_xdata()) == 2]
    assert [list(one.get_ydata()) for one in lines] == [[0.1, 0.2], [0.0, -0.9], [0.1, 0.3]]
    dots = [one for one in ax.lines if one.get_marker() == "o"]
    assert [one.get_markerfacecolor() == one.get_markeredgecolor() for one in dots] == [
        False, True, False, True, False, False
    ]  # fmt: skip
    assert ax.get_ylim() == (-1, 1)
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["low", "high", "first chosen"]


@pytest.mark.parametrize("groups", [{}, {"low": []}, {name: [{50: (0.1, 0.4)}] for name in "abc"}])
def test_leads_of_no_training_or_of_many_groups_are_refused(groups):
    with pytest.raises(ValueError, match="one or two, each with a training"):
        plot_leads(groups, "lead (nats)", "first chosen")
