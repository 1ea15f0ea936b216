"""nbformat without two seconds of grammars.

It imports jsonschema, which, where rfc3987_syntax is installed (Jupyter's server brings it), builds 38 grammars of web
addresses with it. No schema of a notebook asks for one, and jsonschema does without. pytest loads this before
nbval, see `addopts` in pyproject.toml."""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # so that its import fails
