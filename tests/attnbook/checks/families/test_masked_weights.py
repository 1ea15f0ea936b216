"""What two labs share must be an edit of either reference."""

import inspect

import pytest

from attnbook.checks.families.masked_weights import CLOSED_WRONGLY
from attnbook.checks.lab02 import MASKED_SOFTMAX
from attnbook.checks.lab03 import SCALED_DOT_ATTENTION


@pytest.mark.parametrize("exercise", [MASKED_SOFTMAX, SCALED_DOT_ATTENTION], ids=lambda exercise: exercise.name)
def test_each_changes_the_reference_of_both_labs(exercise):
    for mistake in CLOSED_WRONGLY:
        assert exercise.source(mistake) != inspect.getsource(exercise.reference)
