"""Fetch weights that others have trained: ``python -m attnbook.pretrained smollm2``."""

import argparse
import sys

from attnbook.models.pretrained.fetching import PUBLISHED, fetch


def main(arguments: list[str] | None = None) -> int:
    """Fetch, and print where the files are. Returns 0, or 2 if there was nothing to be had."""
    parser = argparse.ArgumentParser(prog="python -m attnbook.pretrained", description=__doc__)
    parser.add_argument("name", choices=list(PUBLISHED), help="which weights")
    name = parser.parse_args(arguments).name
    try:
        path = fetch(name)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{name} ({PUBLISHED[name].licence}): {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
