"""The command that records name runs the experiments, which are a package of their own."""

import pytest

from attnbook import experiments


def test_the_command_that_records_name_runs_the_experiments(monkeypatch):
    asked = []
    monkeypatch.setattr(experiments.runpy, "run_module", lambda name, **options: asked.append((name, options)))
    experiments.main()
    assert asked == [("attnruns.experiments", {"run_name": "__main__", "alter_sys": True})]


def test_where_the_subject_alone_is_installed_the_command_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(experiments, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="attnruns, which is not installed"):
        experiments.main()
