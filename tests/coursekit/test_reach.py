"""What a Python file can reach, in a small repository and in this one."""

import json
import re
from pathlib import Path

import pytest

from coursekit.reach import THROUGH, Sources, is_test

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path):
    """A function that writes files, and returns what one of them reaches beside itself."""

    def reached(files, start="tests/attnbook/test_it.py", others=()):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return Sources(tmp_path, others).reached(start) - {start}

    return reached


PACKAGE = {
    "utils/attnbook/__init__.py": "",
    "utils/attnbook/models/__init__.py": "",
    "utils/attnbook/models/gru.py": "from attnbook.attention import attend",
    "utils/attnbook/models/lstm.py": "",
    "utils/attnbook/attention.py": "def attend(): import torch",
    "utils/attnbook/data.py": "",
}
ALWAYS = {"utils/attnbook/__init__.py"}
MODELS = ALWAYS | {"utils/attnbook/models/__init__.py"}
GRU = MODELS | {"utils/attnbook/models/gru.py", "utils/attnbook/attention.py"}
EVERY_MODEL = GRU | {"utils/attnbook/models/lstm.py"}


@pytest.mark.parametrize(
    "code",
    [
        "import attnbook.models.gru",
        "import attnbook.models.gru as model",
        "from attnbook.models import gru",
        "from attnbook.models.gru import GRU, attend as look",
        "from attnbook.models.gru import *",
        "def test_it():\n    if True:\n        from attnbook.models import gru",
    ],
)
def test_an_import_reaches_the_module_the_packages_on_the_way_and_what_these_import(repository, code):
    assert repository({**PACKAGE, "tests/attnbook/test_it.py": code}) == GRU


def test_relative_imports_reach_what_they_name(repository):
    inner = {**PACKAGE, "utils/attnbook/models/lstm.py": "from .gru import GRU", "tests/attnbook/test_it.py": ""}
    assert repository(inner, "utils/attnbook/models/lstm.py") == GRU
    outer = {**inner, "utils/attnbook/models/lstm.py": "from .. import data\nfrom ..attention import attend"}
    beside = {"utils/attnbook/data.py", "utils/attnbook/attention.py"}
    assert repository(outer, "utils/attnbook/models/lstm.py") == ALWAYS | beside
    package = {**inner, "utils/attnbook/models/__init__.py": "from .gru import GRU"}
    assert repository(package, "utils/attnbook/models/__init__.py") == GRU - {"utils/attnbook/models/__init__.py"}


PASSES_ON = {
    **PACKAGE,
    "utils/attnbook/models/__init__.py": '"""All."""\nfrom attnbook.models.gru import GRU\n'
    'from attnbook.models.lstm import LSTM as Long\n__all__ = ["GRU", "Long"]',
}


@pytest.mark.parametrize(
    "code, wanted",
    [
        ("from attnbook.models import GRU", GRU),
        ("from attnbook.models import Long", MODELS | {"utils/attnbook/models/lstm.py"}),
        ("import attnbook.models.lstm", MODELS | {"utils/attnbook/models/lstm.py"}),
        ("from attnbook.models import lstm", MODELS | {"utils/attnbook/models/lstm.py"}),
        ("from attnbook import models", EVERY_MODEL),
        ("from attnbook.models import *", EVERY_MODEL),
        ("from attnbook.models import Unknown", EVERY_MODEL),
        ("import importlib\nfrom attnbook.models import Long", EVERY_MODEL),
    ],
)
def test_a_package_that_passes_names_on_is_asked_for_the_module_of_a_name(repository, code, wanted):
    assert repository({**PASSES_ON, "tests/attnbook/test_it.py": code}) == wanted


@pytest.mark.parametrize("line", ["register(GRU)", "SIZE = 3", "import torch", "from .lstm import LSTM"])
def test_a_package_that_does_more_is_run_and_so_is_all_that_it_imports(repository, line):
    package = {"utils/attnbook/models/__init__.py": f"from attnbook.models.gru import GRU\n{line}"}
    test = {"tests/attnbook/test_it.py": "from attnbook.models import lstm"}
    assert repository({**PACKAGE, **package, **test}) == EVERY_MODEL


