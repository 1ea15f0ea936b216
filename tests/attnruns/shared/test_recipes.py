"""Recipes by name."""

import pytest

from attnruns.experiments import numbers
from attnruns.experiments.__main__ import EXPERIMENTS
from attnruns.shared.recipes import chosen


def test_a_recipe_is_found_by_the_name_of_its_model():
    assert chosen(numbers.RECIPES, "plain_64").hidden == 64


def test_an_unknown_name_is_refused_beside_those_there_are():
    with pytest.raises(ValueError, match="no model is called 'plain_65'; there is: plain, attention, "):
        chosen(numbers.RECIPES, "plain_65")


def test_only_experiments_lie_beside_the_shared_folder():
    assert len(EXPERIMENTS) >= 12
    assert {"runner", "memory", "seq2seq"}.isdisjoint(EXPERIMENTS)
