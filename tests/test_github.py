"""What GitHub reads: valid by its schemas, of one mind with the project, and calling only what exists."""

import json
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main
from click.testing import CliRunner, Result
from pybtex.database import parse_file

from coursekit.tasks import FIRST_PAGE

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted(path.stem for path in (GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path.name for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
VERBS = {"book", "check", "dist", "lab", "lint", "release", "setup", "test"}  # of course.py
SCHEMAS = {
    "github-workflows": [f"workflows/{name}.yml" for name in WORKFLOWS],
    "dependabot": ["dependabot.yml"],
    "github-issue-config": ["ISSUE_TEMPLATE/config.yml"],
    "github-issue-forms": [f"ISSUE_TEMPLATE/{name}" for name in FORMS],
    "citation-file-format": ["../CITATION.cff"],
}
# Tools that are part of GitHub's machines, or of every system that a step with them runs on.
ALWAYS_THERE = {"gh", "git", "grep", "sudo", "test", "touch"}


def supported() -> tuple[int, int]:
    """The oldest and the newest 3.x, from what pyproject.toml requires."""
    oldest, beyond = re.findall(r"3\.(\d+)", PROJECT["project"]["requires-python"])
    return int(oldest), int(beyond) - 1


def workflow(name: str) -> dict:
    """A workflow as YAML reads it; its `on`, which YAML takes for a truth, is at `True`."""
    return yaml.safe_load((GITHUB / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))


def steps(name: str) -> list[dict]:
    """All steps of all jobs of a workflow."""
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def programs(script: str) -> list[list[str]]:
    """The commands of a step's script, each as its words; what stands in quotes is one word."""
    pieces = re.split(r"\|\||&&|[|;\n]", re.sub(r"\$\([^)]*\)+", "", script))
    return [words for piece in pieces if (words := re.findall(r"""(?:"[^"]*"|'[^']*'|[^\s"'])+""", piece))]


def check_jsonschema(schema: str, *names: str) -> Result:
    """Hold files of .github against a schema that check-jsonschema brings along; nothing is fetched."""
    return CliRunner().invoke(main, ["--builtin-schema", schema, *(str(GITHUB / name) for name in names)])


# --- valid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_are_valid_by_their_schema(schema):
    result = check_jsonschema(f"vendor.{schema}", *SCHEMAS[schema])
    assert result.exit_code == 0, result.output


def test_the_schema_refuses_a_workflow_that_is_wrong(tmp_path):
    wrong = (GITHUB / "workflows" / "test.yml").read_text(encoding="utf-8").replace("runs-on:", "run-on:")
    (tmp_path / "wrong.yml").write_text(wrong, encoding="utf-8")
    result = check_jsonschema("vendor.github-workflows", str(tmp_path / "wrong.yml"))
    assert result.exit_code == 1
    assert "wrong.yml" in result.stdout


def test_every_job_ends_in_time():
    result = check_jsonschema("custom.github-workflows-require-timeout", *SCHEMAS["github-workflows"])
    assert result.exit_code == 0, result.output


def test_the_container_has_a_python_that_is_tested_and_sets_itself_up():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["image"].rsplit(":", 1)[1] in workflow("test")["jobs"]["test"]["strategy"]["matrix"]["python"]
    tool, file, verb = container["postCreateCommand"].split()
    assert (tool, file) == ("python", "course.py")
    assert verb in VERBS


# --- workflows ------------------------------------------------------------------------------------


def test_the_tests_run_on_the_oldest_and_the_newest_python_of_each_system():
    matrix = workflow("test")["jobs"]["test"]["strategy"]["matrix"]
    pairs = {(system, python) for system in matrix["os"] for python in matrix["python"]}
    pairs |= {(extra["os"], extra["python"]) for extra in matrix["include"]}
    systems = [f"{system}-latest" for system in ("ubuntu", "macos", "windows")]
    assert {(system, f"3.{minor}") for system in systems for minor in supported()} <= pairs


def test_on_linux_the_tests_have_bubblewrap_and_none_is_skipped_for_want_of_it():
    job = workflow("test")["jobs"]["test"]
    (step,) = (step for step in job["steps"] if "apt-get install --yes bubblewrap" in step.get("run", ""))
    assert step["if"] == "runner.os == 'Linux'"
    assert job["steps"].index(step) < next(n for n, step in enumerate(job["steps"]) if step.get("run") == ".ci/run")
    assert job["env"]["ATTNBOOK_NO_SKIPS"] == "${{ matrix.os == 'ubuntu-latest' && 'isolation' || '' }}"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_calls_only_what_exists(name):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    scripts = {point.name for point in entry_points(group="console_scripts")}
    for tool, *words in (program for step in steps(name) if "run" in step for program in programs(step["run"])):
        if tool == "make":
            assert set(words) <= targets, f"make {words}"
        elif tool == "python":
            assert words[0] == "-m" or (words[0] == "course.py" and set(words[1:]) <= VERBS), words
        elif tool.startswith(".venv/bin/"):
            assert tool.removeprefix(".venv/bin/") in scripts
        elif "/" in tool:
            assert (ROOT / tool).is_file(), tool
        else:
            assert tool in ALWAYS_THERE, tool


def test_a_script_falls_into_its_commands():
    script = "gh view \"$TAG\" || gh create\npython -m zipfile *.whl | grep 'a|b'\ntest x = \"$(python -c 'f()')\""
    assert [program[0] for program in programs(script)][:4] == ["gh", "gh", "python", "grep"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_read_only_and_its_jobs_say_what_they_need_beyond(name):
    assert workflow(name)["permissions"] == {"contents": "read"}
    needed = {job: more["permissions"] for job, more in workflow(name)["jobs"].items() if "permissions" in more}
    assert needed == {
        "pages": {"deploy": {"pages": "write", "id-token": "write"}},
        "release": {"release": {"contents": "write"}},
    }.get(name, {})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_githubs_own_at_a_version(name):
    used = [step["uses"] for step in steps(name) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"actions/[\w-]+@v\d+", action)] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_strangers_may_write_gets_into_no_script(name):
    assert [step["run"] for step in steps(name) if "${{" in step.get("run", "")] == []


def test_the_book_is_shown_from_where_it_is_built():
    upload = next(step for step in steps("pages") if step.get("uses", "").startswith("actions/upload-pages"))
    assert ROOT / upload["with"]["path"] == ROOT / FIRST_PAGE.parent


def test_the_link_check_asks_most_works_for_themselves():
    config = yaml.safe_load((ROOT / "book" / "_config.yml").read_text(encoding="utf-8"))
    ignored = config["sphinx"]["config"]["linkcheck_ignore"]
    works = parse_file(ROOT / "book" / "references.bib").entries.values()
    addresses = [entry.fields.get("url") or f"https://doi.org/{entry.fields['doi']}" for entry in works]
    assert all(any(re.match(pattern, address) for address in addresses) for pattern in ignored)
    assert sum(any(re.match(pattern, address) for pattern in ignored) for address in addresses) < len(addresses) / 5


# --- the wheel and its page -----------------------------------------------------------------------


def test_the_wheel_takes_every_record_and_every_file_of_weights():
    folders = PROJECT["tool"]["setuptools"]["data-files"]
    taken = {path for patterns in folders.values() for pattern in patterns for path in ROOT.glob(pattern)}
    assert taken == {path for path in (ROOT / "results").rglob("*") if path.is_file()}
    assert all(folder.startswith("share/paying-attention/results") for folder in folders)


def test_page_and_changelog_name_the_version():
    version = PROJECT["project"]["version"]
    page = (ROOT / "book" / "anywhere.md").read_text(encoding="utf-8")
    named = re.findall(r"paying_attention-([\d.]+)-py3|(?:labs-|download/)v([\d.]+)(?:\.zip|/)", page)
    assert {one or other for one, other in named} == {version}
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_set_up_cell_installs_and_then_says_whether_that_went_well():
    from IPython.core.inputtransformer2 import TransformerManager

    page = (ROOT / "book" / "anywhere.md").read_text(encoding="utf-8")
    cell = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    code = TransformerManager().transform_cell(cell)
    compile(code, "set-up cell", "exec")
    installs, says = code.splitlines()[-2:]
    assert "run_line_magic('pip', 'install" in installs
    assert says.strip() == "import attnbook"
