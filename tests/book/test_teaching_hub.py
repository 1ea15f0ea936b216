"""The page on JupyterHub: its two configuration files set what it says, and a lab goes through the exchange."""

from pathlib import Path

import pytest
from nbgrader_forks import nbgrader


@pytest.fixture(scope="module")
def page(root):
    return (root / "book/teaching/jupyterhub.md").read_text(encoding="utf-8")


class Anything:
    """What a configuration file writes into: it remembers each setting by its full name."""

    def __init__(self) -> None:
        object.__setattr__(self, "settings", {})

    def __getattr__(self, section):
        settings = self.settings

        class Section:
            def __setattr__(self, name, value):
                settings[f"{section}.{name}"] = value

        return Section()


def settings_of(path: Path) -> dict:
    found = Anything()
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), {"get_config": lambda: found})
    return found.settings


def test_the_hub_s_configuration_sets_what_the_page_says(root, page):
    settings = settings_of(root / "book/teaching/jupyterhub_config.py")
    assert settings["Spawner.environment"] == {"OMP_NUM_THREADS": "1"}
    assert settings["Spawner.default_url"] == "/lab"
    assert settings["Spawner.cmd"] == ["/opt/paying-attention/.venv/bin/jupyterhub-singleuser"]
    assert settings["JupyterHub.authenticator_class"] == "pam"
    assert "sudo git clone ADDRESS-OF-THE-PROJECT /opt/paying-attention" in page


def test_nbgrader_s_configuration_is_that_of_the_course(root, page):
    from coursekit.term import SETTINGS

    settings = settings_of(root / "book/teaching/nbgrader_config.py")
    assert f'course_id = "{settings["CourseDirectory.course_id"]}"' in SETTINGS
    assert f"sudo mkdir -p {settings['Exchange.root']}" in page
    assert f"--course {settings['CourseDirectory.course_id']}" in page


@pytest.mark.slow
def test_a_lab_goes_through_the_exchange_and_comes_back(root, tmp_path):
    """Released, fetched, submitted and collected by one account, with the page's own settings."""
    from coursekit.project import Project
    from coursekit.term import make_term

    course, student, exchange, config = (tmp_path / name for name in ("autumn", "student", "exchange", "config"))
    for folder in (student, exchange, config):
        folder.mkdir()
    exchange.chmod(0o777)
    shared = (root / "book/teaching/nbgrader_config.py").read_text(encoding="utf-8")
    moved = shared.replace('"/srv/nbgrader/exchange"', repr(str(exchange)))
    (config / "nbgrader_config.py").write_text(moved, encoding="utf-8")
    make_term(course, Project(root).choose_labs(["lab02"]))
    settings = {"JUPYTER_CONFIG_PATH": str(config), "HOME": str(tmp_path)}
    nbgrader(course, "generate_assignment", "lab02_bahdanau", **settings)
    nbgrader(course, "release_assignment", "lab02_bahdanau", **settings)
    nbgrader(student, "fetch_assignment", "lab02_bahdanau", "--course", "paying_attention", **settings)
    nbgrader(student, "submit", "lab02_bahdanau", "--course", "paying_attention", **settings)
    nbgrader(course, "collect", "lab02_bahdanau", **settings)
    (submitted,) = course.glob("submitted/*/lab02_bahdanau")
    assert {path.name for path in submitted.iterdir()} >= {"lab02_bahdanau.ipynb", "timestamp.txt"}
    fetched = (student / "lab02_bahdanau/lab02_bahdanau.ipynb").read_bytes()
    assert (submitted / "lab02_bahdanau.ipynb").read_bytes() == fetched
    assert b"HIDDEN TESTS" not in fetched
