import matplotlib.pyplot as plt
import pytest

from attnpages.figures.chapters.ch04_steps import draw_orders, draw_writing


def written_in(ax):
    return [text.get_text() for text in ax.texts]


def test_the_two_decoders_differ_in_their_query_and_only_one_is_fed():
    bahdanau, luong = map(written_in, draw_orders(["sechs", ","], [",", "zwei"], "six , two"))
    assert "query\n$s_{t-1}$" in bahdanau
    assert "query\n$s_t$" in luong
    assert ["input feeding" in texts for texts in (bahdanau, luong)] == [False, True]
    assert [sum(text.isdigit() for text in texts) for texts in (bahdanau, luong)] == [3, 4]


def test_the_words_of_both_steps_stand_beside_their_letters():
    for ax in draw_orders(["sechs", ","], [",", "zwei"], "six , two"):
        texts = {*written_in(ax)}
        assert {"$y_{t-2}$ = sechs", "$y_{t-1}$ = ,", "$y_{t}$ = zwei", "annotations of: six , two"} <= texts


def test_orders_need_the_words_of_two_steps():
    with pytest.raises(ValueError, match="read and written have two words; got 1 and 2"):
        draw_orders(["sechs"], [",", "zwei"], "six")


def test_a_wrong_word_is_marked_and_a_weight_is_the_strength_of_its_cell():
    axes = draw_writing({"a": [("eins", [0.25, 0.75], True), ("drei", [1.1, 0.0], False)], "b": []}, ["1", "2"])
    assert written_in(axes[0]) == ["eins", "drei ×"]
    assert [bar.get_alpha() for bar in axes[0].patches] == [0.25, 0.75, 1.0, 0.0]
    assert [tick.get_text() for tick in axes[1].get_xticklabels()] == ["1", "2"]
    plt.close("all")


def test_each_word_needs_a_weight_per_number():
    with pytest.raises(ValueError, match="'eins' must have one weight for each of the 2 numbers; got 1"):
        draw_writing({"a": [("eins", [1.0], True)]}, ["1", "2"])
