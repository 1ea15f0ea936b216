import json

import pytest
import torch
from made_up_translations import made_up_translations

from attnbook.measure.translation import resampled_bleu
from attnpages.figures.chapters.ch18 import (
    Score,
    draw_ngrams,
    plot_alignment_errors,
    plot_beams,
    plot_losses_twice,
    plot_score_by_words,
    plot_scores,
    plot_trainings,
)
from attnpages.figures.palette import BLACK, PALE
from attnruns.experiments import translate
from attnruns.results import provenance
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def record():
    return json.loads(json.dumps(made_up_translations(seeds=2)))


def test_each_seed_has_a_dot_on_its_interval(record):
    run = record["runs"][0]
    counts = torch.tensor([list(map(int, row.split())) for row in run["bleu_counts"]])
    value, low, high = resampled_bleu(counts, samples=50)
    rows = {
        "plain": Score([value, value], [(low, high)] * 2, [value + 1] * 2, [20.6]),
        "Luong": Score([30], [(28, 32)]),
    }
    ax = plot_scores(rows, title="German to English")
    dots = [mark for mark in ax.lines if mark.get_marker() == "o"]
    assert [mark.get_xdata()[0] for mark in dots] == [value, value, 30]
    spans = [mark.get_xdata() for mark in ax.lines if len(mark.get_xdata()) == 2]
    assert [tuple(span) for span in spans] == [(low, high), (low, high), (28, 32)]
    assert [mark.get_xdata()[0] for mark in ax.lines if mark.get_marker() == "D"] == [20.6]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["plain", "Luong"]
    assert len(ax.get_legend().get_texts()) == 3
    assert provenance(record).startswith("none: these numbers are made up")


def test_the_legend_names_only_what_is_drawn():
    ax = plot_scores({"Luong": Score([30], [(28, 32)])})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a training (seed) and its interval"]


@pytest.mark.parametrize("scores", [{}, {"Luong": Score([], [])}, {"Luong": Score([30, 31], [(28, 32)])}])
def test_a_score_needs_an_interval_per_seed(scores):
    with pytest.raises(ValueError, match="one interval per seed"):
        plot_scores(scores)


