import pytest
import torch

from attnpages.figures.chapters.ch16_vision import draw_vision_transformer, plot_attended


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


def test_patches_fade_to_white_as_their_weight_falls():
    image = torch.zeros(1, 3, 4, 4)
    axes = plot_attended(image, {"head 1": torch.tensor([[0.6, 0.3, 0.1, 0.0]])}, full=1)
    assert [ax.get_title() for ax in axes] == ["photograph", "head 1"]
    assert axes[0].images[0].get_array().max() == 0
    shown = torch.tensor(axes[1].images[0].get_array())  # (4, 4, 3)
    torch.testing.assert_close(shown[::2, ::2, 0], torch.tensor([[0.0, 0.5], [5 / 6, 1.0]]))
    assert len(axes[0].lines) == 2  # between the patches


def test_the_heads_have_a_square_of_patches_per_photograph():
    for weights in (torch.ones(1, 4), torch.ones(2, 5), torch.ones(2, 9)):
        with pytest.raises(ValueError, match="head 1 must hold a square grid per photograph"):
            plot_attended(torch.zeros(2, 3, 4, 4), {"head 1": weights})
