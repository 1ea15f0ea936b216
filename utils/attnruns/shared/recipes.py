"""A model's recipe by the model's name; what a recipe holds is each experiment's own affair."""

from collections.abc import Mapping
from typing import TypeVar

Recipe = TypeVar("Recipe")


def chosen(recipes: Mapping[str, Recipe], name: str) -> Recipe:
    """The recipe of that name. Raises ValueError, with the names there are, if there is none."""
    if name not in recipes:
        raise ValueError(f"no model is called {name!r}; there is: {', '.join(recipes)}")
    return recipes[name]
