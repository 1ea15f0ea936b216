"""A cell as Python: what Jupyter runs of it."""

import subprocess
import sys

import pytest

from coursekit.magics import is_python, parsed, python_of, without_meaning


@pytest.mark.parametrize("source", [
    "x = (7\n     % 2)\n",
    'text = """\n%time\n!ls\n"""',
    "x = 1\n  # % is modulo",
    "await f()",
    "def f(:",
    "(" * 5000,
    "a\0b",
    "",
])  # fmt: skip
def test_what_is_python_or_nobody_can_read_stays_as_it_is(source):
    assert python_of(source).strip() == source.strip()


@pytest.mark.parametrize("source, python", [
    ("%matplotlib inline\nx = 1", "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\n"),
    ("x = !ls\ny = %pwd", "x = get_ipython().getoutput('ls')\ny = get_ipython().run_line_magic('pwd', '')\n"),
    ("f?", "get_ipython().run_line_magic('pinfo', 'f')\n"),
    ("%%bash\nrm -rf /", "get_ipython().run_cell_magic('bash', '', 'rm -rf /\\n')\n"),
])  # fmt: skip
def test_a_magic_becomes_the_call_that_jupyter_makes_of_it(source, python):
    assert python_of(source) == python


@pytest.mark.parametrize("magic", ["%%time", "%%capture", "%%timeit -n 3", "%%prun", "\n\n%%time\n%%capture"])
def test_the_cell_of_a_magic_that_runs_it_keeps_its_definitions_and_lines(magic):
    source = f"{magic}\ndef f():\n    return (7\n        % 2)"
    assert [node.name for node in parsed(source).body] == ["f"]
    assert python_of(source).lstrip("\n") == "def f():\n    return (7\n        % 2)\n"


def test_a_captured_output_has_its_name():
    assert "out = get_ipython().captured()" in python_of("%%capture --no-stderr out\nx = 1")


def test_what_means_nothing_without_jupyter_is_named_once():
    source = "%pip install x\n!ls -l\n!ls\nf?\nf??\n%time x = 1\ny = %pwd\n%timeit f()"
    assert without_meaning(source) == ["%pip", "!ls", "?", "??", "%timeit"]
    assert without_meaning("x = !echo hi\ny = %env PATH\nz = %timeit -o 1") == ["!echo", "%env", "%timeit"]
    assert without_meaning("%%bash\nls") == ["%%bash"]
    assert without_meaning("%%nobody_knows\nls") == ["%%nobody_knows"]
    assert without_meaning("%%capture out\nx = 1") == ["%%capture"]
    assert without_meaning("%%time\nx = 1") == without_meaning("%%capture\nx = 1") == []


def test_magics_in_each_other_without_end_are_left():
    assert "%%time" in python_of("%%time\n" * 1000)


def test_await_is_python_and_a_magic_is_not():
    assert is_python("await f()")
    assert not is_python("%time f()")


def test_a_cell_of_python_needs_no_ipython():
    code = "import sys; from coursekit.magics import *; python_of('x = 1'); parsed('x = 1'); without_meaning('x = 1')"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'IPython' not in sys.modules"], check=True)
