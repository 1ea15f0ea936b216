"""What goes wrong in v · tanh(…), written with two matrices (lab 2) or with one (lab 3): edits of either reference."""

from __future__ import annotations

from ..engine.exercise import Mistakes

wrong = BENT_OR_SUMMED_WRONGLY = Mistakes()
wrong("mean, not sum", {"@ v": "@ v / len(v)"}).says("""
    You took the mean over the A hidden features. The dot product with v is their *sum*: nothing is divided by A.""")
wrong("sigmoid for tanh", {".tanh()": ".sigmoid()"}).says("""
    You bent the sum with a sigmoid. It lies between 0 and 1, so a feature could never count against a key; tanh lies
    between −1 and 1.""")
