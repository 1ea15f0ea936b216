"""Measuring models on a task: who knows the answer gets full marks, and who slips gets what it earns."""

import pytest

from attnbook.measure.evaluation import accuracy, accuracy_by_size, decode, groups_by_size, task_alignment_error
from attnbook.measure.metrics import exact_match
from attnruns.experiments import transformer


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


@pytest.mark.slow
def test_what_is_counted_right_is_what_the_model_writes():
    """The likeliest words after right beginnings tell what a model writes that goes on from words of its own."""
    task, model = transformer.task(), transformer.trained("base")
    for size in (8, 10):
        examples = task.longer[size][:40]
        rows = [row for part in decode(model, task, examples) for row in part.tokens.tolist()]
        written = [task.target_vocabulary.decode(row) for row in rows]
        share = exact_match(written, [list(example.target) for example in examples])
        assert 0.5 < share < 1
        assert accuracy(model, task, examples) == share


def test_accuracy_by_size_counts_each_size_by_itself(task, knowing):
    model = knowing(wrong=task.source_vocabulary.encode("a")[0])
    groups = {size: [example for example in task.test if example.size == size] for size in (2, 3, 4)} | task.longer
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


def test_sizes_come_in_their_order_and_only_the_untrained_ones_are_cut(task):
    groups = groups_by_size(task, most=2)
    assert list(groups) == [2, 3, 4, 6]
    assert [len(groups[size]) for size in (3, 6)] == [sum(example.size == 3 for example in task.test), 2]


def test_of_no_examples_there_is_no_share_and_nothing_is_written(task, knowing):
    with pytest.raises(ValueError, match="examples is empty; a share needs at least one example"):
        accuracy(knowing(), task, [])
    assert decode(knowing(), task, []) == []
