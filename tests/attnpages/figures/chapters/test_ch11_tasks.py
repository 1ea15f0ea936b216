import pytest

from attnpages.figures.chapters.ch11_tasks import plot_learning, plot_ways

LOSS, RIGHT = {"GPT": {0: [20.0, 21.0], 100: [9.0, 9.2]}}, {"GPT": {0: [0.5, 0.4], 100: [1.0, 1.0]}}


def test_levels_stand_in_the_panel_of_the_loss_within_its_limits():
    left, right = plot_learning({"loss": LOSS, "right": RIGHT}, {"guessed": 9.8, "known": 9.1})
    assert [text.get_text() for text in left.texts] == ["guessed", "known"]
    assert left.get_ylim()[0] < 9.1 < 9.8 < left.get_ylim()[1]
    assert not right.texts


def test_learning_has_two_panels():
    with pytest.raises(ValueError, match="two levels, got 1 and 1"):
        plot_learning({"loss": LOSS}, {"known": 9.1})


def test_a_way_without_labels_stands_in_the_last_panel():
    shares = {"layer": {4: [0.5], 64: [0.9]}}
    left, right = plot_ways({"ours": shares, "theirs": shares}, ("a prompt", 0.92))
    assert [text.get_text() for text in left.texts] == ["ours"]
    assert [text.get_text() for text in right.texts] == ["theirs", "a prompt"]
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["4", "64"]


def test_ways_need_a_panel():
    with pytest.raises(ValueError, match="at least one panel"):
        plot_ways({}, ("a prompt", 0.92))
