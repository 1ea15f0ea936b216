import pytest

from attnpages.figures.chapters.ch11_tasks import plot_learning, plot_task_switch, plot_ways

LOSS = {"GPT": {0: [20.0, 21.0, 22.0], 100: [9.0, 9.2, 9.1]}}
RIGHT = {"GPT": {0: [0.5, 0.4, 0.6], 100: [1.0, 1.0, 0.9]}}


def test_levels_stand_in_the_panel_of_the_loss_within_its_limits():
    left, right = plot_learning({"loss": LOSS, "right": RIGHT}, {"guessed": 9.8, "known": 9.1})
    assert [text.get_text() for text in left.texts] == ["guessed", "known"]
    assert left.get_ylim()[0] < 9.1 < 9.8 < left.get_ylim()[1]
    assert not right.texts


def test_a_model_has_one_shade_in_both_panels_and_no_other_has_it():
    left, right = plot_learning({"loss": LOSS, "right": RIGHT}, {"guessed": 9.8, "known": 9.1})
    shades = [[line.get_color() for line in ax.lines[:3]] for ax in (left, right)]
    assert shades[0] == shades[1]
    assert len(set(map(str, shades[0]))) == 3
    with pytest.raises(ValueError, match="must have 3 models"):
        plot_learning({"loss": {"GPT": {0: [20.0]}}, "right": RIGHT}, {"guessed": 9.8, "known": 9.1})


def test_learning_has_two_panels():
    with pytest.raises(ValueError, match="two levels, got 1 and 1"):
        plot_learning({"loss": LOSS}, {"known": 9.1})


def test_a_way_without_labels_stands_in_the_last_panel():
    shares = {"layer": {4: [0.5], 64: [0.9]}}
    left, right = plot_ways({"ours": shares, "theirs": shares}, ("a prompt", 0.92))
    assert [text.get_text() for text in left.texts] == ["ours"]
    assert [text.get_text() for text in right.texts] == ["theirs", "a prompt"]
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["4", "64"]


def test_a_style_stands_in_one_panel_only():
    left, right = plot_ways({"ours": {"BERT": {4: [0.5]}}, "theirs": {"layer": {4: [0.6]}}}, ("a prompt", 0.92))
    assert left.lines[0].get_color() != right.lines[0].get_color()
    assert left.lines[0].get_marker() != right.lines[0].get_marker()


def test_ways_need_a_panel():
    with pytest.raises(ValueError, match="at least one panel"):
        plot_ways({}, ("a prompt", 0.92))


def test_a_switch_shows_each_draw_of_both_tasks_in_percent():
    both = {"plural": [0.6, 0.7, 0.5], "opposite": [0.0, 0.1, 0.0]}
    left, right = plot_task_switch(
        {"after plurals": {"as it is": both, "changed": both}, "after opposites": {"as it is": both}}
    )
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["as it is", "changed"]
    drawn = [list(line.get_xdata()) for line in right.lines if len(line.get_xdata()) == 3]
    assert drawn == [pytest.approx([60, 70, 50]), pytest.approx([0, 10, 0])]
    assert right.get_title() == "after opposites"


@pytest.mark.parametrize("panels", [{}, {"p": {"a": {"plural": [0.5]}}}])
def test_a_switch_needs_two_tasks(panels):
    with pytest.raises(ValueError, match="the same two tasks"):
        plot_task_switch(panels)
