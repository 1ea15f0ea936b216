import pytest
import torch

from attnpages.figures.chapters.ch06 import draw_captioner, draw_choice, example_canvas


def test_the_canvas_of_the_chapter_has_two_digits_and_an_empty_cell_that_shows_nothing_of_them():
    image = example_canvas()
    assert image.shape == (24, 24)
    assert torch.equal(image, example_canvas())
    ink = (image > 0.5).nonzero().float()
    assert ink.min(dim=0).values.tolist() == [9, 2]
    assert ink.max(dim=0).values.tolist() == [13, 12]  # the third cell of the row depends on the columns from 13 on


def test_a_choice_shows_probabilities_and_rewards_of_three_cells(looks_right):
    ax = draw_choice(torch.rand(3, 28, 28), example_canvas(), [0.5, 0.3, 0.2], [-3.0, -1.0, -2.0])
    texts = [text.get_text() for text in ax.texts]
    assert [text for text in texts if text in ("0.5", "0.3", "0.2")] == ["0.5", "0.3", "0.2"]
    assert {"0.05", "0.37", "0.14", "−3", "−1", "−2"} < set(texts)
    assert [picture.get_array().shape for picture in ax.images] == [
        (28, 28, 3), (24, 24), (8, 8), (8, 8), (8, 8)
    ]  # fmt: skip


def test_a_choice_of_other_than_three_is_refused():
    with pytest.raises(ValueError, match="must be three"):
        draw_choice(torch.rand(3, 28, 28), example_canvas(), [0.5, 0.5], [-3.0, -1.0, -2.0])


def test_the_captioner_writes_the_third_word_of_this_canvas(looks_right):
    ax = draw_captioner(example_canvas())
    assert {"previous word: left-of", "next word: seven"} < {text.get_text() for text in ax.texts}
    assert ax.get_xlim() == (0, 10.4)
