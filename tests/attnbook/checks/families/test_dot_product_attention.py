"""What two labs share must be an edit of either reference."""

import inspect

import pytest

from attnbook.checks.families.dot_product_attention import SCALED_OR_MASKED_WRONGLY
from attnbook.checks.lab07 import SELF_ATTENTION
from attnbook.checks.lab08 import MULTI_HEAD_ATTENTION


@pytest.mark.parametrize("exercise", [SELF_ATTENTION, MULTI_HEAD_ATTENTION], ids=lambda exercise: exercise.name)
def test_each_changes_the_reference_of_both_labs(exercise):
    for mistake in SCALED_OR_MASKED_WRONGLY:
        assert exercise.source(mistake) != inspect.getsource(exercise.reference)
