"""Photographs stand beside the maps of what is attended to in them."""

import pytest
import torch

from attnpages.figures.photographs import plot_class_attention


def test_each_photograph_has_its_maps_beside_it_with_their_shares():
    objects = torch.zeros(2, 8, 8, dtype=torch.bool)
    objects[:, 2:5, 2:5] = True
    maps = {"head 1": torch.arange(8.0).view(2, 4), "random": torch.ones(2, 4)}
    shares = {"photograph": [0.14, 0.14], "head 1": [0.5, 0.6], "random": [0.1, 0.2]}
    axes = plot_class_attention(torch.rand(2, 3, 8, 8), objects, maps, shares)
    assert [ax.get_title() for ax in axes] == [
        "photograph\n0.14",
        "head 1\n0.50",
        "random\n0.10",
        "0.14",
        "0.60",
        "0.20",
    ]
    assert axes[4].images[0].get_array().tolist() == [[4.0, 5.0], [6.0, 7.0]]
    with pytest.raises(ValueError, match=r"then those of maps \['head 1', 'random'\] with 2 rows"):
        plot_class_attention(torch.rand(2, 3, 8, 8), objects, maps, {"photograph": [0.14, 0.14]})
    with pytest.raises(ValueError, match="with 1 rows"):
        plot_class_attention(torch.rand(1, 3, 8, 8), objects[:1], maps, shares)