def test_a_notebook_reaches_what_its_code_cells_import(repository, tmp_path):
    code = [["%matplotlib inline\n", "from attnbook.models import GRU\n"], ["!ls"], ["GRU(7\n", "    % 2)"]]
    cells = [{"cell_type": "code", "source": source} for source in code]
    cells.append({"cell_type": "markdown", "source": ["import attnbook.data"]})
    repository({**PASSES_ON, "solutions/lab01_a/lab01_a.ipynb": json.dumps({"cells": cells})}, "benchmarks/none.py")
    assert Sources(tmp_path).reached_by_notebook(tmp_path / "solutions/lab01_a/lab01_a.ipynb") == GRU


def test_helpers_are_imported_by_their_bare_name(repository):
    files = {**PACKAGE, "tests/helpers/tiny.py": "import attnbook.data", "tests/attnbook/test_it.py": "import tiny"}
    assert repository(files) == ALWAYS | {"tests/helpers/tiny.py", "utils/attnbook/data.py"}


def test_a_module_named_in_a_program_is_reached_and_one_that_only_a_docstring_names_is_not(repository):
    program = 'PROGRAM = """import attnbook.models.lstm"""'
    lstm = MODELS | {"utils/attnbook/models/lstm.py"}
    assert repository({**PACKAGE, "tests/attnbook/test_it.py": program}) == lstm
    assert repository({**PACKAGE, "tests/attnbook/test_it.py": '"""Of attnbook.models.lstm."""'}) == set()
    doctest = '"""Of attnbook.data.\n\n>>> from attnbook.models import lstm\n>>> attnbook.models.lstm\n"""'
    assert repository({**PACKAGE, "tests/attnbook/test_it.py": doctest}) == lstm


@pytest.mark.parametrize(
    "code",
    [
        'import importlib\nimportlib.import_module(f"attnbook.models.{name}")',
        "import pkgutil\nfrom attnbook import models\npkgutil.iter_modules(models.__path__)",
        "from attnbook import models\nfolder = models.__file__",
        'import runpy\nrunpy.run_module("attnbook.models")',
        'PROGRAM = f"import attnbook.models.{name}"',
    ],
)
def test_names_that_are_put_together_reach_the_whole_package(repository, code):
    assert repository({**PACKAGE, "tests/attnbook/test_it.py": code}) == EVERY_MODEL


def test_a_module_that_imports_by_name_reaches_all_of_the_folder_that_it_belongs_to(repository):
    engine = {"utils/misread/lab.py": "import importlib", "utils/attnlabs/lab03/scores.py": ""}
    found = repository({**PACKAGE, **engine, "tests/attnbook/test_it.py": "import misread.lab"})
    assert found == ALWAYS | engine.keys()


def test_a_test_needs_each_conftest_above_it_and_scripts_and_data_beside_it(repository):
    needed = {
        "tests/conftest.py": "",
        "tests/attnbook/conftest.py": "import attnbook.data",
        "tests/attnbook/kill.py": "",
    }
    other = {"tests/attnbook/models/conftest.py": "", "tests/attnbook/test_that.py": "", "tests/book/conftest.py": ""}
    files = {**PACKAGE, **needed, **other, "tests/attnbook/logits.json": "{}", "tests/attnbook/test_it.py": ""}
    wanted = ALWAYS | needed.keys() | {"tests/attnbook/logits.json", "utils/attnbook/data.py"}
    assert repository(files) == wanted


def test_a_string_may_name_a_folder_or_a_file_at_the_top(repository):
    code = 'FOLDER = Path(__file__).parents[2] / "benchmarks"\nTEXT = FOLDER.parent / "README.md"'
    files = {**PACKAGE, "benchmarks/ntm.py": "import attnbook.data", "README.md": "", "tests/attnbook/test_it.py": code}
    wanted = ALWAYS | {"benchmarks/ntm.py", "utils/attnbook/data.py", "README.md"}
    assert repository(files, others=["README.md", "CHANGELOG.md"]) == wanted


