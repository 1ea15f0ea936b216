import random

import numpy as np
import pytest
import torch

from attnbook.seeding import generator, seed_everything, seed_of_step


def draw() -> tuple:
    return random.random(), float(np.random.rand()), *torch.rand(3).tolist()


def test_the_same_seed_gives_the_same_numbers_everywhere():
    seed_everything(3)
    first = draw()
    seed_everything(3)
    assert draw() == first


def test_another_seed_gives_other_numbers():
    seed_everything(3)
    first = draw()
    seed_everything(4)
    assert all(a != b for a, b in zip(draw(), first, strict=True))


def test_a_generator_repeats_itself_and_lives_on_its_device(device):
    first, second = (torch.rand(4, generator=generator(7, device), device=device) for _ in range(2))
    assert torch.equal(first, second)
    assert generator(7, device).device.type == device.type


def test_a_generator_disturbs_no_other():
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    torch.rand(5, generator=generator(1))
    assert torch.equal(torch.rand(2), expected)


@pytest.mark.parametrize("use", [seed_everything, generator])
def test_numpy_whole_numbers_and_both_ends_of_the_range_are_seeds(use):
    for seed in (np.int64(5), 0, 2**32 - 1):
        use(seed)
    assert generator(np.int64(5)).initial_seed() == 5


@pytest.mark.parametrize("use", [seed_everything, generator])
@pytest.mark.parametrize("wrong", [1.0, "1", None, True])
def test_a_seed_is_a_whole_number(use, wrong):
    with pytest.raises(TypeError, match="seed must be a whole number"):
        use(wrong)


@pytest.mark.parametrize("use", [seed_everything, generator])
@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_a_seed_out_of_range_is_refused(use, wrong):
    with pytest.raises(ValueError, match="seed must lie between 0 and 4294967295"):
        use(wrong)


@pytest.mark.parametrize(
    "seed, step, expected", [(0, 0, 1_000_003), (0, 1, 1_000_004), (1, 0, 2_000_006), (2, 2999, 3_003_008)]
)
def test_the_seeds_of_steps_are_those_that_the_records_were_made_with(seed, step, expected):
    assert seed_of_step(seed, step) == expected
    assert generator(seed_of_step(seed, step)).initial_seed() == expected


def test_no_two_steps_of_two_trainings_share_a_seed():
    steps = (*range(100), *range(999_900, 1_000_003))
    drawn = {seed_of_step(seed, step) for seed in range(5) for step in steps}
    assert len(drawn) == 5 * len(steps)


@pytest.mark.parametrize("seed", [4293, 4294, 10_000, 2**32 - 1])
def test_a_training_may_have_any_seed_and_draws_as_no_test_does(seed):
    for step in (0, 7, 1_000_002):
        assert 1_000_003 <= seed_of_step(seed, step) <= 2**32 - 1
        generator(seed_of_step(seed, step))
    assert seed_of_step(seed, 8) == seed_of_step(seed, 7) + 1
