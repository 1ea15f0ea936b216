"""What every family of weights needs: tensors are renamed by a table, and what our blocks are not is refused."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from attnbook.models.pretrained.errors import WeightsError

Facts = Mapping[str, Any]
State = dict[str, Tensor]


def renamed(tensors: Mapping[str, Tensor], outside: Mapping[str, str], layer: str, inside: Mapping[str, str]) -> State:
    """Tensors under our names; those that no rule names keep theirs, so that they are found left over.

    Args:
        outside: the file's name without ``.weight`` or ``.bias`` -> ours, for what stands outside of the blocks.
        layer: how names in a block begin, with ``{}`` for its number.
        inside: as ``outside``, for what stands in each block.
    """
    before, behind = layer.split("{}")
    found: State = {}
    for name, tensor in tensors.items():
        part, _, kind = name.rpartition(".")
        if part in outside:
            found[f"{outside[part]}.{kind}"] = tensor
            continue
        number, _, rest = part.removeprefix(before).partition(behind)
        ours = inside.get(rest) if part.startswith(before) and number.isdigit() else None
        found[f"blocks.layers.{number}.{ours}.{kind}" if ours else name] = tensor
    return found


def refuse(facts: Facts, **wanted: Any) -> None:
    """Raise WeightsError if a fact is there and is not what our blocks compute."""
    for name, value in wanted.items():
        if facts.get(name) not in (None, value):
            raise WeightsError(f"the model has {name} = {facts[name]!r}, and the book's blocks have {value!r} only")
