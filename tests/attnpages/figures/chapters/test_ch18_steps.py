import pytest

from attnbook.measure.translation import Interval
from attnpages.figures.chapters.ch18_steps import Pairs, Step, decided, plot_bought, plot_pairs, plot_steps

STEPS = {
    "A → B": Step(Interval(9.0, 8.0, 10.0), (20, 21, 22), (29, 30, 31)),
    "B → C": Step(Interval(1.0, -0.5, 2.5), (29, 30, 31), (29, 32, 32)),
    "C → D": Step(Interval(-2.0, -3.0, -1.0), (29, 32, 32), (29, 29, 29)),
}
TESTS = {"2016": STEPS, "2017": dict(zip(STEPS, reversed(STEPS.values()), strict=True))}


def marks(ax, marker, size):
    return [mark for mark in ax.lines if (mark.get_marker(), mark.get_markersize()) == (marker, size)]


def test_a_difference_is_decided_if_its_interval_leaves_out_0():
    assert [decided(of.ahead.low, of.ahead.high) for of in STEPS.values()] == [True, False, True]
    assert not decided(0.0, 1.0)


def test_each_step_has_a_dot_on_its_interval_hollow_and_named_where_0_is_inside():
    ax, other = plot_steps(TESTS, "difference in BLEU")
    dots = marks(ax, "o", 8)
    assert [dot.get_xdata()[0] for dot in dots] == [9.0, 1.0, -2.0]
    assert [dot.get_xdata()[0] for dot in marks(other, "o", 8)] == [-2.0, 1.0, 9.0]
    assert [round(dot.get_ydata()[0]) for dot in dots] == [0, 1, 2]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, True, False]
    spans = [tuple(mark.get_xdata()) for mark in ax.lines if mark.get_marker() in ("", "None") and mark.get_xdata()[0]]
    assert spans == [(8.0, 10.0), (-0.5, 2.5), (-3.0, -1.0)]
    assert [text.get_text() for text in ax.texts] == ["undecided"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(STEPS)
    assert [ax.get_title(loc="left"), other.get_title(loc="left"), ax.get_xlabel()] == [*TESTS, "difference in BLEU"]


def test_below_each_interval_are_the_trainings_of_both_models_less_the_mean_of_the_first():
    ax, _ = plot_steps(TESTS, "BLEU")
    assert [list(mark.get_xdata()) for mark in marks(ax, "s", 4)] == [[-1, 0, 1], [-1, 0, 1], [-2, 1, 1]]
    assert [list(mark.get_xdata()) for mark in marks(ax, "o", 4)] == [[8, 9, 10], [-1, 2, 2], [-2, -2, -2]]


@pytest.mark.parametrize("tests", [
    {}, {"2016": {}}, {"2016": STEPS, "2017": {"A → B": STEPS["A → B"]}},
    {"2016": {"A → B": Step(Interval(3.0, 0.0, 2.0), (1, 1), (4, 4))}},
])  # fmt: skip
def test_no_step_other_steps_and_a_difference_outside_its_interval_are_refused(tests):
    with pytest.raises(ValueError, match="within its interval"):
        plot_steps(tests, "BLEU")


def test_what_a_step_bought_is_a_mark_per_test_on_its_interval_with_its_numbers():
    ax = plot_bought({name: [STEPS[name].ahead] * 2 for name in ("A → B", "C → D")}, ("2016", "2017"), "BLEU")
    assert [mark.get_xdata()[0] for mark in ax.lines if mark.get_marker() in ("o", "s")] == [9.0, 9.0, -2.0, -2.0]
    spans = [tuple(mark.get_xdata()) for mark in ax.lines if mark.get_marker() in ("", "None") and mark.get_xdata()[0]]
    assert spans == [(8.0, 10.0)] * 2 + [(-3.0, -1.0)] * 2
    assert [text.get_text() for text in ax.texts] == ["9.0 ± 1.0"] * 2 + ["−2.0 ± 1.0"] * 2
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A → B", "C → D"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2016", "2017"]


@pytest.mark.parametrize(("steps", "tests"), [
    ({}, ("2016",)), ({"A → B": [STEPS["A → B"].ahead]}, ("2016", "2017")),
    ({"A → B": [STEPS["A → B"].ahead] * 3}, ("2016", "2017", "2018")),
])  # fmt: skip
def test_steps_without_one_difference_per_test_are_refused(steps, tests):
    with pytest.raises(ValueError, match="one difference for each"):
        plot_bought(steps, tests, "BLEU")


def test_an_undecided_difference_is_named_and_thin():
    ax = plot_bought({name: [of.ahead] for name, of in STEPS.items()}, ("2016",), "BLEU")
    assert [text.get_text() for text in ax.texts] == ["9.0 ± 1.0", "1.0 ± 1.5 (undecided)", "−2.0 ± 1.0"]
    spans = [mark for mark in ax.lines if mark.get_marker() in ("", "None") and mark.get_xdata()[0]]
    assert [mark.get_linewidth() < 2 for mark in spans] == [False, True, False]


def test_each_pair_of_trainings_is_a_mark_and_those_below_0_are_counted():
    above, below = plot_pairs(
        {"A → B": Pairs([0.52, 0.55, 1.0], [-0.3]), "B → C": Pairs([0.1, 0.2])}, "ahead", ("others", "seed 0")
    )
    squares = [mark for mark in above.lines if mark.get_marker() == "s"]
    assert [round(mark.get_xdata()[0], 2) for mark in squares] == [-0.25]  # the middle of its bin
    dots = [(round(mark.get_xdata()[0], 2), mark.get_ydata()[0]) for mark in above.lines if mark.get_marker() == "o"]
    assert dots == [(0.55, 1), (0.55, 2), (1.05, 1)]  # stacked where they are close
    assert [ax.texts[0].get_text() for ax in (above, below)] == ["1 of 4 below 0", "0 of 2 below 0"]
    assert [ax.get_title(loc="left") for ax in (above, below)] == ["A → B", "B → C"]
    (legend,) = above.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["others", "seed 0"]
    for wrong in ({}, {"A → B": Pairs([])}):
        with pytest.raises(ValueError, match="at least one pair"):
            plot_pairs(wrong, "ahead", ("others", "seed 0"))
