"""What lab 9 starts from: the attention of lab 8 with plain matrices, equal to the package's own."""

import pytest
import torch

from attnbook.attention.multihead import MultiHeadAttention
from attnlabs import Draw
from attnlabs.lab09.parameters import draw_attention, draw_decoder, draw_encoder
from attnlabs.material.layer_parameters import multi_head_attention


def test_the_attention_is_the_packages_with_the_same_weights():
    draw = Draw(0, 1)
    parameters, layer = draw_attention(draw, 6, 3), MultiHeadAttention(6, 3, bias=False).double()
    parts = (layer.project_query, layer.project_key, layer.project_value, layer.project_output)
    for part, W in zip(parts, parameters[:4], strict=True):
        part.weight.data.copy_(W.mT)
    query, memory, mask = draw.normal(2, 4, 6), draw.normal(2, 5, 6), draw.mask(2, 4, 5)
    for ours, theirs in zip(
        multi_head_attention(query, memory, memory, *parameters, mask), layer(query, memory, memory, mask), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_parameters_are_shown_in_few_words():
    draw = Draw(0, 1)
    assert repr(draw_encoder(draw, 4, 2, 5)) == "parameters of an encoder layer (D = 4, 2 heads, F = 5)"
    decoder = draw_decoder(draw, 4, 2, 5)
    assert repr(decoder) == "parameters of a decoder layer (D = 4, 2 heads, F = 5)"
    assert repr(decoder.cross_attention) == "attention (D = 4, 2 heads)"
    assert repr(decoder.feed_forward) == "feed-forward (D = 4, F = 5)"


@pytest.mark.parametrize("part", ["self_attention", "norm_3", "feed_forward"])
def test_parameters_in_place_of_a_function_say_what_is_wanted(part):
    parameters = getattr(draw_decoder(Draw(0, 1), 4, 2, 5), part)
    with pytest.raises(TypeError, match="wants a function: `lambda y: "):
        parameters(torch.ones(1, 2, 4))
