import pytest

from attnpages.figures.chapters.ch18_steps import decided, plot_steps

STEPS = {"A → B": (9.0, 8.0, 10.0), "B → C": (1.0, -0.5, 2.5), "C → D": (-2.0, -3.0, -1.0)}


def test_a_difference_is_decided_if_its_interval_leaves_out_0():
    assert [decided(low, high) for _, low, high in STEPS.values()] == [True, False, True]
    assert not decided(0.0, 1.0)


def test_each_step_has_a_dot_on_its_interval_hollow_and_named_where_0_is_inside():
    ax = plot_steps(STEPS, "difference in BLEU")
    dots = [mark for mark in ax.lines if mark.get_marker() == "o"]
    assert [(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in dots] == [(9.0, 0), (1.0, 1), (-2.0, 2)]
    assert [mark.get_markerfacecolor() == "white" for mark in dots] == [False, True, False]
    spans = [tuple(mark.get_xdata()) for mark in ax.lines if mark.get_marker() in ("", "None") and mark.get_xdata()[0]]
    assert spans == [(8.0, 10.0), (-0.5, 2.5), (-3.0, -1.0)]
    assert [text.get_text() for text in ax.texts] == ["", "undecided", ""]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(STEPS)
    assert ax.get_xlabel() == "difference in BLEU"


@pytest.mark.parametrize("steps", [{}, {"A → B": (3.0, 0.0, 2.0)}])
def test_no_step_and_a_difference_outside_its_interval_are_refused(steps):
    with pytest.raises(ValueError, match="within its interval"):
        plot_steps(steps, "BLEU")
