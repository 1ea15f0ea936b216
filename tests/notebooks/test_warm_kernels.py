"""A kernel that is a fork finds what a fresh one finds, so that notebooks prove the same in it."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.provisioning import local_provisioner
from nbformat import v4
from warm_kernels import launch, launch_cold

from coursekit.execute import run_notebook
from coursekit.notebooks import code_cells, read
from coursekit.project import Project

ROOT = Path(__file__).parents[2]
DRAW = """\
import json, os, random, signal, sys, torch, numpy
drawn = [random.random(), numpy.random.rand(), torch.rand(1).item()]
"""
LEAVE = DRAW + "name = sys.left = torch.left = os.environ['LEFT'] = 'here'\nprint(json.dumps(drawn))"
FIND = (
    DRAW
    + """\
ours = sorted({name.split(".")[0] for name in sys.modules} & {"attnbook", "coursekit", "warm_kernels"})
left = ["name" in globals(), hasattr(sys, "left"), hasattr(torch, "left"), "LEFT" in os.environ]
same = [os.getcwd(), sys.path, sys.flags.hash_randomization, torch.get_num_threads()]
same += [__name__, *(str(signal.getsignal(number)) for number in (signal.SIGCHLD, signal.SIGINT))]
same += [os.getsid(0) == os.getpid(), get_ipython().parent.parent.parent_handle == os.getppid()]
import matplotlib.pyplot as plt
same += [plt.get_fignums(), plt.isinteractive(), repr(plt.rcParams), os.environ["MPLBACKEND"]]
figure = plt.figure()
same += [plt.get_backend(), type(figure.canvas).__module__, repr(plt.rcParams)]
same += [function.__qualname__ for function in get_ipython().events.callbacks["post_execute"]]
plt.close()
print(json.dumps([drawn, left, ours, same]))"""
)


def printed(source: str, folder: Path) -> str:
    """What a cell prints that is run in a kernel of its own."""
    run = run_notebook(v4.new_notebook(cells=[v4.new_code_cell(source, id="one")]), folder)
    assert run.failures == {}
    return "".join(output.text for output in run.notebook.cells[0].outputs)


@pytest.mark.slow
def test_a_fork_finds_what_a_fresh_kernel_finds_and_nothing_of_the_one_before(tmp_path, monkeypatch):
    if local_provisioner.launch_kernel is not launch:
        pytest.skip("kernels are no forks on this system, or were not to be")
    before = json.loads(printed(LEAVE, tmp_path))
    drawn, *forked = json.loads(printed(FIND, tmp_path))
    assert set(before).isdisjoint(drawn), "random numbers are those of the one before"
    assert forked[:2] == [[False] * 4, []]
    assert printed("import os; print(os.getppid())", tmp_path) != str(os.getpid())
    monkeypatch.setattr(local_provisioner, "launch_kernel", launch_cold)
    assert printed("import os; print(os.getppid())", tmp_path).strip() == str(os.getpid())
    assert json.loads(printed(FIND, tmp_path))[1:] == forked


def used_of(package: str) -> tuple[set[str], set[str]]:
    """Of all notebooks and both packages: the dotted names that begin with a package's, and its modules imported."""
    project = Project(ROOT)
    notebooks = [*project.chapters, *(lab.source for lab in project.labs)]
    texts = [cell.source for path in notebooks for cell in code_cells(read(path))]
    texts += [
        path.read_text(encoding="utf-8") for path in (ROOT / "utils").glob("*/**/*.py") if "templates" not in str(path)
    ]
    names, imported = set[str](), set[str]()
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Attribute) and ast.unparse(node).replace(".", "").isidentifier():
            names.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(node.module)
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    names, imported = ({name for name in found if name.split(".")[0] == package} for found in (names, imported))
    return names, imported


@pytest.mark.slow
def test_what_is_used_of_torch_is_there_without_an_optimiser():
    """A warm process has imported what the first optimiser does; no notebook may live on that."""
    names, imported = used_of("torch")
    assert {"torch.nn.Linear", "torch.optim.Adam"} <= names
    code = f"import sys, {', '.join(sorted(imported | {'torch'}))}\nfor name in {sorted(names)!r}: eval(name)\n"
    code += "assert 'torch._dynamo' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]


def test_nothing_of_matplotlib_is_used_that_was_not_imported_where_it_is_used():
    """A warm process has imported matplotlib; so nobody says `matplotlib.colors` after another module's import."""
    names, imported = used_of("matplotlib")
    assert names == set()
    assert {"matplotlib.pyplot", "matplotlib.axes"} <= imported
