"""The house itself: versions pinned in one place, packages in their order, nothing private in the files."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import metadata, packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from without_a_lab import is_page

from coursekit import ROOMS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Packages that only other systems than Linux need; pip finds them by itself, as requirements.lock says.
OF_OTHER_SYSTEMS = {"linux": set(), "darwin": {"appnope"}, "win32": {"pywinpty", "win32-setctime", "pywin32"}}

# Whose behaviour is tested from outside, in one place for all of them.
TESTED_ELSEWHERE = {
    "misread/diagnosis/": "tests/misread/test_diagnosis_results.py",
    "attnlabs/fakes/": "tests/attnlabs/fakes",
    "attnlabs/families/": "tests/attnlabs/families",
    **{
        f"attnlabs/{lab.name}/": f"tests/attnlabs/{lab.name}/test_{lab.name}.py"
        for lab in (ROOT / "utils" / "attnlabs").glob("lab[0-9][0-9]")
    },
}

# MathJax would fetch this in a browser that cannot look a document through; none of the last ten years is one.
NEVER_TAKEN = {
    "_static/mathjax/tex-chtml.js: https://cdn.jsdelivr.net/npm/wicked-good-xpath@1.3.0/dist/wgxpath.install.js"
}

NOT_TEXT = {".png", ".woff", ".woff2", ".ico", ".pt", ".npz", ".gz", ".zip", ".pdf", ".safetensors", ".onnx"}
VENDORED = ("book/_static/mathjax/",)
HOST = r"https?://(?:[\w.-]*\.)?"
PRIVATE = {
    "a package registry": r"(?i)index-url|find-links|trusted-host|" + HOST + r"(?:artifactory|nexus|mirror)\b",
    "a host of one's own": r"https?://(?:10\.\d|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|"
    + HOST
    + r"(?:internal|lan)\b",
    "a path of one machine": r"(?<![\w.])(?:/root/|/home/\w+/|/Users/\w+/|[A-Z]:\\+Users\\|"
    + re.escape(f"{ROOT}/")
    + ")",
}


@cache
def lock() -> dict[str, Version]:
    """Each pinned package and its version."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): Version(str(pin.specifier).removeprefix("==")) for pin in pins}


def declared(*extras: str) -> list[Requirement]:
    """What pyproject.toml asks for, with the named extras or with all of them."""
    optional = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"]]
    for name in extras or optional:
        wanted += optional[name]
    return [Requirement(text) for text in wanted]


@cache
def files() -> list[Path]:
    """All files that are, or are about to be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


@cache
def needed_by(name: str) -> list[Requirement]:
    """What an installed package asks for."""
    return [Requirement(text) for text in requires(name) or []]


@cache
def parsed(path: Path) -> ast.Module:
    """A module's syntax, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    """The top-level packages that a module imports by name."""
    return imports_in(parsed(path))


