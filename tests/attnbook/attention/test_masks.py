"""Masks against loops over their places, and what they refuse."""

import pytest
import torch

from attnbook.attention import causal_mask, global_mask, masks, padding_mask, sink_mask, window_mask
from attnbook.attention.masks import kept_causal_mask


def test_a_kept_causal_mask_is_the_causal_mask_and_the_same_each_time(device):
    mask = kept_causal_mask(5, device)
    assert torch.equal(mask, causal_mask(5, device))
    assert kept_causal_mask(5, device) is mask


def test_a_long_mask_is_not_kept(device, monkeypatch):
    monkeypatch.setattr(masks, "LONGEST_KEPT", 5)
    mask = kept_causal_mask(6, device)
    assert torch.equal(mask, causal_mask(6, device))
    assert kept_causal_mask(6, device) is not mask


def test_padding_mask_is_true_at_the_real_words(device):
    mask = padding_mask(torch.tensor([3, 0, 1], device=device), max_length=4)
    assert mask.tolist() == [[True, True, True, False], [False] * 4, [True, False, False, False]]
    assert mask.dtype == torch.bool
    assert mask.device.type == device.type


def test_padding_mask_is_as_wide_as_the_longest_sentence_when_nothing_is_said():
    assert padding_mask(torch.tensor([2, 5, 1])).shape == (3, 5)


@pytest.mark.parametrize("kind", [torch.int32, torch.int64, torch.uint8])
def test_padding_mask_takes_any_whole_numbers(kind):
    assert padding_mask(torch.tensor([1, 2], dtype=kind)).tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("lengths", [torch.tensor([1.0, 2.0]), torch.tensor([True, False])])
def test_padding_mask_refuses_lengths_that_are_no_whole_numbers(lengths):
    with pytest.raises(TypeError, match=r"lengths must be whole numbers, got torch\.\w+; use lengths.long"):
        padding_mask(lengths)


@pytest.mark.parametrize("lengths", [torch.ones(2, 2).long(), torch.ones(0).long(), torch.tensor(3)])
def test_padding_mask_refuses_lengths_of_another_shape(lengths):
    with pytest.raises(ValueError, match=r"lengths must have shape \(B,\) with B > 0, got"):
        padding_mask(lengths)


@pytest.mark.parametrize("lengths", [[1, 5], [-1, 2]])
def test_padding_mask_refuses_lengths_out_of_range(lengths):
    with pytest.raises(ValueError, match=r"lengths must lie between 0 and max_length = 4, got \[-?1, \d\]"):
        padding_mask(torch.tensor(lengths), max_length=4)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_causal_mask_lets_a_place_see_itself_and_the_past(device, length):
    mask = causal_mask(length, device=device)
    assert mask.tolist() == [[key <= query for key in range(length)] for query in range(length)]
    assert mask.dtype == torch.bool
    assert mask.device.type == device.type


@pytest.mark.parametrize("length", [0, -2])
def test_causal_mask_refuses_a_length_below_one(length):
    with pytest.raises(ValueError, match=f"length must be at least 1, got {length}"):
        causal_mask(length)


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("radius", [0, 1, 3, 9])
def test_window_mask_lets_a_place_see_its_neighbours(device, length, radius):
    mask = window_mask(length, radius, device=device)
    assert mask.tolist() == [[abs(query - key) <= radius for key in range(length)] for query in range(length)]
    assert mask.dtype == torch.bool
    assert mask.device.type == device.type


def test_window_mask_of_no_radius_is_the_place_itself_and_of_a_large_one_everything():
    assert torch.equal(window_mask(4, 0), torch.eye(4).bool())
    assert window_mask(4, 3).all()


@pytest.mark.parametrize("length", [0, -2])
def test_window_mask_refuses_a_length_below_one(length):
    with pytest.raises(ValueError, match=f"length must be at least 1, got {length}"):
        window_mask(length, 1)


def test_window_mask_refuses_a_negative_radius():
    with pytest.raises(ValueError, match=r"radius must be at least 0 \(only the position itself\), got -1"):
        window_mask(4, -1)


@pytest.mark.parametrize("start", [0, 1, 4])
def test_masks_from_a_later_query_on_are_the_last_rows(start):
    assert torch.equal(causal_mask(5, start=start), causal_mask(5)[start:])
    assert torch.equal(window_mask(5, 1, start=start), window_mask(5, 1)[start:])


@pytest.mark.parametrize("start", [0, 3])
def test_sinks_are_the_first_positions_for_every_query(device, start):
    mask = sink_mask(5, 2, device, start)
    assert mask.tolist() == [[True, True, False, False, False]] * (5 - start)
    assert mask.device.type == device.type


def test_a_global_position_attends_to_all_and_all_attend_to_it(device):
    mask = global_mask(4, torch.tensor([2], device=device))
    assert mask.tolist() == [[i == 2 or j == 2 for j in range(4)] for i in range(4)]


def test_sinks_and_global_positions_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"sinks must be at least 0 \(none\), got -1"):
        sink_mask(4, -1)
    for wrong in ([4], [-1], [1, 1]):
        with pytest.raises(ValueError, match=r"everywhere must be different positions from 0 to 3, got \["):
            global_mask(4, torch.tensor(wrong))
    with pytest.raises(ValueError, match=r"everywhere must have shape \(G,\), got \(1, 1\)"):
        global_mask(4, torch.tensor([[1]]))
    with pytest.raises(TypeError, match="everywhere must be whole numbers"):
        global_mask(4, torch.tensor([1.0]))
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        sink_mask(0, 1)
