"""Training as the experiments do it: what it leaves, and what it depends on."""

import pytest
import torch

from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnruns.shared.runner import Job
from attnruns.shared.seq2seq import TRAINING, chunk_means, train_and_measure


@pytest.mark.parametrize("kind", [PlainSeq2Seq, AttentionSeq2Seq])
def test_a_training_leaves_its_figures(task, kind):
    torch.manual_seed(0)
    model = kind(len(task.source_vocabulary), len(task.target_vocabulary), embedding=4, hidden=6)
    figures = train_and_measure(model, task, Job("any", 0, 60), training={**TRAINING, "batch": 8})
    assert figures["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert figures["seconds"] >= 0
    assert len(figures["losses"]) == 2  # one of the first 50 steps, one of the other 10
    assert 0 < figures["loss"] < figures["losses"][0] * 1.1
    assert list(figures["exact_match"]) == ["2", "3", "4", "6"]
    assert all(0 <= part <= 1 for part in figures["exact_match"].values())
    assert ("alignment_error_rate" in figures) == (kind is AttentionSeq2Seq)
    assert not model.training


def test_a_training_depends_on_its_seed_alone(task):
    def losses(seed):
        torch.manual_seed(0)
        model = PlainSeq2Seq(len(task.source_vocabulary), len(task.target_vocabulary), embedding=4, hidden=6)
        return train_and_measure(model, task, Job("any", seed, 4), training={**TRAINING, "batch": 8})["losses"]

    assert losses(0) == losses(0)
    assert losses(0) != losses(1)


def test_the_means_of_chunks_are_rounded_and_the_last_may_be_shorter():
    assert chunk_means([1.0, 2.0, 3.0, 4.0, 0.12345], 2, digits=3) == [1.5, 3.5, 0.123]