def imports_in(tree: ast.AST) -> set[str]:
    """The top-level packages that a piece of code imports by name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


# --- versions -------------------------------------------------------------------------------------


def test_the_lock_pins_each_package_once_and_exactly():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert len(lock()) == len(pins)
    assert pins == sorted(pins, key=str.lower)


@pytest.mark.parametrize("wanted", declared(), ids=str)
def test_the_lock_holds_what_the_project_asks_for(wanted):
    assert canonicalize_name(wanted.name) in lock(), f"{wanted.name} is missing in requirements.lock"
    assert wanted.specifier.contains(lock()[canonicalize_name(wanted.name)])


@pytest.mark.parametrize("python", ["3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0", "3.14.2"])
def test_each_locked_version_admits_each_python_that_the_book_runs_on(python):
    wanted = {name: SpecifierSet(metadata(name).get("Requires-Python") or "") for name in lock()}
    assert [name for name, pythons in wanted.items() if not pythons.contains(python)] == []


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("system", ["linux", "win32", "darwin"])
def test_whatever_a_locked_package_needs_is_locked_too(system, python):
    """Else two set-ups a month apart would give two environments."""
    machine = {
        "python_version": python, "python_full_version": f"{python}.0", "sys_platform": system, "extra": "",
        "platform_system": {"linux": "Linux", "win32": "Windows", "darwin": "Darwin"}[system],
        "os_name": "nt" if system == "win32" else "posix",
    }  # fmt: skip
    needs = {canonicalize_name(need.name) for name in lock() for need in needed_by(name)
             if need.marker is None or need.marker.evaluate(machine)}  # fmt: skip
    foreign = {name for name in needs if name.startswith(("nvidia-", "cuda-", "triton"))}  # torch's, for its cards
    assert needs - foreign - lock().keys() - OF_OTHER_SYSTEMS[system] == set()


def test_what_builds_the_package_is_locked_too():
    for text in PROJECT["build-system"]["requires"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(lock()[wanted.name])


def test_exact_versions_stand_in_the_lock_alone():
    places = [ROOT / name for name in ("pyproject.toml", "environment.yml", "Makefile", ".ci/run")]
    assert [str(path) for path in places if re.search(r"\w==\d", path.read_text(encoding="utf-8"))] == []


def test_the_conda_environment_takes_its_versions_from_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, from_pip = environment["dependencies"]
    assert pip == "pip"
    assert from_pip == {"pip": ["-r requirements.lock", "-e ."]}
    version = python.removeprefix("python=")
    assert Requirement(f"python{PROJECT['project']['requires-python']}").specifier.contains(version)
    assert f"Python {version}" in (ROOT / "requirements.lock").read_text(encoding="utf-8")


@cache
def bringers() -> dict[str, list[str]]:
    """Which installed distributions bring a package that is imported by name."""
    return packages_distributions()


def undeclared(used: set[str], requirements: list[str]) -> set[str]:
    """Which of these packages no requirement brings."""
    distributions = bringers()
    wanted = {canonicalize_name(Requirement(text).name) for text in requirements}
    foreign = used - sys.stdlib_module_names - {"", *ROOMS}
    return {name for name in foreign if not wanted & {canonicalize_name(d) for d in distributions.get(name, [])}}


def test_the_package_of_the_subject_imports_only_what_it_declares():
    always, for_notebooks = set(), set()
    for path in (ROOT / "utils" / "attnbook").rglob("*.py"):
        tree = parsed(path)
        blocks = [node for node in ast.walk(tree) if isinstance(node, ast.With) and "needed_from" in ast.dump(node)]
        inside = set().union(*map(imports_in, blocks))
        for_notebooks |= inside
        always |= imports_in(tree) - inside
    project = PROJECT["project"]
    assert undeclared(always, project["dependencies"]) == set()
    assert undeclared(for_notebooks, project["optional-dependencies"]["notebooks"]) == set()


def test_what_grades_imports_only_what_its_extra_declares():
    """IPython comes with nbgrader, too, but that may change."""
    tools = ROOT / "utils" / "coursekit"
    used = set().union(*map(imports, [*(tools / "grading").rglob("*.py"), *tools.glob("*.py")])) - {"coursekit"}
    teach = PROJECT["project"]["optional-dependencies"]["teach"]
    assert undeclared(used, [*PROJECT["project"]["dependencies"], *teach]) == set()


def test_types_and_templates_go_into_the_wheel():
    for name, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        folder = ROOT / "utils" / name
        assert (folder / "py.typed").is_file()
        assert all(list(folder.glob(pattern)) for pattern in patterns)


# --- order ----------------------------------------------------------------------------------------


def test_one_module_knows_of_notebooks_and_only_the_tools_of_their_files():
    tools = {"nbformat", "nbclient", "nbconvert", "nbgrader", "jupyter_client"}
    notebooks = {"IPython", "ipywidgets", "ipykernel", "comm", "traitlets"}
    rooms = [path for path in (ROOT / "utils").rglob("*.py") if "coursekit" not in path.parts]
    used = {path.relative_to(ROOT / "utils").as_posix(): imports(path) for path in rooms}
    assert {name: found & tools for name, found in used.items() if found & tools} == {}
    assert [name for name, found in used.items() if found & notebooks] == ["attnpages/teaching.py"]


TOOLS_IMPORTED = re.compile(r"(import|from) coursekit")


def test_notebooks_import_the_subject_and_never_the_tools():
    notebooks = [path for path in files() if path.suffix == ".ipynb"]
    assert [path.name for path in notebooks if TOOLS_IMPORTED.search(path.read_text(encoding="utf-8"))] == []


def test_tests_mirror_the_packages_file_for_file():
    utils, tests = ROOT / "utils", ROOT / "tests"
    missing = []
    for path in sorted(utils.rglob("[a-z]*.py")):
        name = path.relative_to(utils)
        elsewhere = next((to for start, to in TESTED_ELSEWHERE.items() if name.as_posix().startswith(start)), None)
        mirror = ROOT / elsewhere if elsewhere else tests / name.parent / f"test_{name.name}"
        if not mirror.exists():
            missing.append(mirror.relative_to(ROOT).as_posix())
    assert missing == []


def test_git_hands_out_the_same_bytes_on_every_system():
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text(encoding="utf-8")
    command = ["git", "ls-files", "--eol", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line for line in listed.splitlines() if re.match(r"i/(crlf|mixed)", line)] == []


def test_what_runs_before_a_commit_are_commands_of_the_course():
    from coursekit.cli import COMMANDS

    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]  # nothing is fetched
    entries = [hook["entry"].split() for hook in repositories[0]["hooks"]]
    assert [words[:2] for words in entries] == [["python", "course.py"]] * len(entries)
    assert [words[2:] for words in entries] == [["lint"], ["verify", "--no-run"]]
    assert {words[2] for words in entries} <= COMMANDS.keys()


# --- nothing private ------------------------------------------------------------------------------


@pytest.mark.parametrize("what", PRIVATE)
def test_no_file_names(what):
    pattern = re.compile(PRIVATE[what])
    found = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in NOT_TEXT or name.startswith(VENDORED) or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            # a picture in a notebook is one long line of letters that may spell anything
            if (hit := pattern.search(line)) and not (len(line) > 2000 and " " not in line.strip()[20:]):
                found.append(f"{name}:{number}: {hit[0]}")
    assert found == []


def test_the_patterns_find_what_they_are_for():
    examples = {
        "a package registry": "pip install --index-url https://x",
        "a host of one's own": "see http://192.168.0.7/wheels",
        "a path of one machine": 'open("/home/mary/book")',
    }
    assert all(re.search(PRIVATE[what], text) for what, text in examples.items())
    assert not any(re.search(pattern, "https://arxiv.org/home/1409.0473") for pattern in PRIVATE.values())


# --- licence, commands ----------------------------------------------------------------------------


def test_code_and_text_each_have_their_licence_and_the_citation_agrees():
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Attribution 4.0 International" in (ROOT / "LICENSE-text").read_text(encoding="utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation.keys() >= {"cff-version", "message", "title", "authors", "license", "version"}
    assert citation["version"] == PROJECT["project"]["version"]
    assert set(citation["license"]) == {"MIT", "CC-BY-4.0"}


def test_ci_calls_the_command_of_the_readme():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 5


def test_each_target_that_the_texts_name_is_there():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "book").glob("*.md")]
    named = set(re.findall(r"`make ([a-z]+)", "\n".join(path.read_text(encoding="utf-8") for path in texts)))
    assert {"book", "test"} <= named
    assert named <= targets


def test_the_example_of_how_to_write_a_chapter_can_be_typed_and_names_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    commands = re.findall(r"`coursekit new (chapter|lab) (\d\d) (\w+)", text)
    assert [kind for kind, *_ in commands] == ["chapter", "lab"]
    assert len({(number, topic) for _, number, topic in commands}) == 1
    number = commands[0][1]
    assert not [path for folder in ("chapters", "labs") for path in (ROOT / folder).glob(f"*{number}_*")]
    names = re.findall(r"`((?:book|tests|utils)/[\w./]+\.\w+)`", text)
    assert len(names) > 15
    new = re.compile(f"{number}|NN|diffusion")  # what the example would make
    assert [name for name in names if not new.search(name) and not (ROOT / name).exists()] == []


def test_the_readme_counts_no_more_than_there_is_and_not_much_less():
    from coursekit.project import Project
    from coursekit.status import status_places

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    chapters, labs = (made.splitlines()[-1].split("|") for made in status_places(Project(ROOT)).values())
    for said, there in [
        (r"([\d,]+) in labs", labs[3]),
        (r"([\d,]+) in chapters", chapters[-2]),
        (r"they know (?:\w+ than )?([\d,]+) mistakes by name", labs[-2]),
    ]:
        number, counted = (int(one.replace(",", "")) for one in (re.search(said, readme)[1], there))
        assert 0.9 * counted <= number <= counted, said


def test_the_readme_counts_chapters_and_pages():
    from coursekit.project import Project

    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
             "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
             "twenty-one", "twenty-two", "twenty-three")  # fmt: skip
    pages = sum(is_page(path.stem) for path in Project(ROOT).chapters)
    written = words[len(Project(ROOT).chapters) - pages], words[pages]
    assert "All {} chapters and {} further pages are written".format(*written) in (ROOT / "README.md").read_text(
        "utf-8"
    )


def test_the_reply_that_the_readme_shows_is_the_one_that_a_student_reads():
    from attnlabs import evaluate

    def masked_softmax(scores, mask):
        return scores.masked_fill(~mask, float("-inf")).softmax(dim=1).nan_to_num()

    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```")
    said = evaluate("lab02", "masked_softmax", masked_softmax).message
    assert [block.strip() for block in shown if "✗" in block] == [said.strip()]


# --- the built book -------------------------------------------------------------------------------


@pytest.mark.book
def test_the_built_book_loads_nothing_from_outside():
    from coursekit.external_resources import external_resources

    html = ROOT / "book" / "_build" / "html"
    assert (html / "index.html").is_file(), "build the book first: make book"
    assert [load for load in external_resources(html) if load not in NEVER_TAKEN] == []
