"""`python typed.py COMMANDS RESULTS`: commands as an author types them, in one process that imports torch once.

Both are files of JSON: a list of commands, each a list of words as they come after `python -m`, and for each of them
its status and what it printed. A command finds no package of the course imported, so it sees what the one before it
has written; and kernels are forks (`warm_kernels`). The folder that it runs in, and PYTHONPATH, say whose packages.
"""

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path

import warm_kernels

CHANGED = ("attnlabs", "coursekit", "misread")  # what of the course the commands before may have changed, or know of


def typed(module: str, *words: str) -> tuple[int, str]:
    """Runs one command, and returns its status and what it printed."""
    for name in [name for name in sys.modules if name.split(".")[0] in CHANGED]:
        del sys.modules[name]
    sys.argv, said, status = [module, *words], io.StringIO(), None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            status = end.code
    return int(status or 0), said.getvalue()


if __name__ == "__main__":
    warm_kernels.install()
    commands, results = map(Path, sys.argv[1:])
    results.write_text(json.dumps([typed(*words) for words in json.loads(commands.read_text())]))
