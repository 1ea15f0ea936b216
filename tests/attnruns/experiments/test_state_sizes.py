"""Chapter 1's file with smaller states: what is replaced is there, and what the trained file translates is counted."""

import pytest
from experiment_runs import checked_run

from attnruns.experiments import state_sizes
from attnruns.shared.runner import Job


def test_the_chapter_has_what_is_replaced_and_nothing_else_changes():
    changed = state_sizes.code("8_for_2000", 7, 5)
    plain = state_sizes.file_of(state_sizes.CHAPTER, {}, 0, 700, without=("alone-answer",))
    pairs = [(one, two) for one, two in zip(plain.splitlines(), changed.splitlines(), strict=True) if one != two]
    assert len(pairs) == 4
    together = " ".join(two for _, two in pairs)
    for part in ("manual_seed(7)", "draw = 5, random.Random(7)", "randint(1, 2)", "hidden=8"):
        assert part in together
    assert "hidden=64" not in together


def test_shares_of_a_translator_that_knows_single_numbers_only():
    names = {"random_list": lambda draw, length: [draw.randrange(1000) for _ in range(length)], "german": str,
             "translate": lambda lists: [str(numbers[0]) for numbers in lists]}  # fmt: skip
    assert state_sizes.exact_matches(names) == {"1": 1, "2": 0}


def test_a_short_training_gives_shares_and_a_loss(tmp_path):
    figures = checked_run(state_sizes, Job("8_for_500", 1, 2), tmp_path, "cpu")
    assert set(figures["exact_match"]) == {"1", "2"}
    assert figures["loss"] > 1


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="there is: 8_for_500"):
        state_sizes.code("nothing", 1, 2)
