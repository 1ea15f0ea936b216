import pytest

from attnpages.figures.chapters.ch09_writing import draw_training_and_writing

GIVEN, TARGET = ["BOS", "zwei", "und"], ["zwei", "und", "EOS"]


def test_training_shows_all_words_and_each_step_of_writing_one_more(texts):
    shown = texts(draw_training_and_writing(GIVEN, TARGET, steps=2))
    assert shown.count("decoder") == 3  # one for training, one per step
    assert shown.count("BOS") == 2 + 2  # two rows of training
    assert shown.count("zwei") == 2 * 2 + 2  # in training given and wanted; written in step 1, given in step 2
    assert shown.count("und") == 2 * 2 + 1
    assert shown.count("EOS") == 2


def test_a_recurrent_network_takes_one_step_per_word(texts):
    shown = texts(draw_training_and_writing(GIVEN, TARGET, steps=2))
    assert [text for text in shown if text.startswith("step")] == ["step 1", "step 2", "step 3"]


@pytest.mark.parametrize(("given", "target", "steps"), [(GIVEN, TARGET[:2], 2), (GIVEN, TARGET, 4), (GIVEN, TARGET, 0)])
def test_words_that_do_not_fit_are_refused(given, target, steps):
    with pytest.raises(ValueError, match="need as many targets, and at most as many steps"):
        draw_training_and_writing(given, target, steps)
