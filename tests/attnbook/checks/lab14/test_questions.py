"""Inputs for an additive pointer: masks of every kind are among them, and both floating dtypes."""

import torch

from attnbook.checks.engine.exercise import Draw
from attnbook.checks.lab14.questions import questions


def test_masks_of_every_kind_are_drawn():
    cases = list(questions(Draw(0, 0)))
    masks = [mask for *_, mask in cases]
    assert any(bool(mask.all()) for mask in masks)
    assert {len(mask) for mask in masks if not mask.any()} == {1, 2}  # nothing is open
    assert any(mask.shape[1] > 1 and bool((mask.sum(dim=1) == 1).all()) for mask in masks)  # one place is
    assert any(not mask[0].any() and bool(mask.any()) for mask in masks)  # the first row is closed
    assert {query.dtype for query, *_ in cases} == {torch.float32, torch.float64}
