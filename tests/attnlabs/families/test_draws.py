import pytest
import torch

from attnlabs.families.draws import SHOWN, called, codes, copied, free_of, malformed
from attnlabs.lab06 import EXERCISES as LAB06
from attnlabs.lab17 import EXERCISES as LAB17


def test_a_copied_draw_stays_as_it_was():
    draw = torch.tensor([1, 2])
    kept = copied(draw)
    draw += 1
    assert kept.tolist() == [1, 2]
    assert copied("no tensor") == "no tensor"


def fits(draw):
    return isinstance(draw, torch.Tensor)


def draws_from_the_generator(size, generator):
    return torch.rand(size, generator=generator)


def draws_from_torchs_own(size, generator):
    return torch.rand(size)


@pytest.mark.parametrize(
    "draw, repeats, own", [(draws_from_the_generator, True, False), (draws_from_torchs_own, False, True)]
)
def test_the_same_state_gives_the_same_draws_if_nothing_else_is_drawn_from(draw, repeats, own):
    draws, again, aside = called(draw, (5,), torch.Generator().manual_seed(0), times=4, again=2, fits=fits)
    assert (len(draws), len(again), aside) == (4, 2, own)
    assert torch.equal(torch.stack(draws[:2]), torch.stack(again)) == repeats
    assert not torch.equal(draws[0], draws[1])


def test_a_first_draw_that_does_not_fit_is_enough():
    calls = []
    found = called(lambda size, generator: calls.append(size), (5,), torch.Generator(), times=4, again=2, fits=fits)
    assert (found, calls) == (([None] * SHOWN, [], False), [5])


def test_only_the_first_call_gets_the_arguments_themselves():
    given = torch.zeros(3)
    draws, _, _ = called(lambda x, generator: x.add_(1), (given,), torch.Generator(), times=3, again=0, fits=fits)
    assert given.tolist() == [1, 1, 1]
    assert all(draw.tolist() == [1, 1, 1] for draw in draws)


def test_each_fault_has_a_number_of_its_own_below_every_draw():
    numbers = codes([("one", None), ("two", None)])
    assert len(set(numbers.values())) == 2
    assert max(numbers.values()) < 0


def test_a_draw_is_free_of_the_faults_whose_form_it_does_not_have():
    def coded(fault, length):
        return torch.full((length,), {"one": -1, "two": -2}[fault])

    free = free_of(coded, "one")
    assert not free(torch.tensor([-1, -1]), 2, "generator")
    assert free(torch.tensor([-2, -2]), 2, "generator")


@pytest.mark.parametrize(("exercises", "name"), [(LAB06, "sample_location"), (LAB17, "randomised_positions")])
def test_the_reference_is_given_in_the_answers_dtype(exercises, name):
    exercise = next(exercise for exercise in exercises if exercise.name == name)
    args = exercise.inputs(0)[0]
    assert exercise.right(args, torch.tensor([0], dtype=torch.int32)).dtype == torch.int64
    assert exercise.right(args, torch.tensor([0.0])).dtype == torch.float32


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 1, 4)])
def test_a_malformed_result_has_its_shape_and_no_two_numbers_alike(shape):
    found = malformed(shape)
    assert found.shape == shape
    assert len(set(found.flatten().tolist())) == found.numel()
    assert (found < 0).all()


def test_malformed_results_of_two_kinds_differ():
    assert not (malformed((2, 3)) == malformed((2, 3), 1)).any()
