import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch12_masks import draw_masks, draw_ways_back
from attnpages.figures.palette import READS
from attnpages.figures.style import STYLES


def test_masks_show_their_pairs_and_what_arrives_through_a_second_layer():
    causal = np.tril(np.ones((4, 4), dtype=bool))
    window = causal & ~np.tri(4, k=-2, dtype=bool)
    whole, near = draw_masks({"all": causal, "window of 2": window})
    assert (whole.get_xlabel(), near.get_xlabel()) == ("10 pairs\nreaches 4 of 4", "7 pairs\nreaches 3 of 4")
    colours = [patch.get_facecolor() for patch in near.patches]
    assert [colours.count(to_rgba(colour)) for colour in (STYLES[0].colour, READS, "white")] == [7, 2, 1]
    assert sorted(map(tuple, near.collections[0].get_offsets())) == [(0, 2), (1, 3)]
    for wrong in ({}, {"later": np.ones((2, 2), dtype=bool)}):
        with pytest.raises(ValueError, match="must be causal, and at least one"):
            draw_masks(wrong)


def test_a_memory_takes_one_hop_of_a_segment_per_layer(texts):
    above, below = draw_ways_back(12, window=3, layers=5, size=4, titles=["windows", "segments"])
    assert {"segment 1", "segment 2", "segment 3", "layer 2", "tokens"} <= set(texts(below))
    hops = [[p._posA_posB for p in ax.patches if isinstance(p, FancyArrowPatch)] for ax in (above, below)]
    assert len(hops[0]) == 5
    assert sorted(tuple(map(tuple, hop)) for hop in hops[1]) == [((0, 0), (4, 1)), ((4, 1), (11, 2))]
    reads = 8 + sum(p + 1 for p in range(4, 8)) + sum(p - 3 for p in range(8, 12))  # of the last one, then of layer 1
    assert len(below.lines) == reads - 2 + 2  # without the two hops, and the two edges of segments
    with pytest.raises(ValueError, match="size must divide T"):
        draw_ways_back(12, window=3, layers=5, size=5, titles=["a", "b"])
