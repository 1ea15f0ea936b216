"""The script course.py, and the Makefile that calls it: any Python gets a sentence, none a wall of errors."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from loaded import loaded
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]


def script() -> ModuleType:
    return loaded(ROOT / "course.py")


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 8, 18), (3, 10, 13), (3, 11, 0), (3, 11, 2), (3, 12, 1),
                                     (3, 13, 0), (3, 14, 0), (3, 14, 1), (3, 14, 2), (3, 15, 0)])  # fmt: skip
def test_it_takes_the_versions_that_the_project_declares(version):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = SpecifierSet(project["requires-python"]).contains(".".join(map(str, version)))
    assert script().is_supported(version) == (declared and version != (3, 14, 1))


def test_a_python_that_does_not_fit_gets_one_sentence_and_no_environment(monkeypatch):
    course = script()
    monkeypatch.setattr(course, "other_python", lambda: None)
    monkeypatch.setattr(course, "is_supported", lambda version: False)
    said = course.main()
    assert said.startswith("This book needs Python 3.11 to 3.14, and this is Python ")
    assert "\n" not in said


def test_it_goes_on_with_a_python_that_fits(monkeypatch, capsys):
    course, called = script(), []
    monkeypatch.setattr(course, "is_supported", lambda version: False)
    monkeypatch.setattr(course, "other_python", lambda: "python3.12")

    class Command:
        def __init__(self, command):
            called.append(command)

        def wait(self):
            called.append("waited for")
            if len(called) == 2:
                raise KeyboardInterrupt  # which the command hears as well, and answers
            return 130

    monkeypatch.setattr(course.subprocess, "Popen", Command)
    monkeypatch.setattr(sys, "argv", ["course.py", "book"])
    assert course.main() == 130
    assert called == [["python3.12", str(ROOT / "course.py"), "book"], "waited for", "waited for"]
    assert "going on with python3.12" in capsys.readouterr().out


def test_a_name_on_the_path_that_does_not_run_is_passed_over(tmp_path, monkeypatch):
    for minor in range(11, 15):
        shell = tmp_path / f"python3.{minor}"
        shell.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
        shell.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert script().other_python() is None


def test_it_can_be_read_by_any_python():
    tree = ast.parse((ROOT / "course.py").read_text(encoding="ascii"))
    modern = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.Match)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, modern)] == []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert functions
    assert all(not node.returns and not any(arg.annotation for arg in node.args.args) for node in functions)


def test_the_part_that_sets_up_needs_nothing_installed():
    imported = set()
    for name in ("attnbook/__init__.py", "attnbook/files.py", "coursekit/__init__.py", "coursekit/environment.py"):
        for node in ast.walk(ast.parse((ROOT / "utils" / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    foreign = {name for name in imported if name.split(".")[0] not in {"coursekit", *sys.stdlib_module_names}}
    assert foreign == {"attnbook.files"}


def test_each_target_of_the_makefile_is_the_same_command_of_the_script():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = dict(re.findall(r"^([a-z]+):.*\n\t(.+)$", text, re.MULTILINE))
    ours = {name: line for name, line in targets.items() if name not in ("help", "clean")}
    assert len(ours) >= 8
    assert ours == {name: f'@"$(PYTHON)" course.py {name}' for name in ours}


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
def test_set_up_finds_the_python_outside_of_an_activated_environment(tmp_path):
    folder = tmp_path / "a path"
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "course.py").write_text("import os\nprint(os.environ['PATH'])\n", encoding="utf-8")
    path = os.pathsep.join([str(folder / ".venv" / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["make", "book", f"PYTHON={sys.executable}"], cwd=folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(folder / ".venv") not in done.stdout
