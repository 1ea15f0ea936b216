"""The diagrams of chapter 14: the network of the file, and the table of Held and Karp."""

import pytest
import torch

from attnbook.data.points.tours import distances
from attnpages.figures.chapters.ch14_diagrams import draw_held_karp, draw_trip_network

SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
FIELD = torch.tensor([[[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]]])


def test_a_network_for_trips_has_one_output_per_city_and_crosses_out_visited_ones():
    ax = draw_trip_network(SQUARE, trip=[0, 3, 1])
    words = [text.get_text() for text in ax.texts]
    assert {"$h_0$", "$h_3$", "choice 1: city 3", "choice 2: city 1"} <= set(words)
    assert words.count("×") == 1 + 2
    assert [word for word in words if "last key" in word] == ["last key $h_0$", "last key $h_3$"]
    assert [words.count(city) for city in "0123"] == [0, 2, 2, 1]
    sideways = [
        patch
        for patch in ax.patches
        if hasattr(patch, "_posA_posB") and patch._posA_posB[0][1] == patch._posA_posB[1][1]
    ]
    assert len(sideways) == 2  # the chosen city goes into the next mask and into the next query
    for trip in ([0, 3], [0, 3, 3], [0, 3, 4]):
        with pytest.raises(ValueError, match="three of the 4 cities"):
            draw_trip_network(SQUARE, trip)


def test_the_table_of_four_cities_holds_what_the_hand_reckons(texts):
    words = texts(draw_held_karp(distances(FIELD)[0]))
    assert {"{1,2} → 1: 8", "{2,3} → 2: 7", "{1,2,3} → 1: 10", "home:\n14"} <= set(words)
    with pytest.raises(ValueError, match="four cities"):
        draw_held_karp(torch.zeros(3, 3))
