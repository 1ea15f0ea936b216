"""What a lesson leans on: source that is shown, and sentences that stop when they are no longer true."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from attnbook.measure.metrics import exact_match
from attnpages import ClaimError, claim, show_source


def test_the_source_shown_is_the_source_that_runs(capsys):
    show_source(exact_match)
    shown = capsys.readouterr().out
    assert shown.startswith("# attnbook/measure/metrics.py\ndef exact_match(")
    assert "return sum(hits) / len(hits)" in shown
    assert "Raises:" in shown


def test_the_docstring_can_be_left_out(capsys):
    show_source(exact_match, docstring=False)
    shown = capsys.readouterr().out
    assert "Raises:" not in shown
    assert "return sum(hits) / len(hits)" in shown


def test_a_true_claim_prints_its_sentence_and_figures(capsys):
    claim("attention wins", True, attention=0.98765, plain_model=torch.tensor(0.25), steps=1500, big=123456.7)
    shown = "attention = 0.988, plain model = 0.25, steps = 1500, big = 123,457"
    assert capsys.readouterr().out == f"✓ claim: attention wins ({shown})\n"


def test_figures_may_be_lists_and_tables(capsys):
    claim("holds", True, seeds=[0.5, 1.0], table={6: np.float64(0.125)}, name="GRU")
    assert capsys.readouterr().out == "✓ claim: holds (seeds = [0.5, 1], table = {6: 0.125}, name = GRU)\n"


def test_a_claim_needs_no_figures(capsys):
    for true in (torch.tensor(True), np.bool_(True)):
        claim("rows sum to one", true)
    assert capsys.readouterr().out == "✓ claim: rows sum to one\n" * 2


def test_a_false_claim_stops_with_sentence_and_figures(capsys):
    with pytest.raises(ClaimError, match=r"claim no longer true: attention wins \(by = 0.01\)"):
        claim("attention wins", torch.tensor(False), by=0.01)
    assert capsys.readouterr().out == ""
    assert issubclass(ClaimError, AssertionError)


@pytest.mark.parametrize("wrong", [0.97, 1, "yes", None, torch.tensor(0.97)])
def test_a_bare_number_is_no_condition(wrong):
    with pytest.raises(TypeError, match=r"condition must be True or False, got .*write the relation"):
        claim("accuracy is high", wrong)


def test_many_truths_are_no_condition():
    with pytest.raises(TypeError, match=r"condition has shape \(2,\); say which you mean"):
        claim("all rows sum to one", torch.tensor([True, False]))


@pytest.mark.slow
def test_lessons_checks_and_experiments_are_there_without_any_tool_of_notebooks():
    code = """if True:
        import sys
        import attnpages.teaching, attnlabs, attnruns.experiments.__main__, attnpages.figures
        print(*sorted({"IPython", "ipywidgets", "ipykernel", "traitlets", "pygments"} & sys.modules.keys()))
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert found.stdout.strip() == ""
