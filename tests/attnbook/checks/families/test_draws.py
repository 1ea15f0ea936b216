import pytest
import torch

from attnbook.checks.families.draws import codes, copied, free_of
from attnbook.checks.lab06 import EXERCISES as LAB06
from attnbook.checks.lab17 import EXERCISES as LAB17


def test_a_copied_draw_stays_as_it_was():
    draw = torch.tensor([1, 2])
    kept = copied(draw)
    draw += 1
    assert kept.tolist() == [1, 2]
    assert copied("no tensor") == "no tensor"


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
