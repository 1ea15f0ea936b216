"""nbval's kernels are spoken to through files, as coursekit's are: two workers can't take each other's ports."""

import atexit
import shutil
import tempfile
from typing import Any

import nbval.kernel
from jupyter_client.manager import KernelManager

from coursekit.sockets import private_sockets


def install() -> None:
    """From now on nbval starts kernels with sockets of their own."""
    nbval.kernel.KernelManager = manager


def manager(**options: Any) -> KernelManager:
    """What nbval makes for each notebook; the folder of its sockets is removed at the end of this process."""
    folder = tempfile.mkdtemp(prefix="kernel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return KernelManager(**private_sockets(folder), **options)
