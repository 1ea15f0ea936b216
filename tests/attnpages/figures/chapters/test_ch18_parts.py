import pytest
import torch

from attnpages.figures.chapters.ch18_parts import Chances, Lead, plot_chances, plot_leads, plot_precision_and_brevity

LEADS = {"up to 9": Lead((1.0, 0.5), (1.2, 0.6)), "10 and more": Lead((-1.0, 0.7), (1.1, 0.8))}


def test_captions_trainings_and_both_stand_in_three_rows():
    few = Chances(torch.linspace(1.0, 3.0, 101), (10, 12), (12, 14), 5.0)
    axes = plot_chances({"three": few, "eight": few._replace(half=1.0)}, "ahead, in BLEU")
    dots = {mark.get_marker(): list(mark.get_xdata()) for mark in axes[0].lines if len(mark.get_xdata()) == 2}
    assert dots["s"] == [-1, 1]  # less the mean of the first model
    assert dots["o"] == [1, 3]
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [["−3.0 to 7.0"], ["1.0 to 3.0"]]
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["other captions", "trainings", "both"]
    assert sum(patch.get_x() + patch.get_width() <= 3.0 + 1e-9 for patch in axes[0].patches) == 21
    for wrong in ({}, {"three": few._replace(first=())}):
        with pytest.raises(ValueError, match="trainings of both models"):
            plot_chances(wrong, "ahead")


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
