import pytest
import torch

from attnpages.figures.chapters.ch16_vision import draw_vision_transformer


def test_the_patches_are_those_of_the_image_row_by_row():
    image = torch.rand(8, 8)
    whole, *patches = draw_vision_transformer(image, 3).images
    assert whole.get_array().tolist() == image.tolist()
    cut = torch.nn.functional.unfold(image[None, None], 2, stride=2)[0].T.view(16, 2, 2)
    assert [patch.get_array().tolist() for patch in patches] == cut.tolist()
    corners = [patch.get_extent()[0] for patch in patches]
    assert corners == sorted(corners)


def test_there_are_17_positions_and_the_class_is_named():
    words = [text.get_text() for text in draw_vision_transformer(torch.zeros(8, 8), 7).texts]
    assert [word for word in words if word.isdigit()] == [str(i) for i in range(17)]
    assert {"class token", "17 vectors", "ten logits: class 7"} <= set(words)


def test_the_image_has_one_size():
    with pytest.raises(ValueError, match="8 × 8 pixels"):
        draw_vision_transformer(torch.zeros(8, 32), 0)
