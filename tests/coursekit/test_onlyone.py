"""A lock that one process holds at a time, and that nobody has to free."""

import signal
import subprocess
import sys
import time

import pytest

from coursekit.onlyone import only_one

pytestmark = pytest.mark.slow
HOLDER = """\
import sys, time
from pathlib import Path
from coursekit.onlyone import only_one
with only_one(Path(sys.argv[1]), "wait"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_nobody_waits_for_a_lock_that_nobody_holds(tmp_path, capsys):
    for _ in range(2):
        with only_one(tmp_path / "lock", "wait"):
            assert (tmp_path / "lock").is_file()
    assert capsys.readouterr().out == ""


def test_a_lock_is_waited_for_and_falls_free_when_its_holder_is_killed(tmp_path, capsys):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    end = time.monotonic() + 1
    with pytest.MonkeyPatch.context() as patch:

        def until_the_end(_):
            if time.monotonic() > end:
                holder.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
                holder.wait()

        patch.setattr(time, "sleep", until_the_end)
        with only_one(tmp_path / "lock", "wait"):
            assert time.monotonic() > end
    assert capsys.readouterr().out == "wait\n"
