"""How kernels are spoken to."""

from pathlib import Path

import nbval.kernel
import pytest
from jupyter_client.connect import LocalPortCache

from coursekit.sockets import private_sockets


def test_a_kernels_sockets_are_files_in_its_folder_except_on_windows(tmp_path, monkeypatch):
    assert private_sockets(tmp_path) == {"transport": "ipc", "connection_file": str(tmp_path / "kernel.json")}
    monkeypatch.setattr("os.name", "nt")
    assert private_sockets("folder") == {}


@pytest.mark.skipif(not private_sockets("."), reason="Windows has no sockets that are files")
def test_nbval_starts_each_kernel_with_sockets_of_its_own(monkeypatch):
    monkeypatch.setattr(LocalPortCache, "find_available_port", lambda *_: pytest.fail("a port was chosen"))
    folders = []
    for _ in range(2):
        manager, client = nbval.kernel.start_new_kernel(kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME)
        folders.append(Path(manager.connection_file).parent)
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert len(set(folders)) == 2
