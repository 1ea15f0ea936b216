"""Perplexity and bits per character by their definitions, and what counts as repeated."""

import math

import pytest
import torch
from torch import nn

from attnbook.data.batching import Example, Task
from attnbook.data.texts.byte_pairs import BytePairs
from attnbook.data.texts.vocabulary import EOS, PAD
from attnbook.measure.text import (
    TextLoss,
    device_of,
    distinct,
    log_probabilities,
    perplexity,
    prefers_right,
    repetition,
    text_loss,
)
from attnbook.models import KneserNey, LanguageModel

PIECES = BytePairs("▁ab", [("▁", "a"), ("▁", "b")])
ROWS = [("▁a", "▁b"), ("▁b",), ("▁a", "▁a", "▁b")]


@pytest.fixture(scope="module")
def task():
    examples = [Example(row, row, size=len(PIECES.decode(row))) for row in ROWS]
    vocabulary = PIECES.vocabulary()
    return Task("small", examples, examples, examples, {}, vocabulary, vocabulary)


class Uniform(nn.Module):
    """Every word of V is as likely."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, words):
        return torch.zeros(*words.shape, self.size), None


def test_who_knows_nothing_has_the_vocabulary_as_perplexity(task):
    size = len(task.target_vocabulary)
    loss = text_loss(Uniform(size), task, task.test)
    assert loss.perplexity == pytest.approx(size)
    assert (loss.words, loss.characters) == (3 + 2 + 4, 4 + 2 + 6)
    assert loss.bits_per_character == pytest.approx(9 * math.log2(size) / 12)
    assert perplexity(torch.zeros(2, 3, size), torch.ones(2, 3, dtype=torch.long)) == pytest.approx(size)


def test_a_batch_at_a_time_costs_what_the_sentences_cost_one_by_one(task):
    model = LanguageModel(len(task.target_vocabulary)).eval()
    whole, single = (text_loss(model, task, task.test, batch_size) for batch_size in (100, 1))
    alone = [text_loss(model, task, [example]) for example in task.test]
    assert whole.nats == pytest.approx(single.nats, rel=1e-5)
    assert whole.nats == pytest.approx(sum(loss.nats for loss in alone), rel=1e-5)
    rows = [[*task.target_vocabulary.encode(row), EOS] for row in ROWS]
    assert whole.nats == pytest.approx(-log_probabilities(model, rows).sum().item(), rel=1e-5)


def test_padding_costs_nothing():
    logits, target = torch.randn(2, 3, 5), torch.tensor([[1, 2, 3], [4, PAD, PAD]])
    kept = -logits.log_softmax(dim=-1)
    wanted = (kept[0, 0, 1] + kept[0, 1, 2] + kept[0, 2, 3] + kept[1, 0, 4]) / 4
    assert perplexity(logits, target) == pytest.approx(wanted.exp().item(), rel=1e-5)


def test_bits_per_character_do_not_depend_on_the_pieces():
    assert TextLoss(10, 5, 20).bits_per_character == TextLoss(10, 8, 20).bits_per_character
    assert TextLoss(20 * math.log(2), 5, 20).bits_per_character == pytest.approx(1)


def test_a_model_that_counts_prefers_what_it_has_counted(task):
    model = KneserNey([task.target_vocabulary.encode(row) for row in ROWS[:1] * 5], len(task.target_vocabulary))
    assert prefers_right(model, task, PIECES, [("a", "b", "a"), ("a", "a", "b")]) == [True, False]
    assert device_of(model) == torch.device("cpu")
    with pytest.raises(TypeError, match=r"questions must hold triples \(beginning, right, wrong\), got the text 'abc'"):
        prefers_right(model, task, PIECES, ("abc", "bca", "cab"))  # one question, not in a list


def test_repeated_runs_are_counted_in_a_text_and_distinct_ones_over_all():
    texts = [list("abab"), list("abc"), list("a")]  # ab ba ab, ab bc, none
    assert repetition(texts, 2) == pytest.approx((1 / 3 + 0) / 2)
    assert distinct(texts, 2) == pytest.approx(3 / 5)
    assert repetition(texts, 1) == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert distinct(texts, 1) == pytest.approx(3 / 8)


@pytest.mark.parametrize("measure", [repetition, distinct])
def test_runs_that_are_not_there_are_refused(measure):
    with pytest.raises(ValueError, match="n is the number of words in a run, at least 1; got 0"):
        measure([["a"]], 0)
    with pytest.raises(ValueError, match="no text of 2 words or more"):
        measure([["a"]], 2)


def test_empty_lists_are_refused(task):
    with pytest.raises(ValueError, match="examples is empty"):
        text_loss(Uniform(9), task, [])
    with pytest.raises(ValueError, match="rows must hold at least one row"):
        log_probabilities(Uniform(9), [[3], []])


def test_no_text_has_no_loss_per_word_or_character():
    with pytest.raises(ValueError, match="words is 0; a perplexity needs at least one word"):
        _ = TextLoss(0.0, 0, 0).perplexity
    with pytest.raises(ValueError, match="characters is 0; bits per character need a text with at least one"):
        _ = TextLoss(0.0, 0, 0).bits_per_character


def test_a_perplexity_too_large_for_a_float_is_infinite():
    assert TextLoss(800.0, 1, 5).perplexity == math.inf
    assert TextLoss(700.0, 1, 5).perplexity == math.exp(700)
    assert perplexity(torch.tensor([[[0.0, 800.0]]]), torch.tensor([[0]]), pad=-1) == math.inf
