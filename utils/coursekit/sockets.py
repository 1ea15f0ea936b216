"""How kernels are spoken to."""

import os
from pathlib import Path


def private_sockets(folder: str | Path) -> dict[str, str]:
    """What a `KernelManager` is given so that it speaks to its kernel through files in `folder`.

    The usual way is five ports that are free when they are chosen. Another program may have taken one before the kernel
    opens it, and then the kernel ends at once. Windows has no sockets that are files: there the ports stay.

    Args:
        folder: of this kernel alone, with a short path (systems allow about a hundred characters).
    """
    if os.name == "nt":
        return {}
    return {"transport": "ipc", "connection_file": str(Path(folder) / "kernel.json")}
