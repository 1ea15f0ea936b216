import pytest

from attnpages.figures.chapters.ch07_exchange import draw_exchange

WORDS, TWIN = ["the", "keys", "here"], ["the", "key", "here"]


def test_each_word_has_its_weight_and_the_twin_gives_one_value(texts):
    written = texts(draw_exchange(WORDS, [0.1, 0.7, 0.2], TWIN))
    assert {"keys", "key", "0.10", "0.70", "0.20", "weights from “here”", "the value vector of “key”"} <= set(written)
    assert [written.count(word) for word in ("the", "here")] == [2, 2]


def test_the_larger_weight_is_darker():
    boxes = draw_exchange(WORDS, [0.1, 0.7, 0.2], TWIN).patches
    brightness = [sum(boxes[i].get_facecolor()[:3]) for i in (0, 2, 4)]  # every second box is the twin's
    assert brightness[1] < brightness[2] < brightness[0]


def test_weights_and_twin_must_fit_the_words():
    with pytest.raises(ValueError, match=r"weights must be \(3,\)"):
        draw_exchange(WORDS, [0.5, 0.5], TWIN)
    with pytest.raises(ValueError, match="must differ in one of 3 words"):
        draw_exchange(WORDS, [0.1, 0.7, 0.2], WORDS)
