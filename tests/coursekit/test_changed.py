"""Which labs and which tests a change can touch."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from coursekit.changed import changed_files, touched_labs, untouched_tests

ROOT = Path(__file__).parents[2]
LABS = ["lab01", "lab02", "lab13"]


def git(root, *arguments):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, check=True)


@pytest.fixture
def repository(tmp_path):
    """A course in git, one commit on main."""
    git(tmp_path, "init", "--initial-branch", "main")
    for name in ("kept.md", "edited.md", "removed.md", "moved here.md"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / ".gitignore").write_text("ignored.md\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


def test_nothing_has_changed_right_after_a_commit(repository):
    assert changed_files(repository) == []


def test_what_is_edited_removed_moved_or_new_has_changed_and_what_git_ignores_has_not(repository):
    (repository / "edited.md").write_text("other")
    (repository / "removed.md").unlink()
    git(repository, "mv", "moved here.md", "there.md")
    (repository / "Σ.md").write_text("new")
    (repository / "ignored.md").write_text("new")
    assert changed_files(repository) == ["edited.md", "moved here.md", "removed.md", "there.md", "Σ.md"]


def test_on_a_branch_all_its_commits_count_and_none_that_main_got_since(repository):
    git(repository, "checkout", "-b", "mine")
    (repository / "edited.md").write_text("mine")
    git(repository, "commit", "-a", "-m", "mine")
    git(repository, "checkout", "main")
    (repository / "kept.md").write_text("theirs")
    git(repository, "commit", "-a", "-m", "theirs")
    git(repository, "checkout", "mine")
    assert changed_files(repository) == ["edited.md"]


def test_commits_on_main_count_until_they_are_published(repository):
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    (repository / "edited.md").write_text("mine")
    git(repository, "commit", "-a", "-m", "not pushed")
    assert changed_files(repository) == ["edited.md"]
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert changed_files(repository) == []


def test_files_are_named_from_the_courses_folder_that_may_lie_deeper(repository):
    (repository / "course").mkdir()
    (repository / "course" / "a.md").write_text("new")
    assert changed_files(repository / "course") == ["a.md"]
    git(repository, "add", ".")
    assert changed_files(repository / "course") == ["a.md"]


def test_without_a_commit_or_without_git_nothing_is_known(tmp_path, monkeypatch):
    git(tmp_path, "init", "--initial-branch", "main")
    assert changed_files(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert changed_files(tmp_path) is None


def test_where_nothing_is_known_every_lab_is_touched():
    assert touched_labs(LABS, None) == LABS


@pytest.mark.parametrize(
    "name",
    [
        "utils/attnlabs/lab02/softmax.py",
        "tests/attnlabs/lab02/right.py",
        "solutions/lab02_bahdanau/lab02_bahdanau.ipynb",
        "labs/lab02_bahdanau/data.csv",
    ],
)
def test_a_labs_own_files_touch_that_lab_alone(name):
    assert touched_labs(LABS, [name]) == ["lab02"]
    assert touched_labs(LABS, [name, "solutions/lab13_ntm/lab13_ntm.ipynb"]) == ["lab02", "lab13"]


@pytest.mark.parametrize(
    "name",
    [
        "utils/misread/judge.py",
        "utils/attnlabs/families/masked_weights.py",
        "utils/attnbook/attention/core.py",
        "utils/attnpages/figures/heat.py",
        "utils/coursekit/unsolved.py",
        "tests/helpers/catalogue.py",
        "tests/conftest.py",
        "tests/attnlabs/conftest.py",
        "results/numbers.json",
        "requirements.lock",
    ],
)
def test_what_labs_share_touches_them_all(name):
    assert touched_labs(LABS, ["README.md", name]) == LABS


@pytest.mark.parametrize(
    "name",
    [
        "chapters/02_bahdanau.ipynb",
        "book/_toc.yml",
        "tests/attnbook/measure/test_metrics.py",
        "tests/misread/test_judge.py",
        "utils/attnpages/figures/chapters/ch02.py",
        "utils/coursekit/templates/chapter.txt",
        "benchmarks/ntm.py",
    ],
)
def test_what_no_lab_depends_on_touches_none(name):
    assert touched_labs(LABS, [name]) == []


@pytest.mark.parametrize(
    "name, some, others",
    [
        ("models/sagan.py", {"lab16"}, {"lab02", "lab13"}),
        ("data/bandits.py", {"lab15"}, {"lab02", "lab16"}),
        ("attention/core.py", {"lab02", "lab08", "lab16"}, set()),
        ("checks/engine/judge.py", {"lab02", "lab08", "lab16"}, set()),
        ("checks/families/dot_product_attention.py", {"lab07", "lab08"}, {"lab02", "lab16"}),
        ("checks/families/__init__.py", {"lab02", "lab08"}, {"lab01", "lab16"}),
        ("checks/fakes/machine.py", {"lab13"}, {"lab02", "lab16"}),
        ("checks/fakes/base.py", {"lab02", "lab13"}, {"lab07", "lab16"}),
    ],
)
def test_a_module_of_the_package_touches_the_labs_that_reach_it(sources, name, some, others):
    labs = sorted(folder.name for folder in (ROOT / "utils/attnlabs").glob("lab??"))
    found = touched_labs(labs, ["README.md", f"utils/attnbook/{name}"], sources)
    assert some <= set(found)
    assert others.isdisjoint(found)
    assert others or found == labs


def test_the_engine_of_the_checks_needs_nothing_that_only_some_labs_share():
    """Else a change in `families` or `fakes` could alter a lab that names neither."""
    checks = ROOT / "utils/attnlabs"
    texts = [path.read_text(encoding="utf-8") for path in (*checks.glob("engine/**/*.py"), checks / "__init__.py")]
    assert len(texts) > 10
    assert [text for text in texts if re.search(r"^\s*(from|import)\b.*\b(families|fakes)\b", text, re.MULTILINE)] == []


def test_where_a_module_is_no_python_every_lab_is_touched(sources, monkeypatch):
    def broken(*names):
        raise SyntaxError(names[0])

    monkeypatch.setattr(sources, "reached", broken)
    assert touched_labs(LABS, ["utils/attnbook/measure/metrics.py"], sources) == LABS


@pytest.fixture(scope="module")
def touched(sources):
    """A function: the tests of the package and of the benchmarks that these changes can alter."""
    every = {name for name in sources.files if re.match(r"tests/(attnbook|benchmarks)/(?!checks/lab)", name)}
    tests = {name for name in every if "/test_" in name}
    return lambda *changed: tests - set(untouched_tests(ROOT, list(changed), sources))


def test_where_nothing_is_known_every_test_is_touched_and_where_nothing_has_changed_none(touched):
    assert untouched_tests(ROOT, None) == []
    assert touched() == set()
    assert touched("CHANGELOG.md", "solutions/lab02_bahdanau/lab02_bahdanau.ipynb") == set()


def test_a_change_in_a_text_touches_the_tests_that_name_it(touched):
    assert touched("README.md") == {"tests/attnruns/test_translate.py"}


def test_a_change_in_the_package_touches_the_tests_that_reach_it(touched):
    found = touched("utils/attnbook/attention/core.py")
    assert found >= {f"tests/attnbook/models/test_{name}.py" for name in ("seq2seq", "transformer", "ntm", "pointer")}
    assert found >= {"tests/attnbook/attention/test_core.py", "tests/benchmarks/test_transformer.py"}
    assert "tests/attnruns/experiments/test_main.py" in found
    assert not any(name.startswith("tests/attnbook/data/") for name in found)


def test_a_change_of_a_figure_touches_no_tests_of_data_or_models(touched):
    found = touched("utils/attnpages/figures/heat.py")
    assert found >= {"tests/attnpages/figures/test_heat.py", "tests/attnpages/figures/chapters/test_ch09.py"}
    assert not any(name.startswith(("tests/attnbook/data/", "tests/attnbook/models/")) for name in found)


def test_a_test_is_touched_by_its_own_change_and_by_what_it_finds_without_an_import(touched):
    assert touched("tests/attnbook/data/points/test_tours.py") == {"tests/attnbook/data/points/test_tours.py"}
    assert "tests/attnbook/training/test_loop_resume.py" in touched("tests/attnbook/training/killed_training.py")
    assert "tests/attnpages/figures/chapters/test_ch00.py" in touched("chapters/02_bahdanau.ipynb")


@pytest.mark.parametrize(
    "name",
    [
        "results/numbers.json",
        "requirements.lock",
        "environment.yml",
        "pyproject.toml",
        "tests/conftest.py",
        "tests/helpers/words.txt",
        "utils/attnbook/py/typed",
        "utils/attnbook/__init__.py",
    ],
)
def test_what_all_tests_share_touches_them_all(touched, name):
    assert touched("README.md", name) == touched("pyproject.toml")
    assert len(touched(name)) > 100


def test_a_file_that_is_no_python_touches_every_test(tmp_path):
    (tmp_path / "tests" / "attnbook").mkdir(parents=True)
    (tmp_path / "tests" / "attnbook" / "test_it.py").write_text("1 +")
    (tmp_path / "tests" / "attnbook" / "test_that.py").write_text("")
    assert untouched_tests(tmp_path, ["README.md"]) == []
    (tmp_path / "tests" / "attnbook" / "test_it.py").write_bytes(b"'\xff'")
    assert untouched_tests(tmp_path, ["README.md"]) == []


def test_no_lab_looks_into_another():
    """Else a change in the one could alter the other."""
    folders = [folder / "attnbook" / "checks" for folder in (ROOT / "utils", ROOT / "tests")]
    modules = [path for folder in folders for path in folder.glob("lab[0-9][0-9]/*.py")]
    assert len(modules) > 50
    for path in modules:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        named = {part for module in imported for part in module.split(".") if part.startswith("lab")}
        assert named - {path.parent.name, "lab_material"} == set(), path


def test_no_lab_draws_what_belongs_to_one_chapter():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "solutions").glob("*/*.ipynb")]
    assert sources
    assert not any("plotting.chapters" in source for source in sources)
