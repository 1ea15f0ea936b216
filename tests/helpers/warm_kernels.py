"""Kernels for the tests' notebooks, each a fork of a process that has imported IPython, torch and matplotlib.

Fifty notebooks need a kernel each, and five seconds of each kernel's time are imports. What a fork finds is what a
fresh kernel finds after its first optimiser and its first import of matplotlib: a namespace without names, settings and
folder as asked for, and nothing of this repository, which each kernel imports itself
(`tests/notebooks/test_warm_kernels.py`). With ATTNBOOK_DEVICE=card it finds the pretended graphics card as well. Where
there are no forks (Windows), or none that are safe (macOS), and with ATTNBOOK_COLD_KERNELS=1, kernels start as ever.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from jupyter_client.provisioning import local_provisioner

LAUNCHER = [sys.executable, "-m", "ipykernel_launcher"]
PUT_CARD_IN = "import pretended_card; pretended_card.put_in(); "
LONGEST = 10**6  # bytes of a message: the command, the folder and all settings
# How many new objects let Python look for garbage, and how often it looks at older ones too. A quarter of the time in
# which tests are collected, and half of that in which a task's 40,000 examples are made, went into looking in vain.
SELDOM = (100_000, 20, 100)
OF_ONE_KERNEL = ("IPYTHONDIR", "JPY_PARENT_PID", "JPY_SESSION_NAME", "PYTEST_CURRENT_TEST")  # no import looks at these

launch_cold = local_provisioner.launch_kernel
_warm: dict[str, "Warm"] = {}


def install() -> None:
    """From now on kernels of this process are forks, where that can be had."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open") and not os.environ.get("ATTNBOOK_COLD_KERNELS"):
        local_provisioner.launch_kernel = launch


def launch(cmd: Sequence[str], **options: Any) -> Any:
    """What jupyter_client calls to start a kernel: a handle on its process."""
    if list(cmd[:3]) != LAUNCHER:
        return launch_cold(cmd, **options)
    settings = dict(options.get("env") or os.environ)
    shared = {name: value for name, value in settings.items() if name not in OF_ONE_KERNEL}
    key = json.dumps(shared, sort_keys=True)
    if key not in _warm:
        _warm[key] = Warm(shared)
    return _warm[key].fork(list(cmd[3:]), settings, options.get("cwd") or os.getcwd())


class Warm:
    """A process in which torch is imported already, with these settings."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
        call = f"import sys; sys.path.insert(1, {os.path.dirname(__file__)!r}); import warm_kernels as it; "
        call += PUT_CARD_IN if settings.get("ATTNBOOK_DEVICE") == "card" else ""
        call += f"del sys.path[1]; it.wait_for_kernels({theirs.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", call], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=settings
        )
        theirs.close()
        atexit.register(self.close)

    def fork(self, arguments: list[str], settings: dict[str, str], folder: str) -> "Forked":
        """A kernel with these arguments, settings and folder."""
        self.connection.send(json.dumps([arguments, settings, folder]).encode())
        pid, (end,), *_ = socket.recv_fds(self.connection, 16, 1)
        return Forked(int(pid), end)

    def close(self) -> None:
        """End the process; its kernels notice, and end as well."""
        self.connection.close()
        self.process.wait()


class Forked:
    """As much of `subprocess.Popen` as jupyter_client needs; `end` is a file that can be read when it has ended."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, end: int) -> None:
        self.pid, self._end = pid, end
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """A number when it has ended (which, only its parent knows), else None."""
        if self.returncode is None and select.select([self._end], [], [], 0)[0]:
            self.returncode = 0
            os.close(self._end)
        return self.returncode

    def wait(self) -> int | None:
        """Wait until it has ended."""
        if self.returncode is None:
            select.select([self._end], [], [])
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.returncode is None:
            signal.pidfd_send_signal(self._end, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def wait_for_kernels(number: int) -> None:
    """The warm process: import what each notebook does, then fork for each message on the socket `number`."""
    import ipykernel.kernelapp
    import numpy as np
    import torch

    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first optimiser imports eight hundred modules
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as a kernel does, before the
    import matplotlib.backends.backend_agg  # first import reads it; what it names is loaded with the first figure
    import matplotlib.pyplot  # noqa: F401

    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    signal.signal(signal.SIGCHLD, _forget_the_ended)
    control = socket.socket(fileno=number)
    while message := control.recv(LONGEST):
        if os.fork() == 0:
            torch.default_generator.seed()  # a notebook that forgets its seed has other numbers each time, as ever
            np.random.seed()
            _become_a_kernel(ipykernel.kernelapp, control, *json.loads(message))


def _forget_the_ended(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _become_a_kernel(
    app: Any, control: socket.socket, arguments: list[str], settings: dict[str, str], folder: str
) -> None:
    status = 1
    try:
        os.setsid()  # before anybody hears of it, because the whole group is signalled
        pid = os.getpid()
        socket.send_fds(control, [str(pid).encode()], [os.pidfd_open(pid)])
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(settings)
        os.chdir(folder)
        parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # when that has ended, the kernel ends too
        sys.argv = ["ipykernel_launcher.py", *arguments, parent]
        del sys.path[0], sys.modules[__name__]  # the folder that `-m` puts there, as the launcher does; and this
        app.launch_new_instance()
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)
