"""Chapter 1's file with a narrower vector: two layers are added behind the encoder, and nothing else changes."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import vector_widths
from attnruns.experiments.state_sizes import CHAPTER
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Job


def test_the_chapter_gets_one_more_line_and_four_others_change():
    changed = vector_widths.code("4_for_1500", 7, 5).splitlines()
    plain = file_of(CHAPTER, {}, 0, 700, without=("alone-answer",)).splitlines()
    (added,) = [line for line in changed if "self.narrow = " in line]
    assert added.strip() == "self.narrow = nn.Sequential(nn.Linear(hidden, 4), nn.Linear(4, hidden))"
    changed.remove(added)
    pairs = [(one, two) for one, two in zip(plain, changed, strict=True) if one != two]
    assert len(pairs) == 4
    together = " ".join(two for _, two in pairs)
    for part in ("manual_seed(7)", "draw = 5, random.Random(7)", "randint(1, 2)", "return self.narrow(states["):
        assert part in together


def test_only_k_numbers_pass():
    names, _ = run_file(vector_widths.code("2_for_1500", 0, 2))
    source, lengths, _ = names["batch_of"]([[n] for n in range(40)])
    with torch.no_grad():
        c = names["encoder"](source, lengths)  # (B, D)
    assert c.shape == (40, 64)
    assert torch.linalg.matrix_rank(c - c.mean(dim=0), atol=1e-4) == 2


def test_a_short_training_gives_shares_and_a_loss(tmp_path):
    figures = checked_run(vector_widths, Job("8_for_1500", 1, 2), tmp_path, "cpu")
    assert set(figures["exact_match"]) == {"1", "2"}
    assert figures["loss"] > 1


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="there is: 2_for_1500"):
        vector_widths.code("nothing", 1, 2)
