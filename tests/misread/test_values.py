"""Values made plain, compared and described."""

from collections import Counter, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from misread.values import Strange, clone, finite, kind, plain, reading, same, size

Pair = namedtuple("Pair", "left right")


class Model:
    def __init__(self, table):
        self.table = table

    def __call__(self, x):
        return self.table

    def size(self):
        return self.table.numel()

    def transformed(self, change):
        return Model(change(self.table))


@pytest.mark.parametrize(
    "value, wanted",
    [
        (np.float64(0.5), 0.5), (np.int64(3), 3), (Pair(1, 2), (1, 2)), (Counter("aab"), {"a": 2, "b": 1}),
        ({1, 2}, frozenset({1, 2})), ([True, None, "a"], [True, None, "a"]),
        (Fraction(1, 4), 0.25), (Decimal("0.4"), 0.4),
    ],
)  # fmt: skip
def test_values_become_exact_types(value, wanted):
    assert plain(value) == wanted
    assert type(plain(value)) is type(wanted)


@pytest.mark.parametrize(
    "first, second",
    [
        (torch.tensor([1, 2]), torch.tensor([1.0, 2.0])),
        (1, torch.tensor(1.0)),
        ([1, 2], (1, 2)),
        (float("nan"), torch.tensor(float("nan"))),
        ({"a": 0.5}, {"a": 0.5 + 1e-9}),
        (None, None),
        (torch.tensor(1 / 3, dtype=torch.float64), torch.tensor(1 / 3)),
    ],
)
def test_what_says_the_same_is_the_same(first, second):
    assert same(first, second, 1e-6)


@pytest.mark.parametrize(
    "first, second",
    [
        (torch.ones(2), torch.ones(2, 1)), (torch.ones(1), 1.0), ([1, 2], [1, 2, 3]), ({"a": 1}, {"b": 1}),
        (None, 0), (torch.ones(2), [1.0, 1.0]), (1.0, 1.0 + 1e-4), (Strange(object()), Strange(Model(None))),
        ("a", "b"),
    ],
)  # fmt: skip
def test_what_differs_is_told_apart(first, second):
    assert not same(first, second, 1e-6)


@pytest.mark.parametrize(
    "first, second, alike",
    [
        (0.1, 0.1 + 1e-8, False),  # a number keeps its digits: torch would make it float32
        (0.1, torch.tensor(0.1), False),
        (torch.tensor(0.1), torch.tensor(0.1 + 1e-8), True),  # float32 that was rounded once or twice
        (torch.tensor(0.1, dtype=torch.float64), torch.tensor(0.1 + 1e-8, dtype=torch.float64), False),
        (torch.tensor(1.0), torch.tensor(1.0 + 1e-5), False),
    ],
)
def test_a_tolerance_below_the_digits_of_float32_holds_for_float64(first, second, alike):
    assert same(first, second, 1e-9) == alike


def test_a_clone_shares_nothing():
    table = torch.ones(2)
    value = (Pair(table, [table]), {"t": table}, Model(table), torch.Generator().manual_seed(3), {1})
    copied = clone(value)
    table.zero_()
    for kept in (copied[0].left, copied[0].right[0], copied[1]["t"], copied[2].table):
        assert torch.equal(kept, torch.ones(2))
    assert torch.equal(torch.rand(2, generator=copied[3]), torch.rand(2, generator=value[3]))
    assert copied[4] == {1}
    assert clone(len) is len


def test_finite_looks_everywhere():
    assert finite([1, {"a": torch.ones(2)}, "a"])
    assert not finite((1.0, {"a": torch.tensor([1.0, float("inf")])}))
    assert not finite(float("nan"))


def test_size_counts_numbers():
    assert size((torch.ones(2, 3),)) < size((torch.ones(2, 4),))
    assert size([[1], [1, 2]]) < size([[1], [1, 2, 3]])
    assert size({1: [1]}) < size({1: [1], 2: [1]})
    assert size(Model(torch.ones(5))) == 5


@pytest.mark.parametrize(
    "value, wanted",
    [
        (torch.ones(2, 3), "tensor (2, 3) float32"), ((1, 2), "tuple of 2"), ({1}, "set of 1"), (None, "None"),
        (1, "int"), (Strange(np.ones(2)), "ndarray"),
    ],
)  # fmt: skip
def test_a_kind_is_short(value, wanted):
    assert kind(value) == wanted


def test_long_numbers_are_hard_to_read():
    assert reading((torch.ones(4),)) == size((torch.ones(4),))
    assert reading((torch.full((4,), -4000.0),)) > reading((torch.ones(11),))
    assert reading(Model(torch.full((2,), 900.0))) > reading(Model(torch.ones(2)))
