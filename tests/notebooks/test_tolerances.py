"""Comparisons in notebooks hold on other processors, where sums are added in another order."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from coursekit.notebooks import read
from coursekit.project import Project

PROJECT = Project(Path(__file__).parents[2])
BOOK = PROJECT.chapters + [lab.source for lab in PROJECT.labs]


def without_tolerance(code: str) -> Iterator[str]:
    """The calls of `torch.allclose` that rely on its own absolute tolerance of 1e-8, which a float32 near zero misses.

    Left out are those that must be false, and comparisons with numbers that stand there, which are far from zero.
    """
    tree = ast.parse(code)
    negated = {
        node.operand for node in ast.walk(tree) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.allclose" and node not in negated:
            by_hand = any("torch.tensor(" in ast.unparse(argument) for argument in node.args)
            if not by_hand and not {"atol", "rtol"} & {keyword.arg for keyword in node.keywords}:
                yield ast.unparse(node)


def test_what_names_no_tolerance_is_found():
    code = "print(torch.allclose(a, b)); assert not torch.allclose(a, c)\ntorch.allclose(a, torch.tensor([1.0]))"
    assert list(without_tolerance(code)) == ["torch.allclose(a, b)"]
    assert list(without_tolerance("torch.allclose(a, b, atol=1e-6)")) == []


@pytest.mark.parametrize("path", BOOK, ids=lambda path: f"{path.parts[-2]}-{path.stem}")
def test_two_ways_to_compute_a_thing_are_compared_with_a_tolerance(path: Path):
    cells = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
    assert [call for cell in cells for call in without_tolerance(cell)] == []
