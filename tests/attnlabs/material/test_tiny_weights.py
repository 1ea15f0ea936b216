"""The tiny decoder of lab 10."""

import torch

from attnlabs.material.tiny_weights import TinyWeights


def test_weights_are_shown_in_few_words():
    shapes = ((7, 4), (9, 4), (4, 4), (4, 4), (4, 4), (4, 7))
    weights = TinyWeights(*(torch.zeros(shape) for shape in shapes))
    assert repr(weights) == "weights (V = 7 words, D = 4 features, 9 positions)"
