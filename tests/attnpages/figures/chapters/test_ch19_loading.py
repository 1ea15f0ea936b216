import pytest

from attnpages.figures.chapters.ch19_loading import draw_decoders


def test_decoders_stand_side_by_side_and_each_setting_has_its_number():
    steps = [("words", "15"), ("norm", "2"), ("attention", "4"), ("feed-forward", ""), ("output", "")]
    ax = draw_decoders({"then": steps, "now": steps})
    words = [text.get_text() for text in ax.texts]
    assert [words.count(name) for name in ("then", "now", "words", "norm", "attention", "+")] == [1, 1, 2, 4, 2, 4]
    badges = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert sorted(text.get_text() for text in badges) == sorted("15224" * 2)  # that of the norm stands at both norms
    assert len({text.get_bbox_patch().get_facecolor() for text in badges}) == 2  # those of the last column in colour
    with pytest.raises(ValueError, match=r"give five steps per column, for two at most, got \[2\]"):
        draw_decoders({"now": steps[:2]})
