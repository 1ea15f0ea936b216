"""A name that is not defined may be one that was mistyped: which is near to it, where the error came."""

import builtins
import difflib
from collections.abc import Iterable

ALIKE = 0.75  # of two letters exchanged in a word of four


def near_name(error: NameError, others: Iterable[str] = ()) -> str:
    """The name that is nearest to the one that is missing, among those known on the line that stopped and `others`.

    Empty where none is near, or where the error does not tell its name or its line."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not error.name:
        return ""
    known = {*step.tb_frame.f_locals, *step.tb_frame.f_globals, *dir(builtins), *others}
    public = sorted(name for name in known if not name.startswith("_"))
    return next(iter(difflib.get_close_matches(error.name, public, n=1, cutoff=ALIKE)), "")
