"""When a training may end before its last step: held-out results say so.

Source: Prechelt 1998.
"""

from collections.abc import Sequence


def ends_early(results: Sequence[float], patience: int | None = None, enough: float | None = None) -> bool:
    """Whether a training may end, because nothing gets better any more or because it is good enough.

    Args:
        results: of all validations so far, higher is better.
        patience: it may end when that many validations in a row brought nothing better than the best before them.
        enough: it may end when two validations in a row have reached this; one may have been lucky.

    >>> ends_early([0.5, 0.6, 0.6, 0.4], patience=2)
    True
    >>> ends_early([0.5, 0.6, 0.4, 0.7], patience=2)
    False
    >>> ends_early([0.2, 0.9, 0.9], enough=0.9)
    True
    """
    is_stale = patience is not None and len(results) > patience and max(results[-patience:]) <= max(results[:-patience])
    is_enough = enough is not None and len(results) > 1 and min(results[-2:]) >= enough
    return is_stale or is_enough
