"""Measuring sequence models: who knows the answer gets full marks, and who slips gets what it earns."""

import pytest
import torch

from attnbook.experiments.runner import Job
from attnbook.experiments.seq2seq import (
    TRAINING,
    accuracy,
    accuracy_by_size,
    chunk_means,
    decode,
    task_alignment_error,
    train_and_measure,
)
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq


def test_who_knows_the_answer_is_right_at_every_size(task, knowing, device):
    model = knowing().to(device)
    assert accuracy_by_size(model, task) == {"2": 1.0, "3": 1.0, "4": 1.0, "6": 1.0}
    assert task_alignment_error(model, task, task.test) == 0


def test_a_slip_costs_each_sentence_it_is_in(task, knowing):
    model = knowing(wrong=task.source_vocabulary.encode("a")[0])
    spared = [example for example in task.test if "a" not in example.source]
    assert 0 < len(spared) < len(task.test)
    assert accuracy(model, task, task.test) == pytest.approx(len(spared) / len(task.test))
    assert accuracy(model, task, spared) == 1


def test_accuracy_by_size_counts_each_size_by_itself(task, knowing):
    model = knowing(wrong=task.source_vocabulary.encode("a")[0])
    groups = {
        size: [example for example in task.test if example.size == size] for size in (2, 3, 4)
    } | task.longer
    wanted = {str(size): round(accuracy(model, task, group), 4) for size, group in groups.items()}
    assert accuracy_by_size(model, task) == wanted


def test_decoding_in_small_batches_changes_nothing(task, knowing):
    model = knowing()
    whole, parts = decode(model, task, task.test), decode(model, task, task.test, batch_size=4)
    assert len(whole) == 1
    assert [len(part.tokens) for part in parts] == [4, 4, 3]
    words = [task.target_vocabulary.decode(row) for part in parts for row in part.tokens.tolist()]
    assert words == [task.target_vocabulary.decode(row) for row in whole[0].tokens.tolist()]


def test_looking_elsewhere_costs_alignment(task, knowing):
    class LooksAtTheFirst(knowing):
        def step(self, token, state):
            logits, state, weights = super().step(token, state)
            return logits, state, weights.roll(1, dims=1)

    assert task_alignment_error(LooksAtTheFirst(), task, task.test) > 0.5


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
