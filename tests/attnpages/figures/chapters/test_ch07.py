from itertools import pairwise

import pytest
import torch

from attnbook.attention import window_mask
from attnbook.measure.path_lengths import chain
from attnpages.figures.chapters.ch07 import (
    draw_attended,
    draw_reading,
    draw_two_ways,
    draw_ways,
    plot_labelled,
    spread,
    way_through,
)


def test_each_kind_is_named_with_its_number_of_hops():
    everything = torch.ones(8, 8).bool()
    axes = draw_ways(
        {"recurrent": chain(8), "window": window_mask(8, 3), "attention": everything}, within=["recurrent"]
    )
    assert [ax.get_title(loc="left") for ax in axes] == ["recurrent: 7 hops", "window: 3 hops", "attention: 1 hop"]
    assert {"words", "states"} <= {text.get_text() for text in axes[0].texts}
    assert {"words", "layer 1", "layer 2", "layer 3"} <= {text.get_text() for text in axes[1].texts}


def test_a_path_uses_only_links_that_exist():
    reads = window_mask(8, 3)
    way = way_through(reads)
    assert way[0] == 0
    assert way[-1] == 7
    assert len(way) == 4
    assert all(reads[i, j] for j, i in pairwise(way))


def test_without_a_path_none_is_drawn():
    with pytest.raises(ValueError, match="no path from the first position to the last"):
        draw_ways({"lonely": torch.eye(4).bool()})
    with pytest.raises(ValueError, match="layers is empty"):
        draw_ways({})


def test_a_reading_has_one_row_per_step_and_nothing_of_the_future(looks_right, texts):
    words = ["the", "keys", "are", "here"]
    ax = draw_reading(words, torch.full((4, 4), 0.25))
    looks_right(ax)
    assert [texts(ax).count(word) for word in words] == [4, 3, 2, 1]
    with pytest.raises(ValueError, match=r"weights must be \(4, 4\)"):
        draw_reading(words, torch.zeros(4, 3))


def test_a_darker_cell_has_the_larger_weight():
    ax = draw_reading(["a", "b", "c"], torch.tensor([[0, 0, 0], [1.0, 0, 0], [0.2, 0.8, 0]]))
    brightness = [sum(patch.get_facecolor()[:3]) for patch in ax.patches]  # a; a b; a b c
    assert brightness[3] > brightness[4]


def test_two_ways_count_the_recurrent_steps_and_write_each_word_twice(texts):
    ax = draw_two_ways(["the", "keys", "near", "it"], subject=1)
    written = texts(ax)
    assert "recurrent network: 2 steps from state to state" in written
    assert [written.count(word) for word in ("keys", "it", "?")] == [2, 2, 2]
    with pytest.raises(ValueError, match="subject is 4; 4 words have the positions 0 to 3"):
        draw_two_ways(["the", "keys", "near", "it"], subject=4)


def test_each_curve_has_its_name_at_its_end_instead_of_a_legend(looks_right):
    curves = {"self-attention": {64: [1.0, 2.0], 128: [4.0, 5.0]}, "RNN": {64: [2.0], 128: [4.4]}}
    axes = plot_labelled({"milliseconds (log)": curves, "share": {"RNN": {64: [0.5], 128: [0.25]}}}, xlabel="words")
    looks_right(axes[-1])
    assert [ax.get_legend() for ax in axes] == [None, None]
    assert axes[0].get_yscale() == "log"
    assert axes[1].get_yscale() == "linear"
    written = [{text.get_text() for text in ax.texts} for ax in axes]
    assert written == [{"self-attention", "RNN"}, {"RNN"}]
    with pytest.raises(ValueError, match="panels is empty"):
        plot_labelled({}, xlabel="words")


def test_a_model_has_the_same_style_whichever_others_stand_beside_it():
    curve = {5: [0.5], 10: [0.4]}
    looks = []
    for others in (["RNN"], ["window", "convolution"]):
        (ax,) = plot_labelled({"share": dict.fromkeys([*others, "LSTM"], curve)}, xlabel="gap")
        (line,) = [line for line in ax.get_lines() if line.get_label() == "LSTM"]
        looks.append((line.get_color(), line.get_linestyle(), line.get_marker()))
    assert looks[0] == looks[1]
    (ax,) = plot_labelled({"share": {"another model": curve, "LSTM": curve}}, xlabel="gap")
    assert len({line.get_color() for line in ax.get_lines() if line.get_label() in ("another model", "LSTM")}) == 2


def test_a_curve_that_ends_early_is_named_where_it_ends():
    (ax,) = plot_labelled({"share": {"LSTM": {5: [0.5], 10: [0.4]}, "RNN": {5: [0.3]}}}, xlabel="gap")
    assert [text.xy for text in ax.texts if text.get_text() == "RNN"] == [(5.0, 0.3)]
    assert {text.get_text() for text in ax.texts} == {"LSTM", "RNN"}


def test_names_are_moved_apart_no_further_than_needed():
    assert spread([0.1, 0.9], 0.2) == [0.1, 0.9]
    apart = spread([0.1, 0.5, 0.5, 0.52], 0.2)
    assert apart[0] == 0.1
    assert all(b - a >= 0.2 - 1e-9 for a, b in pairwise(apart))
    assert apart[2] == pytest.approx((0.5 + 0.5 + 0.52) / 3)


def test_attended_sentences_name_each_word_with_its_weight_and_the_larger_is_darker(looks_right, texts):
    ax = draw_attended(
        [("first", ["keys", "near", "?"], torch.tensor([0.7, 0.2, 0.1])), ("second", ["a", "?"], [1, 0])]
    )
    looks_right(ax)
    assert {"first", "second", "keys", "0.70", "0.20", "1.00"} <= set(texts(ax))
    brightness = [sum(patch.get_facecolor()[:3]) for patch in ax.patches]
    assert brightness[0] < brightness[1] < brightness[2]
    with pytest.raises(ValueError, match="rows is empty"):
        draw_attended([])
    with pytest.raises(ValueError, match=r"weights of row 1 must be \(2,\)"):
        draw_attended([("short", ["a", "b"], [1.0])])
