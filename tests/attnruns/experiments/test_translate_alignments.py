"""Error rates of blocks and heads: their intervals, and what the record holds."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from attnruns.experiments import translate_alignments
from attnruns.shared.runner import Job

GOOD, BAD = torch.tensor([[8, 10], [9, 10], [5, 5]]), torch.tensor([[2, 10], [1, 10], [2, 5]])


def test_the_interval_holds_the_rate_of_all_sentences():
    value, low, high = translate_alignments.with_interval(GOOD)
    assert value == pytest.approx(1 - 22 / 25, abs=1e-4)
    assert 0 <= low < value < high <= 0.2


def test_a_difference_is_drawn_with_the_same_sentences_for_both():
    assert translate_alignments.with_interval(GOOD, GOOD) == [0, 0, 0]
    value, low, high = translate_alignments.with_interval(BAD, GOOD)
    assert value == pytest.approx((22 - 5) / 25, abs=1e-4)
    assert 0.55 < low < high < 0.85  # 0.6 in the first and the last sentence, 0.8 in the second


def test_the_record_has_each_block_each_head_and_each_pair_of_blocks(monkeypatch):
    blocks = torch.stack([BAD, GOOD])  # two blocks, each with heads that are like one of the two
    of_heads = torch.stack([BAD, GOOD, GOOD, GOOD])
    monkeypatch.setattr(
        translate_alignments, "alignment_counts", lambda model, data, heads=False: of_heads if heads else blocks
    )
    monkeypatch.setattr(translate_alignments, "trained", lambda name, seed: nn.Identity())
    monkeypatch.setattr(translate_alignments, "RECIPES", {"some": SimpleNamespace(data=lambda: None)})
    figures = translate_alignments.run(Job("some", 0, 1)).figures
    assert [rate for rate, _, _ in figures["blocks"]] == pytest.approx([0.8, 0.12])
    assert figures["differences"]["1 - 2"][0] == pytest.approx(0.68)
    assert [[rate for rate, _, _ in block] for block in figures["heads"]] == [[0.8, 0.12], [0.12, 0.12]]
    assert (figures["sentences"], figures["links"]) == (3, [10, 10, 5])
