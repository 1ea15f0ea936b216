"""Answers to exam questions that were computed another way, held against those that the questions give."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

from coursekit.exams.kinds import KINDS
from coursekit.exams.question import Question

SEEDS = range(50)


@cache
def drawn(name: str) -> tuple[Question, ...]:
    """One question of a kind for each seed."""
    return tuple(KINDS[name].question(str(seed)) for seed in SEEDS)


def same(found, expected) -> bool:
    """Whether two answers agree: numbers to 1e-6, at any depth."""
    if isinstance(expected, Mapping):
        return all(same(found[name], expected[name]) for name in expected)
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, str | bool):
        return found == expected
    return float(found) == pytest.approx(float(expected), abs=1e-6)


def disagreements(name: str, compute: Callable[..., dict]) -> Iterator[tuple]:
    """The drawn numbers of each question whose answers differ from ``compute(**given)``."""
    for question in drawn(name):
        expected = compute(**question.given)
        assert expected.keys() <= question.answers.keys()
        if not same(question.answers, expected):
            yield dict(question.given), dict(question.answers), expected
