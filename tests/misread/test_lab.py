"""A lab as a notebook sees it."""

import pickle

import pytest
from IPython.core.interactiveshell import InteractiveShell

import attnlabs as checks
from attnlabs import CheckFailed, NotWrittenYet, UnknownCheck, catalogue, evaluate
from attnlabs.lab01 import check
from misread.lab import Lab


def right(target, bos):
    shifted = target.roll(1, dims=1)
    shifted[:, 0] = bos
    return shifted


def wrong(target, bos):
    return target


def test_a_right_answer_prints_one_line(capsys):
    check.shift_right(right)
    check.shift_right(right, variant=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("✓ shift_right") for line in lines)


def test_a_wrong_answer_raises_an_assertion_error_with_the_misunderstanding():
    with pytest.raises(AssertionError, match="not shifted") as caught:
        check.shift_right(wrong)
    assert isinstance(caught.value, CheckFailed)
    assert str(caught.value) == evaluate("lab01", "shift_right", wrong).message
    assert caught.value.__suppress_context__


def test_an_unwritten_exercise_raises_its_own_error():
    def shift_right(target, bos):
        raise NotImplementedError

    with pytest.raises(NotWrittenYet, match="`shift_right`"):
        check.shift_right(shift_right)


def test_a_notebook_shows_the_message_and_no_traceback(capsys):
    shell = InteractiveShell.instance()
    shell.run_cell("from attnlabs.lab01 import check\ncheck.shift_right(lambda target, bos: target)")
    shown = "".join(capsys.readouterr())
    assert "✗ shift_right: not shifted" in shown
    assert "expected" in shown
    assert "Traceback" not in shown
    assert "lab.py" not in shown
    shell.clear_instance()


def test_a_lab_lists_its_exercises_in_their_order():
    lab = Lab("lab01", checks.checks_of("lab01").exercises().values())
    assert "shift_right" in dir(lab)
    names = ["shift_right", "sequence_loss", "last_states", "greedy_decode", "exact_match_by_length"]
    assert list(lab.exercises()) == names
    assert repr(lab) == f"<checks of lab01: {', '.join(names)}>"
    assert repr(lab.shift_right) == "<check of shift_right(target, bos) in lab01>"


def test_an_unknown_exercise_gets_near_names():
    with pytest.raises(AttributeError, match="Did you mean shift_right"):
        check.shift_rigth  # noqa: B018
    with pytest.raises(UnknownCheck, match=r"lab01 called 'beam_search'.*There are: shift_right"):
        evaluate("lab01", "beam_search", right)
    assert not hasattr(check, "_repr_html_")


def test_an_unknown_lab_gets_near_names():
    with pytest.raises(KeyError, match=r"no lab 'lab1'\. Did you mean"):
        evaluate("lab1", "shift_right", right)
    with pytest.raises(ImportError):
        from attnlabs import lab99  # noqa: F401


def test_a_verdict_can_be_kept():
    verdict = evaluate("lab01", "shift_right", wrong, variant=1)
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert (verdict.passed, verdict.mistake) == (False, "not shifted")


def test_a_verdict_depends_on_the_variant_alone():
    first, again, other = (evaluate("lab01", "shift_right", wrong, variant).message for variant in (3, 3, 4))
    assert first == again
    assert first != other


def test_the_catalogue_lists_code_that_runs():
    listed = catalogue()["lab01"]["shift_right"]
    assert listed.parameters == ("target", "bos")
    assert "starts with bos" in listed.properties
    assert "forgot return" in listed.general
    for known in listed.mistakes:
        assert known.code.startswith("def shift_right(target, bos):")
        assert callable(known.function)
