"""Lab 16: its mistakes are caught under their own names, its right answers pass, in any variant."""

from pathlib import Path

import pytest
from catalogue import ChecksOfALab
from loaded import loaded

from attnlabs import evaluate

ANSWERS = loaded(Path(__file__).with_name("adversarial.py"), "lab16_adversarial_words")


class TestLab16(ChecksOfALab):
    lab = "lab16"


def _said(exercise: str, answer: str) -> str:
    return " ".join(evaluate("lab16", exercise, getattr(ANSWERS, answer)).message.split())


@pytest.mark.parametrize(
    "exercise, answer, words",
    [
        ("spectral_norm_step", "three_steps", "by exactly one step"),
        ("spectral_norm_step", "weight_detached", "or the weight that you divide by σ is cut off"),
        ("spectral_norm_step", "length_of_the_new_v", "Your σ is |Wᵀ u| with the new u"),
        ("gated_residual", "gamma_as_a_new_parameter", "`nn.Parameter`"),
    ],
)
def test_a_message_names_what_was_done(exercise, answer, words):
    assert words in _said(exercise, answer)


def test_who_rounds_is_not_told_that_chance_depends_on_the_pairs():
    said = _said("agreement_and_chance", "chance_rounded")
    assert "`chance` is wrong" in said
    assert "Every digit that both sides have" not in said
