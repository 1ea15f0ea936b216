"""Photographs stand beside the maps of what is attended to in them."""

import pytest
import torch

from attnpages.figures.photographs import plot_attended_patches, plot_class_attention


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


def test_patches_fade_to_white_as_their_weight_falls():
    image = torch.zeros(1, 3, 4, 4)
    axes = plot_attended_patches(image, {"head 1": torch.tensor([[0.6, 0.3, 0.1, 0.0]])}, full=1)
    assert [ax.get_title() for ax in axes] == ["photograph", "head 1"]
    assert axes[0].images[0].get_array().max() == 0
    shown = torch.tensor(axes[1].images[0].get_array())  # (4, 4, 3)
    torch.testing.assert_close(shown[::2, ::2, 0], torch.tensor([[0.0, 0.5], [5 / 6, 1.0]]))
    assert len(axes[0].lines) == 2  # between the patches


def test_what_is_left_out_is_white_and_its_number_stands_below():
    gone = torch.tensor([[True, False, False, True]])
    maps = {"head 1": torch.ones(1, 4)}
    axes = plot_attended_patches(torch.zeros(1, 3, 4, 4), maps, {"without two": gone}, {"without two": [0.753]}, full=1)
    assert [ax.get_title() for ax in axes] == ["photograph", "head 1", "without two"]
    assert torch.tensor(axes[2].images[0].get_array())[::2, ::2, 0].tolist() == [[1, 0], [0, 1]]
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [[], [], ["0.75"]]
    with pytest.raises(ValueError, match="similar must have the titles"):
        plot_attended_patches(torch.zeros(1, 3, 4, 4), maps, {"without two": gone})


def test_the_heads_have_a_square_of_patches_per_photograph():
    for weights in (torch.ones(1, 4), torch.ones(2, 5), torch.ones(2, 9)):
        with pytest.raises(ValueError, match="head 1 must hold a square grid per photograph"):
            plot_attended_patches(torch.zeros(2, 3, 4, 4), {"head 1": weights})
    with pytest.raises(ValueError, match="maps is empty"):
        plot_attended_patches(torch.zeros(2, 3, 4, 4), {})