def test_each_training_is_a_dot_and_the_mean_is_written():
    ax = plot_trainings({"plain": [28.0, 29.0], "Luong": [38.0, 40.0, 40.5]}, "BLEU")
    dots = [mark for mark in ax.lines if mark.get_marker() == "o"]
    assert [list(mark.get_xdata()) for mark in dots] == [[28.0, 29.0], [38.0, 40.0, 40.5]]
    assert [text.get_text() for text in ax.texts] == ["28.5", "39.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["plain (2)", "Luong (3)"]
    for wrong in ({}, {"plain": []}):
        with pytest.raises(ValueError, match="at least one training"):
            plot_trainings(wrong, "BLEU")


def test_each_ngram_has_a_bar_and_counts_at_most_as_often_as_in_the_reference():
    ax = draw_ngrams(["the", "dog", "runs", "to", "the", "the", "park"], ["the", "dog", "walks", "to", "the", "park"])
    texts = [text.get_text() for text in ax.texts]
    assert [text for text in texts if " of " in text] == ["5 of 7", "3 of 6", "0 of 5", "0 of 4"]
    assert len(ax.patches) == 7 + 6 + 5 + 4
    filled = [patch for patch in ax.patches if patch.get_linestyle() == "-"]
    assert len(filled) == 5 + 3
    with pytest.raises(ValueError, match="at least 4 tokens, got 3"):
        draw_ngrams(["a", "b", "c"], ["a"])


def test_the_axis_of_words_says_how_many_sentences_there_are():
    ax = plot_score_by_words({"plain": {7: [30, 31], 12: [25, 26]}}, {7: 120, 12: 180})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["7\n(120)", "12\n(180)"]
    assert ax.get_ylim()[0] == 0
    assert plot_score_by_words({"plain": {7: [30], 12: [25]}}, {7: 120, 12: 180}, lowest=15).get_ylim()[0] == 15
    with pytest.raises(ValueError, match=r"sentences lacks the numbers of words \[12\]"):
        plot_score_by_words({"plain": {7: [30], 12: [25]}}, {7: 120})


def test_some_curves_by_words_stand_back_and_one_is_black():
    points = {7: [30], 12: [25]}
    ax = plot_score_by_words(dict.fromkeys(("plain", "Luong", "x"), points), {7: 1, 12: 1}, pale=["Luong"], black=["x"])
    colours = {curve.get_label(): curve.get_color() for curve in ax.lines}
    assert (colours["Luong"], colours["x"]) == (PALE, BLACK)
    assert colours["plain"] not in (PALE, BLACK)
    widths = {curve.get_label(): curve.get_linewidth() for curve in ax.lines}
    assert widths["Luong"] < widths["plain"] == widths["x"]


def test_each_seed_has_a_line_over_minutes_and_one_over_steps():
    losses = {"plain": [[(200, 3.0), (400, 2.5)], [(200, 3.1), (400, 2.6)]], "Luong": [[(100, 3.5), (300, 2.4)]]}
    timed, counted = plot_losses_twice(losses, 60, "loss (nats per piece)", highest=3.2)
    assert [list(line.get_xdata()) for line in timed.lines] == [[30, 60], [30, 60], [20, 60]]
    assert [list(line.get_xdata()) for line in counted.lines] == [[200, 400], [200, 400], [100, 300]]
    assert [list(line.get_ydata()) for line in timed.lines] == [list(line.get_ydata()) for line in counted.lines]
    assert timed.get_ylim()[1] == counted.get_ylim()[1] == 3.2
    (legend,) = timed.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["plain", "Luong"]
    with pytest.raises(ValueError, match="points for each seed"):
        plot_losses_twice({"plain": [[]]}, 60, "loss")


def test_the_alignment_error_of_each_layer_has_a_row():
    ax = plot_alignment_errors({"Luong": [[0.3], [0.4]], "Transformer": [[0.6, 0.2], [0.5, 0.3]]})
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["Luong", "Transformer, layer 1", "Transformer, layer 2"]
    dots = [list(mark.get_xdata()) for mark in ax.lines if mark.get_linestyle() == "None"]
    assert dots == [[0.3, 0.4], [0.6, 0.5], [0.2, 0.3]]
    colours = {mark.get_color() for mark in ax.lines if mark.get_linestyle() == "None"}
    of_length = plot_score_by_words({"plain": {7: [30]}, "Luong": {7: [31]}, "Transformer": {7: [32]}}, {7: 9})
    assert colours <= {mark.get_color() for mark in of_length.lines}  # a model has one colour in the chapter
    with_line = plot_alignment_errors({"Luong": [[0.3]]}, diagonal=0.43)
    assert [text.get_text() for text in with_line.texts] == ["diagonal"]
    assert len(with_line.lines) == len(plot_alignment_errors({"Luong": [[0.3]]}).lines) + 1
    with pytest.raises(ValueError, match="the same layers for each seed"):
        plot_alignment_errors({"Transformer": [[0.6, 0.2], [0.5]]})


def test_each_beam_is_named_by_its_width_and_penalty(record):
    (beams,) = [run["beams"] for run in record["runs"] if "beams" in run]
    axes = plot_beams(beams)
    axes[0].figure.canvas.draw()
    assert [label.get_text() for label in axes[1].get_xticklabels()][:2] == ["greedy", "2\nα = 0.6"]
    assert list(axes[0].lines[0].get_ydata()) == [one["bleu"] for one in beams]
    with pytest.raises(ValueError, match="beams is empty"):
        plot_beams([])


def test_the_made_up_record_has_the_fields_of_a_real_one(record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # checkpoints lie in the working folder
    figures = translate.run(Job("tiny_de_en", 0, 2)).figures
    made_up = next(run for run in record["runs"] if run["model"] == "transformer_de_en")
    assert set(made_up) - {"model", "seed", "steps", "beams"} == set(figures)
    for field in ("samples", "alignments"):
        assert set(made_up[field][0]) == set(figures[field][0])
    assert set(made_up["scores"]["validation"]["beam"]) == set(figures["scores"]["validation"]["beam"])
