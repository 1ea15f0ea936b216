"""A tree of tensors is changed tensor by tensor, whatever it is made of."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from attnbook.trees import map_tensors, moved


class Pair(NamedTuple):
    first: Tensor
    second: object


@dataclass(frozen=True)
class Record:
    inside: object
    name: str = "record"


ONE = torch.ones(2)


@pytest.mark.parametrize(
    "tree",
    [ONE, (ONE, None), [ONE, 3], Pair(ONE, "words"), {"a": ONE, "b": 0.5}, Record((ONE,)), (Pair(ONE, [{"a": ONE}]),)],
    ids=lambda tree: type(tree).__name__,
)
def test_every_tensor_is_changed_and_everything_else_stays(tree):
    assert str(map_tensors(lambda tensor: tensor + 1, tree)) == str(tree).replace(
        "tensor([1., 1.])", "tensor([2., 2.])"
    )
    assert type(map_tensors(lambda tensor: tensor, tree)) is type(tree)
    assert torch.equal(ONE, torch.ones(2))


def test_a_tree_moves_to_a_device(device):
    tree = moved(Pair(ONE, [Record(ONE), 3]), device)
    assert tree.first.device.type == tree.second[0].inside.device.type == device.type
    assert tree.second[1] == 3
