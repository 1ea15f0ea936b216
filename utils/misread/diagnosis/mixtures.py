"""A weighted sum of the entries of a list: which weights an answer gives them."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .. import values
from .claims import Case, Claim


def weighted(case: Case) -> Iterator[Claim]:
    """A weighted sum, as it should be, with other weights."""
    for i, name, arg in case.named():
        matrix = _matrix(case, i) if isinstance(arg, list) else None
        if matrix is not None and _mixes(case, i):
            mine, right = (
                ", ".join(f"{round(weight, 6):.3g}" for weight in weights)
                for weights in _weights(case, matrix).tolist()
            )
            given = "".join(f" with `{other}` = {value}" for _, other, value in case.named() if _short(value))
            text = (
                f"Your result is a weighted sum of the entries of `{name}`, as it should be, but the weights are "
                f"others. On an input{given} they are {mine}; right are {right}."
            )
            yield Claim("other weights", text, lambda case, i=i: _mixes(case, i))


def _mixes(case: Case, index: int) -> bool | None:
    """Whether both results are weighted sums; None where other weights could give the same one."""
    matrix, wanted = _matrix(case, index), _results(case)
    if matrix is None:
        return None
    return torch.allclose(matrix @ _weights(case, matrix).T, wanted, rtol=1e-6, atol=1e-8)


def _matrix(case: Case, index: int) -> Tensor | None:
    """The finite entries of a list, one a column; None where there are too many of them for their size."""
    entries = [_flat(entry) for entry in case.args[index]]
    matrix = torch.stack([entry for entry in entries if entry.isfinite().all()], dim=1)  # (numbers, entries)
    return matrix if matrix.shape[0] > matrix.shape[1] > 1 else None


def _weights(case: Case, matrix: Tensor) -> Tensor:
    """The answer's weights, and the right ones, `(2, entries)`."""
    return torch.linalg.lstsq(matrix, _results(case)).solution.T


def _results(case: Case) -> Tensor:
    return torch.stack([_flat(case.got), _flat(case.expected)], dim=1)  # (numbers, 2)


def _short(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _flat(value: Any) -> Tensor:
    """All numbers of tensors in one row."""
    return torch.cat([tensor.flatten().to(torch.float64) for tensor in values.tensors(value)])
