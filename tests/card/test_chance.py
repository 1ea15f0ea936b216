"""Generators belong to a device, as CUDA's do."""

import pytest
import torch
import torch.nn.functional as F

DRAWS = {
    "randn": lambda g: torch.randn(3, device="card", generator=g),
    "rand": lambda g: torch.rand(3, device="card", generator=g),
    "randint": lambda g: torch.randint(9, (3,), device="card", generator=g),
    "randperm": lambda g: torch.randperm(5, device="card", generator=g),
    "normal": lambda g: torch.normal(0.0, 1.0, (3,), device="card", generator=g),
    "multinomial": lambda g: torch.multinomial(torch.ones(4, device="card"), 2, generator=g),
    "bernoulli": lambda g: torch.bernoulli(torch.full((3,), 0.5, device="card"), generator=g),
    "normal_": lambda g: torch.empty(3, device="card").normal_(generator=g),
    "uniform_": lambda g: torch.empty(3, device="card").uniform_(generator=g),
    "exponential_": lambda g: torch.empty(3, device="card").exponential_(generator=g),
}


def seeded(seed: int) -> torch.Generator:
    """A generator of the card."""
    return torch.Generator(device="card").manual_seed(seed)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_draw_takes_a_generator_of_its_device_alone(draw):
    with pytest.raises(RuntimeError, match="Expected a 'card' device type for generator but found 'cpu'"):
        draw(torch.Generator().manual_seed(0))
    drawn = draw(seeded(0))
    assert drawn.device.type == "card"
    assert torch.equal(drawn, draw(seeded(0)))


def test_the_cpu_refuses_a_generator_of_the_card():
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'card'"):
        torch.randn(3, generator=seeded(0))


def test_the_same_seed_draws_other_numbers_than_on_the_cpu():
    drawn = torch.randn(3, device="card", generator=seeded(5))
    assert not torch.equal(drawn.cpu(), torch.randn(3, generator=torch.Generator().manual_seed(5)))


def test_a_generator_knows_its_seed_and_can_be_set_back():
    source = seeded(5)
    assert (source.initial_seed(), source.device.type) == (5, "card")
    state = source.get_state()
    first = torch.rand(2, device="card", generator=source)
    source.set_state(state)
    assert torch.equal(torch.rand(2, device="card", generator=source), first)


def test_one_seed_sets_both_devices():
    torch.manual_seed(1)
    dropped, drawn = F.dropout(torch.ones(50, device="card")), torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(3), drawn)  # whatever the card has drawn
    assert torch.equal(F.dropout(torch.ones(50, device="card")), dropped)


def test_what_the_card_draws_leaves_the_cpus_chance_as_it_is():
    before, ones = torch.get_rng_state(), torch.ones(5, device="card")
    torch.native_dropout(ones, 0.5, True)
    F.rrelu(ones, training=True)
    torch.rand(4, device="card")
    assert torch.equal(torch.get_rng_state(), before)
