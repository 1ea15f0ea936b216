"""A process that is started deaf does not hear Ctrl-C."""

import os
import signal
import subprocess
import sys

import pytest

from attnbook.interrupts import deaf_children

SURVIVES = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('went on')"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
def test_only_a_child_that_is_started_in_the_block_goes_on():
    with deaf_children():
        deaf = subprocess.run([sys.executable, "-c", SURVIVES], capture_output=True, check=False)
    hears = subprocess.run([sys.executable, "-c", SURVIVES], capture_output=True, check=False)
    assert (deaf.returncode, deaf.stdout) == (0, b"went on\n")
    assert hears.returncode == -signal.SIGINT


WAITS = """
import os, signal
from attnbook.interrupts import deaf_children
try:
    with deaf_children():
        os.kill(os.getpid(), signal.SIGINT)
        print("the block went on", end=", ")
    print("and what follows, too")
except KeyboardInterrupt:
    print("and was interrupted at its end")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
def test_our_own_interruption_waits_for_the_end_of_the_block():
    done = subprocess.run([sys.executable, "-c", WAITS], capture_output=True, text=True, check=True)
    assert done.stdout == "the block went on, and was interrupted at its end\n"
