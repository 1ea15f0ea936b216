"""What two labs share must be an edit of either reference."""

import inspect

import pytest

from attnbook.checks.families.additive_scores import BENT_OR_SUMMED_WRONGLY
from attnbook.checks.lab02 import ADDITIVE_SCORE
from attnbook.checks.lab03 import CONCAT_SCORE


@pytest.mark.parametrize("exercise", [ADDITIVE_SCORE, CONCAT_SCORE], ids=lambda exercise: exercise.name)
def test_each_changes_the_reference_of_both_labs(exercise):
    for mistake in BENT_OR_SUMMED_WRONGLY:
        assert exercise.source(mistake) != inspect.getsource(exercise.reference)
