"""Hops and steps counted on graphs, against what one counts by hand."""

from math import ceil

import pytest
import torch

from attnbook.attention import causal_mask, sink_mask, window_mask
from attnbook.measure.path_lengths import chain, dilated, hops, longest_path, reach, segments, sequential_steps


def test_a_chain_needs_a_hop_for_each_step_and_knows_nothing_of_the_future():
    assert hops(chain(4)).tolist() == [[0, -1, -1, -1], [1, 0, -1, -1], [2, 1, 0, -1], [3, 2, 1, 0]]
    assert longest_path(chain(9)) == 8


@pytest.mark.parametrize("radius", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [2, 8, 30])
def test_a_window_needs_as_many_layers_as_windows_lie_between_the_ends(length, radius):
    assert longest_path(window_mask(length, radius)) == ceil((length - 1) / radius)


def test_attention_needs_one_hop():
    assert longest_path(torch.ones(8, 8).bool()) == 1
    assert longest_path(causal_mask(8)) == 1
    assert longest_path(torch.ones(1, 1).bool()) == 0


def test_hops_agree_with_a_search_on_random_graphs():
    for seed in range(5):
        reads = torch.rand(7, 7, generator=torch.Generator().manual_seed(seed)) < 0.2
        found = hops(reads)
        for start in range(7):
            distance, frontier = {start: 0}, [start]
            for place in frontier:
                for further in range(7):
                    if reads[further, place] and further not in distance:
                        distance[further] = distance[place] + 1
                        frontier.append(further)
            assert found[:, start].tolist() == [distance.get(place, -1) for place in range(7)]


def test_a_dilated_convolution_reads_itself_and_two_others():
    assert dilated(5, 2)[2].tolist() == [True, False, True, False, True]
    assert torch.equal(dilated(5, 1), window_mask(5, 1))


def test_a_chain_takes_as_many_steps_as_places_and_what_waits_for_nobody_one():
    assert sequential_steps(chain(8)) == 8
    assert sequential_steps(torch.zeros(8, 8).bool()) == 1
    tree = torch.zeros(7, 7).bool()
    tree[0, 1] = tree[0, 2] = tree[1, 3] = tree[1, 4] = tree[2, 5] = tree[2, 6] = True
    assert sequential_steps(tree) == 3


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match="reads must be boolean"):
        hops(torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"reads must be square, \(T, T\), got \(2, 3\)"):
        hops(torch.ones(2, 3).bool())
    with pytest.raises(ValueError, match="waits has a circle"):
        sequential_steps(torch.ones(2, 2).bool())
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        chain(0)
    with pytest.raises(ValueError, match="step must be at least 1, got 0"):
        dilated(4, 0)


def test_a_chain_of_one_place_reads_nothing():
    assert chain(1).tolist() == [[False]]


@pytest.mark.parametrize("layers", [0, 1, 3])
@pytest.mark.parametrize("radius", [1, 2])
def test_a_stack_of_windows_reaches_as_far_as_layers_times_radius(layers, radius):
    window = window_mask(12, radius)
    assert torch.equal(reach(window, layers), window_mask(12, layers * radius))
    assert torch.equal(reach(window & causal_mask(12), layers), window_mask(12, layers * radius) & causal_mask(12))


def test_with_a_sink_each_position_knows_of_it_at_once_and_of_nothing_else_more():
    reads = causal_mask(9) & (window_mask(9, 1) | sink_mask(9, 1))
    assert reach(reads, 1)[8].nonzero()[:, 0].tolist() == [0, 7, 8]
    assert reach(reads, 2)[8].nonzero()[:, 0].tolist() == [0, 6, 7, 8]


def test_a_memory_reaches_one_more_memory_per_layer_and_none_without():
    reads = segments(12, 4, memory=4)
    assert reads[8].nonzero()[:, 0].tolist() == [4, 5, 6, 7, 8]
    assert reads[11].nonzero()[:, 0].tolist() == list(range(4, 12))
    assert reach(reads, 2)[8].nonzero()[:, 0].tolist() == list(range(9))
    assert reach(segments(12, 4, memory=2), 2)[8].nonzero()[:, 0].tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert reach(segments(12, 4), 5)[8].nonzero()[:, 0].tolist() == [8]


def test_segments_and_layers_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="segment must be at least 1 and memory at least 0, got 0 and 2"):
        segments(4, 0, 2)
    with pytest.raises(ValueError, match="layers must be at least 0, got -1"):
        reach(chain(3), -1)
