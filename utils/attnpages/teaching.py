"""What a lesson leans on: the package's own source on the page, and checked claims.

This and :mod:`attnpages.source` are the modules that know of notebooks.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
import torch

from attnbook.extras import needed_from

__all__ = ["ClaimError", "claim", "show_source"]


def show_source(shown: Callable | type, docstring: bool = True) -> None:
    """Display the source of a function, class or method: what runs is what the reader reads.

    Args:
        shown: a function, class, method or property of the package (or one defined in a notebook).
        docstring: ``False`` leaves out the docstrings, also those of a class's methods.

    Raises:
        TypeError: if ``shown`` is something else (an instance, a module), or isn't written in Python.
    """
    with needed_from("notebooks"):
        from IPython.display import display

        from attnpages.source import source_view

    display(source_view(shown, docstring))


class ClaimError(AssertionError):
    """A sentence of the book that is no longer true."""


def claim(text: str, condition: bool, **figures: object) -> None:
    """Print a sentence of the book together with its figures if it holds, else stop.

    Args:
        text: the sentence, e.g. ``"attention wins by 20 points at six numbers"``.
        condition: the relation that makes it true, with a margin: ``attention > plain + 0.2``.
        figures: the numbers that it rests on, by name; floats are shown with three digits.

    Raises:
        ClaimError: if the condition is false; the message names the sentence and the figures.
        TypeError: if the condition isn't a truth value. A bare number would always count as true.
    """
    if isinstance(condition, torch.Tensor | np.ndarray) and condition.dtype in (torch.bool, bool):
        if condition.ndim:
            raise TypeError(f"condition has shape {tuple(condition.shape)}; say which you mean: .all() or .any()")
        condition = condition.item()
    if not isinstance(condition, bool | np.bool_):
        raise TypeError(f"condition must be True or False, got {condition!r}; write the relation, e.g. x > 0.9")
    shown = ", ".join(f"{name.replace('_', ' ')} = {_figure(value)}" for name, value in figures.items())
    sentence = f"{text} ({shown})" if shown else text
    if not condition:
        raise ClaimError(f"claim no longer true: {sentence}")
    print(f"✓ claim: {sentence}")


def _figure(value: object) -> str:
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 or not math.isfinite(value) else f"{value:,.0f}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_figure, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_figure(item)}" for key, item in value.items()) + "}"
    return str(value)
