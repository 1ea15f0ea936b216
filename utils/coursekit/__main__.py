"""``python -m coursekit``: the same as ``coursekit``, where that is not on the path."""

import sys

from coursekit.cli import main

sys.exit(main())
