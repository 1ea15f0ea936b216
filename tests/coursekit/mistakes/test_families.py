"""Kinds of mistakes that come back from lab to lab."""

import re
import tomllib
from pathlib import Path

import pytest

from coursekit.mistakes.families import exercises, families, family_of, widespread

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name, title", [
    ("mask the wrong way round, and NaN", "The mask the wrong way round"),
    ("zeroed after the softmax", "Closed positions that keep some weight"),
    ("softmax over the queries", "The softmax over another axis"),
    ("softmax twice", "A softmax too many or too few"),
    ("one position too many", "One position too many or too few"),
    ("W not transposed", "A matrix not transposed, or reshaped instead"),
    ("root forgotten", "A scale that is missing or is another one"),
])  # fmt: skip
def test_a_mistake_belongs_to_the_narrowest_family(name, title):
    assert family_of(name).title == title


def test_not_every_mistake_has_a_family():
    assert family_of("the median") is None


def test_those_in_most_exercises_come_first():
    entries = [
        ("lab01", "a", "softmax twice"), ("lab01", "a", "no softmax"), ("lab01", "a", "scores returned"),
        ("lab01", "a", "W not transposed"), ("lab02", "b", "key not transposed"), ("lab02", "b", "the median"),
    ]  # fmt: skip
    first, second = widespread(entries)
    assert (first[0].title, len(first[1])) == ("A matrix not transposed, or reshaped instead", 2)
    assert (second[0].title, exercises(second[1])) == ("A softmax too many or too few", 1)
    assert widespread(entries, most=1) == [first]


def test_families_say_what_lies_behind_and_what_helps():
    for family in families():
        assert len(family.about.split()) > 25, family.title
        assert family.about.endswith("."), family.title
    assert len({family.title for family in families()}) == len(families()) >= 20


def test_each_pattern_fits_a_mistake_that_the_checks_know():
    from attnlabs import catalogue

    names = [known.name for lab in catalogue().values() for listed in lab.values() for known in listed.mistakes]
    listed = tomllib.loads((ROOT / "utils/coursekit/templates/mistakes.toml").read_text(encoding="utf-8"))["family"]
    patterns = [pattern for family in listed for pattern in family["names"]]
    assert [one for one in patterns if not any(re.search(one, name, re.IGNORECASE) for name in names)] == []