def test_a_module_that_is_gone_is_still_reached_by_who_imports_it(repository):
    files = {**PACKAGE, "tests/attnbook/test_it.py": "from attnbook.models import gone"}
    assert repository(files) == MODELS
    gone = "utils/attnbook/models/gone.py"
    assert repository(files, others=[gone]) == MODELS | {gone}


def test_what_is_no_python_is_refused(repository):
    with pytest.raises(SyntaxError):
        repository({**PACKAGE, "tests/attnbook/test_it.py": "import attnbook.data", "utils/attnbook/data.py": "1 +"})


def test_tests_are_known_by_their_names():
    assert is_test("tests/attnbook/measure/test_metrics.py")
    assert is_test("test_metrics.py")
    assert not any(is_test(name) for name in ("tests/attnbook/conftest.py", "tests/test_a/b.py", "tests/test_a.json"))


# ---- in this repository


IMPORT = re.compile(r"^\s*(?:from ((?:attnbook|coursekit)[\w.]*) import (.*)|import ((?:attnbook|coursekit)\S*))", re.M)


def test_each_import_of_the_books_packages_is_found(sources):
    """Else a test could depend on a file that nobody knows of. Here the lines are read, there the syntax."""
    wanted = []
    for path in [path for folder in ("tests", "utils", "benchmarks") for path in (ROOT / folder).rglob("*.py")]:
        for origin, names, module in IMPORT.findall(path.read_text(encoding="utf-8")):
            assert module != "attnbook", f"{path} imports all and nothing: name the module"
            wanted += [(path, name.rstrip(",")) for name in (origin, module) if name]
            wanted += [(path, f"{origin}.{name}") for name in re.findall(r"\w+", names) if origin]
    assert len(wanted) > 1000
    for path, name in wanted:
        module = (ROOT / "utils").joinpath(*name.split("."))
        files = [file for file in (module / "__init__.py", module.with_suffix(".py")) if file.exists()]
        reached = {one.removeprefix(THROUGH) for one in sources.named_in(path.relative_to(ROOT).as_posix())}
        assert {file.relative_to(ROOT).as_posix() for file in files} <= reached, path


def test_what_is_loaded_by_name_is_reached(sources):
    """Each of these files is imported by no statement of the test that needs it."""
    needed = {
        "tests/attnruns/shared/test_weights.py": "utils/attnruns/experiments/luong.py",
        "tests/attnruns/experiments/test_main.py": "utils/attnruns/experiments/captioning.py",
        "tests/misread/test_lab.py": "utils/attnlabs/lab14/__init__.py",
        "tests/attnbook/data/symbols/test_dates.py": "utils/attnbook/data/symbols/dates.py",
        "tests/attnpages/figures/test_boxes.py": "utils/attnpages/figures/chapters/ch09.py",
        "tests/attnbook/test_extras.py": "utils/attnlabs/lab02/__init__.py",
        "tests/attnpages/test_teaching.py": "utils/attnpages/figures/heat.py",
        "tests/attnbook/training/test_parallel.py": "tests/attnbook/training/shared_training.py",
        "tests/attnbook/training/test_loop_resume.py": "tests/attnbook/training/killed_training.py",
        "tests/attnruns/experiments/test_stored_transformers.py":
            "tests/attnruns/experiments/logits_of_stored_transformers.json",
        "tests/benchmarks/test_ntm.py": "benchmarks/ntm.py",
        "tests/attnlabs/lab13/test_lab13.py": "tests/attnlabs/lab13/adversarial.py",
    }  # fmt: skip
    assert [test for test, file in needed.items() if file not in sources.reached(test)] == []


def test_each_module_of_the_package_is_reached_by_the_test_that_mirrors_it(sources):
    tests = sorted(name for name in sources.files if is_test(name) and name.startswith("tests/attnbook/"))
    mirrored = {test: test.replace("tests/", "utils/", 1).replace("test_", "") for test in tests}
    pairs = {test: module for test, module in mirrored.items() if module in sources.files}
    assert len(pairs) > 90
    assert [test for test, module in pairs.items() if module not in sources.reached(test)] == []
