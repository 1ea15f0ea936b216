"""``python -m attnbook.experiments NAME``: the command that the records in ``results/`` name.

The experiments themselves are the package ``attnruns``, which imports this one and comes with the whole book.
"""

import runpy
from importlib.util import find_spec


def main() -> None:
    """Run the experiments' own command line. Raises SystemExit where they are not installed."""
    if find_spec("attnruns") is None:
        raise SystemExit("The experiments are the package attnruns, which is not installed; it comes with the book.")
    runpy.run_module("attnruns.experiments", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
