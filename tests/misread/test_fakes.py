"""What all stand-ins can do: be copied with other tensors, and tell how much they hold."""

import torch

from misread.fakes import Fake


class Pair(Fake):
    words = "a pair"

    def __init__(self, one, more, eos):
        self.one, self.more, self.eos = one, more, eos


def test_a_copy_has_other_tensors_and_the_same_numbers():
    pair = Pair(torch.ones(2), (torch.ones(3), torch.ones(1, 2)), 7)
    other = pair.transformed(lambda tensor: 2 * tensor)
    assert isinstance(other, Pair)
    assert (other.one.tolist(), other.more[1].tolist(), other.eos) == ([2, 2], [[2, 2]], 7)
    assert pair.one.tolist() == [1, 1]


def test_it_counts_its_numbers_and_says_what_it_is():
    pair = Pair(torch.ones(2), (torch.ones(3), torch.ones(1, 2)), 7)
    assert (pair.size(), repr(pair)) == (7, "a pair")
