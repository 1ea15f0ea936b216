from itertools import pairwise

import pytest
import torch

from attnbook.attention import window_mask
from attnbook.path_lengths import chain
from attnbook.plotting.chapters.ch07 import draw_reading, draw_ways, way_through


def test_each_kind_is_named_with_its_number_of_hops():
    everything = torch.ones(8, 8).bool()
    axes = draw_ways(
        {"recurrent": chain(8), "window": window_mask(8, 3), "attention": everything}, within=["recurrent"]
    )
    assert [ax.get_title(loc="left") for ax in axes] == ["recurrent: 7 hops", "window: 3 hops", "attention: 1 hop"]
    assert {"words", "states"} <= {text.get_text() for text in axes[0].texts}
    assert {"words", "layer 1", "layer 2", "layer 3"} <= {text.get_text() for text in axes[1].texts}


def test_a_way_leads_over_links_that_there_are():
    reads = window_mask(8, 3)
    way = way_through(reads)
    assert way[0] == 0
    assert way[-1] == 7
    assert len(way) == 4
    assert all(reads[i, j] for j, i in pairwise(way))


def test_where_no_way_leads_none_is_drawn():
    with pytest.raises(ValueError, match="no way from the first place to the last"):
        draw_ways({"lonely": torch.eye(4).bool()})
    with pytest.raises(ValueError, match="layers is empty"):
        draw_ways({})


def test_a_reading_writes_a_row_a_step_and_nothing_of_the_future(looks_right, texts):
    words = ["the", "keys", "are", "here"]
    ax = draw_reading(words, torch.full((4, 4), 0.25))
    looks_right(ax)
    assert [texts(ax).count(word) for word in words] == [4, 3, 2, 1]
    with pytest.raises(ValueError, match=r"weights must be \(4, 4\)"):
        draw_reading(words, torch.zeros(4, 3))


def test_a_darker_cell_has_the_larger_weight():
    ax = draw_reading(["a", "b", "c"], torch.tensor([[0, 0, 0], [1.0, 0, 0], [0.2, 0.8, 0]]))
    brightness = [sum(patch.get_facecolor()[:3]) for patch in ax.patches]  # a; a b; a b c
    assert brightness[3] > brightness[4]
