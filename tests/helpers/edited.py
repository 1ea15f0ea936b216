"""Wrong answers of a lab that are made of its references."""

from collections.abc import Callable

import attnlabs as checks
from misread.exercise import Mistake

Edits = dict[str, list[dict[str, str]]]


def edited(lab: str, edits: Edits) -> dict[str, dict[str, Callable]]:
    """An answer for each edit of an exercise's reference, under the edit's own name; as `Mistake.code` is."""
    exercises = checks.checks_of(lab).exercises()
    return {
        name: {str(edit): exercises[name].function(Mistake(str(edit), "", edit)) for edit in of_one}
        for name, of_one in edits.items()
    }
