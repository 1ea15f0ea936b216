import pytest

from attnpages.figures.chapters.ch18_parts import (
    Half,
    Lead,
    plot_halves,
    plot_leads,
    plot_pairs,
    plot_precision_and_brevity,
)

LEADS = {"up to 9": Lead((1.0, 0.5), (1.2, 0.6)), "10 and more": Lead((-1.0, 0.7), (1.1, 0.8))}


def test_the_bars_are_both_parts_and_their_hypotenuse():
    axes = plot_halves({"three": Half(3, 4), "eight": Half(0.6, 0.8)}, {"three": 2.0, "eight": -1.5})
    assert [[bar.get_width() for bar in ax.patches] for ax in axes] == [[3, 4, 5], [0.6, 0.8, 1.0]]
    assert [ax.lines[0].get_xdata()[0] for ax in axes] == [2.0, 1.5]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["sentences", "trainings", "both"]
    assert axes[1].get_title(loc="left") == "eight: the difference is -1.50"
    with pytest.raises(ValueError, match="the same titles"):
        plot_halves({"three": Half(3, 4)}, {"eight": 1.0})
    with pytest.raises(ValueError, match="at least one"):
        plot_halves({}, {})


def test_each_pair_of_trainings_has_a_dot_and_the_intervals_lie_around_their_mean():
    ax = plot_pairs({"A": [-1.0, 0.0], "B": [2.0, 3.0]}, {"narrow": 0.5, "wide": 2.0}, "lead")
    dots = [mark for mark in ax.lines if mark.get_marker() == "o"]
    assert [mark.get_xdata()[0] for mark in dots] == [-1.0, 0.0, 2.0, 3.0]
    spans = [tuple(mark.get_xdata()) for mark in ax.lines if len(set(mark.get_xdata())) == 2]
    assert spans == [(0.5, 1.5), (-1.0, 3.0)]
    assert [text.get_text() for text in ax.texts] == ["0.5 to 1.5", "−1.0 to 3.0"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B", "narrow", "wide"]
    for pairs, halves in (({}, {"wide": 1.0}), ({"A": []}, {"wide": 1.0}), ({"A": [1.0]}, {})):
        with pytest.raises(ValueError, match="an entry each"):
            plot_pairs(pairs, halves, "lead")


def test_each_factor_of_bleu_has_a_panel_and_each_model_a_curve():
    parts = {"precision": {"plain": {7: 35.0, 12: 29.0}}, "brevity": {"plain": {7: 0.97, 12: 0.94}}}
    axes = plot_precision_and_brevity(parts, {7: 280, 12: 109})
    assert [ax.get_title(loc="left") for ax in axes] == ["precision", "brevity"]
    assert [list(ax.lines[0].get_ydata()) for ax in axes] == [[35.0, 29.0], [0.97, 0.94]]
    assert [label.get_text() for label in axes[0].get_xticklabels()] == ["7\n(280)", "12\n(109)"]
    (legend,) = axes[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["plain"]
    for wrong in ({}, {"precision": {}}, {**parts, "brevity": {"Luong": {7: 1.0, 12: 1.0}}}):
        with pytest.raises(ValueError, match="the same models"):
            plot_precision_and_brevity(wrong, {7: 280, 12: 109})
    with pytest.raises(ValueError, match=r"each of \[7\] words"):
        plot_precision_and_brevity(parts, {7: 280})


def test_a_lead_stands_with_and_without_the_brevity_penalty():
    axes = plot_leads({"2016": LEADS, "2017": LEADS}, "BLEU")
    dots = [mark for mark in axes[1].lines if mark.get_linestyle() == "None"]
    assert [mark.get_ydata()[0] for mark in dots] == [1.0, 1.2, -1.0, 1.1]
    spans = [
        tuple(mark.get_ydata())
        for mark in axes[0].lines
        if len(set(mark.get_ydata())) == 2 and mark.get_xdata()[0] != 0
    ]
    assert [tuple(round(end, 6) for end in span) for span in spans] == [
        (0.5, 1.5),
        (0.6, 1.8),
        (-1.7, -0.3),
        (0.3, 1.9),
    ]
    assert [label.get_text() for label in axes[0].get_xticklabels()] == list(LEADS)
    for wrong in ({}, {"2016": {}}, {"2016": LEADS, "2017": {"up to 9": LEADS["up to 9"]}}):
        with pytest.raises(ValueError, match="the same groups"):
            plot_leads(wrong, "BLEU")
