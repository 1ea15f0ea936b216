import pytest
import torch

from attnbook.data.tours import distances
from attnbook.plotting.diagrams_14 import draw_held_karp, draw_pointing

FIELD = torch.tensor([[[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]]])


def test_both_endings_are_named(texts):
    words = texts(draw_pointing())
    assert {"query", "keys", "score", "normalise", "values", "weighted sum", "a place"} <= set(words)


def test_the_table_of_four_cities_holds_what_the_hand_reckons(texts):
    words = texts(draw_held_karp(distances(FIELD)[0]))
    assert {"{1,2} → 1: 8", "{2,3} → 2: 7", "{1,2,3} → 1: 10", "home:\n14"} <= set(words)
    with pytest.raises(ValueError, match="four cities"):
        draw_held_karp(torch.zeros(3, 3))
