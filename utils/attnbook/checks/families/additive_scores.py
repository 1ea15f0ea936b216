"""What goes wrong in v · tanh(…), written with two matrices (lab 2) or with one (lab 3): edits of either reference."""

from __future__ import annotations

from ..engine.exercise import Mistake

BENT_OR_SUMMED_WRONGLY = (
    Mistake(
        "mean, not sum",
        "You took the mean over the A hidden features. The dot product with v is their *sum*: nothing is divided "
        "by A.",
        {"@ v": "@ v / len(v)"},
    ),
    Mistake(
        "sigmoid for tanh",
        "You bent the sum with a sigmoid. It lies between 0 and 1, so a feature could never count against a "
        "key; tanh lies between −1 and 1.",
        {".tanh()": ".sigmoid()"},
    ),
)
