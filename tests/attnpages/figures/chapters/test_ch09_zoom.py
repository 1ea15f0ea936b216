import pytest

from attnpages.figures.chapters.ch09_zoom import Head, draw_from_outside, draw_heads_by_hand

SOURCE, GIVEN, TARGET = ["forty", "two"], ["BOS", "zwei", "und", "vierzig"], ["zwei", "und", "vierzig", "EOS"]
SAME, OTHER = (1.0, -1.0), (-1.0, 1.0)
EQUAL = Head(SAME, [SAME, SAME], (1.414, 1.414), (0.5, 0.5), [SAME, SAME], SAME)
MOSTLY = Head(SAME, [SAME, OTHER], (1.414, -1.414), (0.9442, 0.0558), [SAME, OTHER], (0.888, -0.888))
JOINED = (1.0, -1.0, 0.888, -0.888)


def test_the_written_word_becomes_the_next_input(texts):
    shown = texts(draw_from_outside(SOURCE, GIVEN, TARGET, step=2))
    assert {"Transformer", "encoder", "decoder", "forty two", "zwei und vierzig"} <= set(shown)
    assert shown.count("und") == 2  # leaves the decoder, and waits below it
    assert shown.count("vierzig") == 0
    assert {*SOURCE, "BOS", "zwei"} <= set(shown)


@pytest.mark.parametrize(("target", "step"), [(TARGET[:2], 2), (TARGET, 0), (TARGET, 4)])
def test_words_or_a_step_that_do_not_fit_are_refused(target, step):
    with pytest.raises(ValueError, match="4 words need as many targets, and a step below that"):
        draw_from_outside(SOURCE, GIVEN, target, step)


def test_each_step_of_both_heads_has_its_numbers(texts):
    shown = texts(draw_heads_by_hand(SOURCE, [EQUAL, MOSTLY], JOINED))
    assert [text for text in shown if text[0].isdigit() and text[1:3] == "  "][:3] == [
        "1  query", "2  keys", "3  scores",
    ]  # fmt: skip
    assert {"head 0", "head 1", "1.41", "−1.41", "0.5", "0.944", "0.056", "(0.89, −0.89)"} <= set(shown)
    assert shown.count("(1, −1, 0.89, −0.89)") == 1  # side by side
    assert (shown.count("two"), shown.count("forty")) == (4, 2)  # the query is the last word's


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="two heads are drawn, got 1"):
        draw_heads_by_hand(SOURCE, [EQUAL], JOINED)
    with pytest.raises(ValueError, match="for each of 2 words"):
        draw_heads_by_hand(SOURCE, [EQUAL, MOSTLY._replace(keys=[SAME])], JOINED)
