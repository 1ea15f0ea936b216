"""Running and storing notebooks."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from jupyter_client.connect import LocalPortCache
from nbformat import v4

from coursekit import CourseError
from coursekit.cli import KEPT
from coursekit.execute import execute, run_notebook
from coursekit.notebooks import code_cells, read, write


@pytest.fixture
def chapter(project):
    return project.chapters[0]


@pytest.mark.slow
def test_a_second_run_gives_the_same_bytes(chapter):
    assert execute(chapter) > 0
    once = chapter.read_bytes()
    execute(chapter)
    assert chapter.read_bytes() == once
    cells = code_cells(read(chapter))
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    assert cells[1].outputs[0].text == "two\n"


def test_a_failing_cell_is_shown_and_nothing_is_written(chapter, change):
    change(chapter, lambda cells, _: cells["count"].update(source="1 / 0"))
    before = chapter.read_bytes()
    with pytest.raises(
        CourseError, match=r"cell count fails, nothing was written\n    1 / 0\n    -> ZeroDivisionError"
    ):
        execute(chapter)
    assert chapter.read_bytes() == before


def test_the_kernel_is_this_environments_python_in_the_notebooks_folder_with_one_thread(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    source = "import sys, os\nprint(sys.executable)\nprint(os.getcwd())\nprint(os.environ['OMP_NUM_THREADS'])"
    run = run_notebook(v4.new_notebook(cells=[v4.new_code_cell(source)]), tmp_path)
    assert not run.failures
    assert run.notebook.cells[0].outputs[0].text.split("\n")[:3] == [sys.executable, str(tmp_path.resolve()), "1"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no sockets that are files")
def test_a_port_that_another_program_takes_meanwhile_stops_no_notebook(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(LocalPortCache, "find_available_port", lambda *_: other.getsockname()[1])
        run = run_notebook(v4.new_notebook(cells=[v4.new_code_cell("print(2 + 2)")]), tmp_path)
    assert run.notebook.cells[0].outputs[0].text == "4\n"
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_that_can_not_begin_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("coursekit.execute.QUIET", ["--IPKernelApp.connection_file=/no/such/folder/file"])
    with pytest.raises(CourseError, match="the kernel died or hung: Kernel died before replying"):
        run_notebook(v4.new_notebook(cells=[v4.new_code_cell("print(2 + 2)")]), tmp_path)


@pytest.mark.slow
def test_a_kernel_that_dies_or_hangs_is_reported(tmp_path):
    write(v4.new_notebook(cells=[v4.new_code_cell("import os; os._exit(1)")]), tmp_path / "dies.ipynb")
    write(v4.new_notebook(cells=[v4.new_code_cell("import time; time.sleep(60)")]), tmp_path / "hangs.ipynb")
    for name in ("dies", "hangs"):
        with pytest.raises(CourseError, match="died or hung"):
            execute(tmp_path / f"{name}.ipynb", timeout=1)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
def test_an_interrupted_run_ends_its_kernel_and_goes_on_with_no_other_notebook(project, change):
    begun = project.root / "begun"
    waits = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    change(project.chapters[0], lambda cells, _: cells["count"].update(source=waits))
    before = project.chapters[0].read_bytes()
    command = [sys.executable, "-m", "coursekit", "--root", str(project.root), "execute", "--all"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    deadline = time.monotonic() + 120
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0].decode().replace("\r", "").splitlines()
    assert process.returncode == 130
    assert said[1:] == [f"Interrupted. {KEPT['execute']}"]
    assert said[0].startswith(str(project.chapters[0]))
    assert project.chapters[0].read_bytes() == before
