"""What is measured of a translator: in the order of the sentences, whatever shares a batch."""

import pytest
import torch
from torch import nn

from attnbook.data.algorithmic import reversed_strings
from attnbook.data.byte_pairs import BytePairs
from attnbook.data.translation import TranslationTask
from attnbook.decoding import select
from attnbook.experiments.shared import translation
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.training import teacher_forcing_loss
from attnbook.translation_metrics import bleu_from_counts


class Spaced(BytePairs):
    """Pieces that are words: joined with spaces, so that BLEU has something to count."""

    def decode(self, pieces):
        return " ".join(pieces)


@pytest.fixture
def data(monkeypatch) -> TranslationTask:
    """Strings of 3 to 6 letters to be reversed, each letter a word; three sentences share a batch."""
    monkeypatch.setattr(translation, "ROWS", 3)
    task = reversed_strings("abcd", 3, 6, train=60, validation=7, test_per_size=4, longer=())
    pieces = Spaced("abcd", [])

    def references(examples):
        return [pieces.decode(example.target) for example in examples]

    tests = {"first": task.test, "second": task.test[::-1]}
    named = {"validation": task.validation, **tests}
    return TranslationTask(task, pieces, pieces, tests, {name: references(part) for name, part in named.items()})


@pytest.fixture
def sure(knowing):
    """The class of models that know the answer, and have no doubt that a beam could make use of."""

    class Sure(knowing):
        def step(self, token, state):
            logits, state, weights = super().step(token, state)
            return 50 * logits, state, weights

        select = staticmethod(select)

    return Sure


@pytest.fixture
def sizes(data) -> tuple[int, int]:
    return len(data.task.source_vocabulary), len(data.task.target_vocabulary)


@pytest.mark.parametrize("width", [1, 3])
def test_translations_come_in_the_order_of_the_sentences(data, sure, width):
    shuffled = [data.task.test[i] for i in (9, 0, 14, 3, 7, 11, 5)]
    wanted = [data.target_pieces.decode(example.target) for example in shuffled]
    assert translation.write(sure(), data, shuffled, width) == wanted


def test_the_loss_is_the_mean_over_all_pieces_whatever_shares_a_batch(data, sizes, monkeypatch):
    model = PlainSeq2Seq(*sizes, embedding=4, hidden=6).double().eval()
    examples = data.task.validation
    alone = [teacher_forcing_loss(model, data.task.collate([one])).item() for one in examples]
    pieces = [len(example.target) + 1 for example in examples]
    wanted = sum(loss * count for loss, count in zip(alone, pieces, strict=True)) / sum(pieces)
    assert translation.target_loss(model, data.task, examples) == pytest.approx(wanted)
    monkeypatch.setattr(translation, "ROWS", 100)
    assert translation.target_loss(model, data.task, examples) == pytest.approx(wanted)


def test_a_translator_that_makes_no_mistake_scores_100(data, sure):
    measured = translation.scored(sure(), data)
    assert list(measured["scores"]) == ["validation", "first", "second"]
    assert [list(scores) for scores in measured["scores"].values()] == [["greedy", "beam"]] * 3
    for scores in (one for part in measured["scores"].values() for one in part.values()):
        assert scores["bleu"] == scores["bleu_lower"] == scores["chrf"] == 100
    assert translation.validation_bleu(sure(), data) == 100
    assert measured["source_words"] == [example.size for example in data.task.test]


def test_the_counts_are_those_of_the_beam_on_the_first_test(data, sure):
    slipping = sure(wrong=data.task.target_vocabulary.encode(["a"])[0])
    measured = translation.scored(slipping, data)
    rows = torch.tensor([[int(word) for word in row.split()] for row in measured["bleu_counts"]])
    assert rows.shape == (len(data.task.test), 10)
    assert 0 < measured["scores"]["first"]["beam"]["bleu"] < 100
    assert bleu_from_counts(rows).item() == pytest.approx(measured["scores"]["first"]["beam"]["bleu"], abs=0.006)


def test_samples_show_source_reference_and_translation(data, sure):
    samples = translation.sample_translations(sure(), data, 4)
    assert len(samples) == 4
    for sample, example in zip(samples, data.task.test, strict=False):
        assert sample["source"] == data.source_pieces.decode(example.source)
        assert sample["reference"] == sample["translation"] == data.target_pieces.decode(example.target)


def test_alignments_have_a_row_of_weights_for_each_piece_of_the_translation(data, sure):
    found = translation.alignments(sure(), data, 3)
    assert len(found) == 3
    for one, example in zip(found, data.task.test, strict=False):
        assert (one["source"], one["target"]) == (list(example.source), list(example.target))
        reading = [row.index(1.0) for row in one["weights"]]
        assert reading == list(reversed(range(len(example.source))))


def test_only_a_model_with_attention_has_alignments(data, sizes):
    assert translation.alignments(PlainSeq2Seq(*sizes, embedding=4, hidden=6), data, 2) == []
    [one] = translation.alignments(AttentionSeq2Seq(*sizes, embedding=4, hidden=6), data, 1)
    for row in one["weights"]:
        assert sum(row) == pytest.approx(1, abs=0.005 * len(row))


def test_measuring_needs_no_gradients(data, sizes):
    model: nn.Module = PlainSeq2Seq(*sizes, embedding=4, hidden=6)
    assert isinstance(translation.target_loss(model, data.task, data.task.validation), float)
    assert all(parameter.grad is None for parameter in model.parameters())
