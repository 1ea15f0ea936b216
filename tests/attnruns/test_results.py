"""Results of the longer runs: found where they lie, refused where they are broken, and never without their origin."""

import json
import sysconfig

import pytest

from attnruns import results as results_module
from attnruns.results import load_result, provenance, result_folders

RESULT = {
    "name": "numbers",
    "command": "python -m attnbook.experiments numbers",
    "commit": "0123456789" * 4 + "-dirty",
    "started": "2026-01-01 12:00 UTC",
    "device": "cpu",
    "threads": 1,
    "versions": {"python": "3.11.9", "torch": "2.13.0", "numpy": "2.4.6"},
    "seeds": [0, 1, 2],
    "settings": {},
    "seconds": 372.4,
    "runs": [],
}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A book in ``tmp_path`` with one result; the working folder is its chapters/."""
    (tmp_path / "results").mkdir()
    (tmp_path / "chapters").mkdir()
    (tmp_path / "results" / "numbers.json").write_text(json.dumps(RESULT))
    monkeypatch.delenv("ATTNBOOK_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path / "chapters")
    return tmp_path / "results"


def test_a_result_is_found_from_a_folder_of_the_book(results):
    assert load_result("numbers") == RESULT


def test_the_variable_says_where_results_lie(results, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.json").write_text(json.dumps({**RESULT, "name": "mine"}))
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path / "elsewhere"))
    assert load_result("mine")["name"] == "mine"
    with pytest.raises(ValueError, match="no result 'numbers'"):
        load_result("numbers")


def test_a_missing_result_says_how_to_get_it_and_what_is_there(results):
    with pytest.raises(ValueError, match=r"no result 'number'; did you mean 'numbers'\?"):
        load_result("number")
    with pytest.raises(ValueError, match=r"there is: .*numbers.*`python -m attnbook.experiments zebra`"):
        load_result("zebra")


@pytest.fixture
def wheel(results, tmp_path, monkeypatch):
    """As after installing the wheel: no book anywhere above, the results among the environment's shared files."""
    installed = tmp_path / "environment" / "share" / "paying-attention" / "results"
    installed.parent.mkdir(parents=True)
    results.rename(installed)
    (tmp_path / "site" / "attnruns").mkdir(parents=True)
    monkeypatch.setattr(results_module, "__file__", str(tmp_path / "site" / "attnruns" / "results.py"))
    monkeypatch.setattr(sysconfig, "get_path", {"data": str(tmp_path / "environment")}.get)
    return installed


def test_without_a_book_the_results_that_the_wheel_brought_are_read(wheel):
    assert result_folders() == [wheel]
    assert load_result("numbers") == RESULT


def test_results_of_the_book_come_before_those_of_the_wheel(wheel, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "numbers.json").write_text(json.dumps({**RESULT, "seconds": 1}), encoding="utf-8")
    assert load_result("numbers")["seconds"] == 1
    (tmp_path / "results" / "numbers.json").unlink()  # a folder of this name that holds something else
    assert load_result("numbers") == RESULT


def test_what_pip_puts_above_the_package_is_found_too(wheel, tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", {"data": str(tmp_path / "elsewhere")}.get)
    monkeypatch.setattr(results_module, "__file__", str(wheel.parents[2] / "attnruns" / "results.py"))
    assert load_result("numbers") == RESULT


@pytest.mark.parametrize("wrong", ["../secret", "a/b", "numbers.json", ""])
def test_a_result_has_a_plain_name(results, wrong):
    with pytest.raises(ValueError, match="name must be made of letters"):
        load_result(wrong)


def test_a_variable_that_names_no_folder_is_refused(results, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_RESULTS", "nowhere-at-all")
    with pytest.raises(ValueError, match="ATTNBOOK_RESULTS is 'nowhere-at-all', which is no folder"):
        load_result("numbers")


@pytest.mark.parametrize("content, said", [('{"runs": [', "is damaged"), ("[]", "is no result"), ("{}", "no 'runs'")])
def test_a_broken_result_is_named(results, content, said):
    (results / "numbers.json").write_text(content)
    with pytest.raises(ValueError, match=rf"results/numbers.json.*{said}.*measure again"):
        load_result("numbers")


def test_provenance_is_one_line_with_everything():
    assert provenance(RESULT) == (
        "python -m attnbook.experiments numbers · commit 0123456-dirty · seeds 0, 1, 2 · cpu, 1 thread · "
        "python 3.11.9, torch 2.13.0, numpy 2.4.6 · 6 min 12 s"
    )
    assert "cpu, 2 threads" in provenance({**RESULT, "threads": 2})
    assert provenance({**RESULT, "seconds": 41.7}).endswith("numpy 2.4.6 · 42 s")


def test_a_result_without_origin_is_refused():
    with pytest.raises(ValueError, match="result lacks commit, seeds"):
        provenance({key: value for key, value in RESULT.items() if key not in ("commit", "seeds")})
