import pytest
import torch

from attnbook.data.pictures.digit_pairs import digit_pairs
from attnbook.models.sagan import ImageDiscriminator, ImageGenerator
from attnpages.figures.chapters.ch16_networks import FIELD, OF_DIGITS, OF_SCORES, draw_layer, plot_networks, plot_reach


def columns_of(output, inputs, scale):
    """The pixels of the canvas's width from the first to the last column on which a number depends."""
    (gradient,) = torch.autograd.grad(output, inputs, retain_graph=True)
    found = gradient.abs().sum(dim=(0, 1, 2)).nonzero().flatten()
    return found.min().item() * scale, (found.max().item() + 1) * scale


def test_the_drawn_columns_of_the_generator_are_those_with_a_gradient():
    torch.manual_seed(0)
    model = ImageGenerator(attention=False).eval()
    noise = model.noise(20).requires_grad_()
    hidden = model.hidden(noise)
    image = model.output(model.third(torch.nn.functional.interpolate(hidden, scale_factor=2)))
    for canvas, on_map, on_noise in OF_DIGITS:
        drawn = image[..., slice(*canvas)].square().sum()
        assert columns_of(drawn, hidden, 2) == on_map
        assert columns_of(drawn, noise, 4) == on_noise


def test_the_drawn_columns_of_the_discriminator_are_those_with_a_gradient():
    torch.manual_seed(0)
    model = ImageDiscriminator(attention=False, normalised=False)
    image = torch.rand(20, 1, 8, 32, requires_grad=True)
    hidden = model.hidden(image)
    scores = model.output(model.fourth(model.third(hidden).relu()).relu())
    for position, on_map, on_canvas in OF_SCORES:
        score = scores[..., position[0] // 2].sum()
        assert columns_of(score, hidden, 2) == on_map
        assert columns_of(score, image, 1) == on_canvas


def test_the_field_grows_layer_by_layer_and_is_drawn_as_long_as_it_is():
    assert all(end - start == size for size, (start, end) in FIELD.items())
    ax = plot_reach(digit_pairs(1).image[0, 0])
    drawn = [bar.get_xdata() for bar in ax.lines if bar.get_linewidth() == 5]
    assert [end - start for start, end in drawn] == [3, 6, 10, 14]
    assert any("18" in text.get_text() for text in ax.texts)


def test_both_networks_have_a_place_for_a_link():
    ax = plot_networks(digit_pairs(1).image[0, 0])
    words = [text.get_text() for text in ax.texts]
    assert words.count("link?") == 2
    assert {"generator", "discriminator"} <= set(words)


def test_the_layer_names_its_parts():
    words = " ".join(text.get_text() for text in draw_layer().texts)
    assert all(part in words for part in ("queries", "keys", "values", "weights", "residual connection"))


def test_a_canvas_has_one_size():
    for draw in (plot_reach, plot_networks):
        with pytest.raises(ValueError, match="one canvas of 8 × 32 pixels"):
            draw(torch.zeros(8, 16))
