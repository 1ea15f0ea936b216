"""Positions for longer sequences: a head's window hides what lies farther back, and random positions rise."""

import pytest
import torch

from attnbook.attention import Drawn, HardBias, RandomRotary, Rotary, WindowedRotary


def test_a_head_sees_its_last_words_and_another_sees_all(device):
    at = torch.arange(5, device=device)
    bias = HardBias((1, 3, None)).bias(at, at)
    back = at[:, None] - at
    for head, window in enumerate((1, 3, 100)):
        assert torch.equal(bias[head] == 0, back < window)
    assert torch.equal(bias.isinf(), bias != 0)


def test_a_query_at_the_end_gets_the_last_row():
    at = torch.arange(6)
    positions = HardBias((2, None))
    assert torch.equal(positions.bias(at[4:], at), positions.bias(at, at)[:, 4:])


@pytest.mark.parametrize("windows", [(), (0,), (2, -1, None)])
def test_a_window_without_words_is_refused(windows):
    with pytest.raises(ValueError, match="windows must hold a positive number or None"):
        HardBias(windows)


def test_drawn_positions_rise_and_stay_within_their_range():
    torch.manual_seed(0)
    drawn, seen = Drawn(20), set()
    for _ in range(50):
        drawn.draw(7)
        assert len(drawn.at) == 7
        assert (drawn.at.diff() > 0).all()
        seen |= set(drawn.at.tolist())
    assert seen == set(range(20))
    drawn.draw(20)
    assert drawn.at.tolist() == list(range(20))


def test_a_sequence_longer_than_the_range_is_refused():
    with pytest.raises(ValueError, match="length must be at most longest = 4, got 5"):
        Drawn(4).draw(5)


def test_random_positions_are_those_of_the_draw(draw, close):
    torch.manual_seed(1)
    drawn = Drawn(30)
    drawn.draw(6)
    heads = draw(2, 3, 6, 8)
    rows = torch.arange(6, device=heads.device)
    close(RandomRotary(drawn).rotate(heads, rows), Rotary().rotate(heads, drawn.at.to(heads.device)))


def test_all_positions_in_order_are_ordinary_rotary_positions(draw, close):
    drawn = Drawn(6)
    heads = draw(2, 3, 6, 8)
    at = torch.arange(6, device=heads.device)
    close(RandomRotary(drawn).rotate(heads, at), Rotary().rotate(heads, at))


def test_a_windowed_head_turns_as_rotary_positions_and_sees_its_last_words(draw, close):
    x, positions = draw(2, 3, 6, 8), WindowedRotary(3)
    at = torch.arange(6, device=x.device)
    close(positions.rotate(x, at), Rotary().rotate(x, at))
    assert torch.equal(positions.bias(at, at), HardBias((3,)).bias(at, at))


def test_a_window_of_nothing_is_refused_by_its_name():
    with pytest.raises(ValueError, match="window must be positive, got 0"):
        WindowedRotary(0)
