"""The generator of the checks says how a student makes the same one."""

import torch

from attnlabs.fakes.generator import Generator


def test_a_generator_is_printed_as_what_makes_it():
    made = Generator(7)
    again = eval(repr(made), {"torch": torch})
    assert torch.equal(torch.rand(3, generator=made), torch.rand(3, generator=again))
