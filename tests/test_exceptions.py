"""Every exception of our packages reaches another process as it is: with its class, its words and what it holds."""

import importlib
import pickle
import pkgutil

import pytest

from attnbook.data.texts.vocabulary import UnknownWord
from attnruns.shared.pool import Stopped
from coursekit import ROOMS
from misread.lab import UnknownCheck

# What an exception is made from, where that is more than a text.
ARGUMENTS = {
    UnknownWord: ("Hnud", ["Hund", "Katze"]),
    Stopped: ("The training was interrupted.", 130),
    UnknownCheck: ("lab", "lab99", ["lab01", "lab02"]),
}


def exceptions() -> list[type[BaseException]]:
    """All exception classes that a module of one of the packages defines."""
    found = []
    for package in map(importlib.import_module, ROOMS):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                there = vars(importlib.import_module(module.name)).values()
                found += [kind for kind in there if isinstance(kind, type) and kind.__module__ == module.name]
    return [kind for kind in found if issubclass(kind, BaseException)]


@pytest.mark.slow
def test_every_exception_can_be_pickled():
    kinds = exceptions()
    assert set(ARGUMENTS) <= set(kinds)
    assert len(kinds) > len(ARGUMENTS)
    for kind in kinds:
        error = kind(*ARGUMENTS.get(kind, ("so it goes",)))
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.args) == (kind, str(error), error.args)
        assert vars(again) == vars(error)


@pytest.mark.parametrize(
    "kind, words",
    [
        (UnknownWord, "word 'Hnud' is not in the vocabulary (nearest: 'Hund')"),
        (Stopped, "The training was interrupted."),
        (UnknownCheck, "there is no lab 'lab99'. "),
    ],
)
def test_its_words_are_those_for_a_reader(kind, words):
    assert str(pickle.loads(pickle.dumps(kind(*ARGUMENTS[kind])))).startswith(words)
