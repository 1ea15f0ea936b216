"""Trees of tensors: batches, and what decoders keep between two words."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

Tree = TypeVar("Tree")


def map_tensors(change: Callable[[Tensor], Tensor], tree: Tree) -> Tree:
    """``tree`` with ``change(tensor)`` in the place of each tensor; what else is in it stays as it is.

    A tree is a tensor, or a tuple, named tuple, list, dictionary or dataclass that holds trees.

    >>> map_tensors(lambda tensor: 2 * tensor, {"words": torch.tensor([1, 2]), "rows": 3})
    {'words': tensor([2, 4]), 'rows': 3}
    """
    return _mapped(change, tree)


def _mapped(change: Callable[[Tensor], Tensor], tree: Any) -> Any:
    deeper = partial(_mapped, change)
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return {name: deeper(part) for name, part in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # a named tuple takes its parts one by one
        return type(tree)(*map(deeper, tree))
    if isinstance(tree, tuple | list):
        return type(tree)(map(deeper, tree))
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{one.name: deeper(getattr(tree, one.name)) for one in fields(tree) if one.init})
    return tree


def moved(tree: Tree, device: torch.device | str) -> Tree:
    """The same tree on another device, such as a batch where its model is."""
    return map_tensors(lambda tensor: tensor.to(device), tree)
