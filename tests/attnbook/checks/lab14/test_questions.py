"""Inputs for an additive pointer: shapes fit, and masks of every kind are among them."""

import pytest
import torch

from attnbook.checks.engine.exercise import Draw
from attnbook.checks.lab14.questions import questions


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("variant", range(4))
def test_shapes_fit(variant, compact):
    for query, key, W_q, W_k, v, mask in questions(Draw(variant, 0, compact)):
        assert mask.dtype == torch.bool
        assert mask.shape == key.shape[:2]
        assert len(query) == len(key)
        assert W_q.shape == (len(v), query.shape[1])
        assert W_k.shape == (len(v), key.shape[2])
        assert {part.dtype for part in (query, key, W_q, W_k, v)} in ({torch.float64}, {torch.float32})


def test_masks_of_every_kind_are_drawn():
    cases = list(questions(Draw(0, 0)))
    masks = [mask for *_, mask in cases]
    assert any(bool(mask.all()) for mask in masks)
    assert {len(mask) for mask in masks if not mask.any()} == {1, 2}  # nothing is open
    assert any(mask.shape[1] > 1 and bool((mask.sum(dim=1) == 1).all()) for mask in masks)  # one place is
    assert any(not mask[0].any() and bool(mask.any()) for mask in masks)  # the first row is closed
    assert any(query.dtype == torch.float32 for query, *_ in cases)
