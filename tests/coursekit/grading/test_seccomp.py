"""The filter of system calls, tried in a process of its own; see `test_isolation` for the whole."""

import platform
import subprocess
import sys

import pytest

from coursekit.grading import seccomp

TRY = """
import os, threading
from coursekit.grading.seccomp import forbid_processes
forbid_processes()
thread = threading.Thread(target=print, args=("a thread runs",))
thread.start()
thread.join()
for start in (os.fork, lambda: os.posix_spawn("/bin/true", ["true"], {}), lambda: os.execv("/nothing", ["x"])):
    try:
        start()
    except OSError as error:
        print(error.errno)
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() not in seccomp._KNOWN or sys.platform != "linux", reason="Linux on x86_64, aarch64"
)
def test_threads_run_and_processes_are_refused():
    done = subprocess.run([sys.executable, "-c", TRY], capture_output=True, text=True)
    assert done.stdout.split("\n") == ["a thread runs", "1", "1", "2", "done", ""], done.stderr


def test_a_step_is_eight_bytes_as_the_kernel_wants():
    for known in seccomp._KNOWN.values():
        assert {len(step) for step in seccomp._program(*known)} == {8}
