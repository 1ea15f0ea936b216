"""BPE-dropout: each cut is as probable as the paper's algorithm makes it, and a pure function of seed and epoch."""

import random
from collections import Counter
from itertools import pairwise

import pytest
import torch

from attnbook.data.texts.bpe_dropout import CutAnew, PieceDropout, possible_merges, words_of
from attnbook.data.texts.byte_pairs import UNKNOWN, BytePairs, merge_ranks, split_text, split_word
from attnbook.data.texts.translation import TokenBatches, own_translation_task

ABC = BytePairs("abc", [("a", "b"), ("ab", "c")])
ANAN = BytePairs("an", [("a", "n"), ("an", "an")])


@pytest.fixture(scope="module")
def own():
    return own_translation_task()


def drawn(pieces: BytePairs, word: str, dropout: float, times: int = 4000) -> dict[str, float]:
    """How often a word comes out in each way."""
    side, chance = PieceDropout(pieces, dropout), random.Random(0).random
    counts = Counter(" ".join(side.cut(tuple(word), chance)) for _ in range(times))
    return {cut: count / times for cut, count in counts.items()}


# ---- a word


def test_possible_merges_come_in_the_order_in_which_they_were_learnt():
    ranks = merge_ranks([("n", "a"), ("a", "n"), ("b", "a")])
    assert possible_merges(("b", "a", "n", "a"), ranks) == (("b", "a", "na"), ("b", "an", "a"), ("ba", "n", "a"))
    assert possible_merges(("b",), ranks) == possible_merges((), ranks) == ()


def test_the_chances_of_a_short_word_by_hand():
    found = drawn(ABC, "abc", 0.3)
    # a and b are merged with probability 0.7, and then ab and c with the same
    assert found == pytest.approx({"abc": 0.49, "ab c": 0.21, "a b c": 0.3}, abs=0.03)


def test_the_same_pair_may_be_dropped_at_one_position_and_merged_at_another():
    found = drawn(ANAN, "anan", 0.5)
    # Both are dropped: 1/4. Else one is merged, the first with 1/2, and the other is drawn anew.
    wanted = {"a n a n": 1 / 4, "an a n": 1 / 4, "a n an": 1 / 8, "anan": 3 / 16, "an an": 3 / 16}
    assert found == pytest.approx(wanted, abs=0.03)


def slow(word: str, ranks: dict, dropout: float, chance) -> str:
    """The paper's algorithm 1 in its own order: remove merges by chance, do the best of the rest, one at a time."""
    symbols = list(word)
    while True:
        left = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks and chance() >= dropout]
        if not left:
            return " ".join(symbols)
        i = min(left)[1]
        symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


@pytest.mark.parametrize("dropout", [0.1, 0.5])
def test_long_words_are_cut_as_the_papers_algorithm_cuts_them(own, dropout):
    word, pieces = "▁Straße", own.source_pieces
    ranks, chance = merge_ranks(pieces.merges), random.Random(1).random
    counts = Counter(slow(word, ranks, dropout, chance) for _ in range(4000))
    found = drawn(pieces, word, dropout)
    assert len(found) > 5
    for cut in counts.keys() | found.keys():
        assert found.get(cut, 0) == pytest.approx(counts[cut] / 4000, abs=0.035), cut


def test_without_dropout_words_are_cut_as_ever_and_with_all_of_it_into_letters(own):
    texts = [own.source_pieces.decode(example.source) for example in own.task.train]
    words = {word for text in texts for word in split_text(text)}
    ranks = merge_ranks(own.source_pieces.merges)
    never, always = (PieceDropout(own.source_pieces, dropout) for dropout in (0.0, 1.0))
    for word in words:
        assert list(never.cut(tuple(word), random.random)) == list(split_word(word, ranks))
        assert always.cut(tuple(word), random.random) == tuple(word)


@pytest.mark.parametrize("dropout", [-0.1, 1.1, float("nan")])
def test_a_dropout_that_is_no_probability_is_refused(dropout):
    with pytest.raises(ValueError, match=f"dropout is a probability, from 0 to 1; got {dropout}"):
        PieceDropout(ABC, dropout)


def test_the_words_of_a_sentence_come_from_its_pieces():
    assert words_of(("▁", "ab", "c", ",", "▁a"), BytePairs("▁abc", [])) == [
        ("▁", "a", "b", "c"), (UNKNOWN,), ("▁", "a"),
    ]  # fmt: skip


# ---- a corpus


def cuts(task) -> list[tuple]:
    return [(example.source, example.target) for example in task.train]


def test_a_cut_depends_on_seed_and_epoch_alone(own):
    anew = CutAnew(own, 0.1)
    first = cuts(anew(1, 3))
    others = [cuts(anew(*which)) for which in ((1, 4), (2, 3))]
    assert cuts(CutAnew(own, 0.1)(1, 3)) == cuts(anew(1, 3)) == first
    assert first not in others
    assert others[0] != others[1]


def test_other_pieces_are_the_same_text_and_the_rest_of_the_task_is_as_it_was(own):
    anew = CutAnew(own, 0.3)(0, 0)
    changed = 0
    for example, before in zip(anew.train, own.task.train, strict=True):
        assert own.source_pieces.decode(example.source) == own.source_pieces.decode(before.source)
        assert own.target_pieces.decode(example.target) == own.target_pieces.decode(before.target)
        assert example.size == before.size
        changed += example != before
    assert changed > len(anew.train) / 2
    for name in ("validation", "test", "source_vocabulary", "target_vocabulary"):
        assert getattr(anew, name) is getattr(own.task, name)
    assert cuts(CutAnew(own, 0.0)(0, 0)) == cuts(own.task)


def test_both_sides_are_cut_anew(own):
    anew = CutAnew(own, 0.3)(0, 0)
    for side in ("source", "target"):
        lengths = [sum(len(getattr(example, side)) for example in task.train) for task in (own.task, anew)]
        assert lengths[1] > 1.1 * lengths[0]


# ---- batches


def texts(own, batches: TokenBatches, steps: range) -> Counter:
    """The sentences of these steps' targets."""
    words = own.task.target_vocabulary
    rows = [row for step in steps for row in batches.batch_at(step, 512, seed=1).target]
    return Counter(own.target_pieces.decode(words.decode(row)) for row in rows)


def test_each_epoch_shows_each_pair_once_and_cut_anew(own):
    plain, anew = TokenBatches(own.task), TokenBatches(own.task, CutAnew(own, 0.2))
    epoch = plain.steps_per_epoch(512)
    assert anew.steps_per_epoch(512) == epoch
    wanted = texts(own, plain, range(epoch))
    assert texts(own, anew, range(epoch)) == texts(own, anew, range(epoch, 2 * epoch)) == wanted
    tokens = [sum(one.batch_at(step, 512).tokens() for step in range(epoch)) for one in (plain, anew)]
    assert tokens[1] > 1.1 * tokens[0]


def test_a_batch_depends_on_seed_and_step_alone_when_it_is_cut_anew(own):
    batches = TokenBatches(own.task, CutAnew(own, 0.2))
    epoch = batches.steps_per_epoch(512)
    asked = {step: batches.batch_at(step, 512, seed=1) for step in (epoch, 0, epoch + 1)}
    fresh = TokenBatches(own.task, CutAnew(own, 0.2))
    for step in sorted(asked):
        fresh.batch_at(1, 512, seed=2)
        again = fresh.batch_at(step, 512, seed=1)
        assert all(torch.equal(a, b) for a, b in zip(again, asked[step], strict=True))


def test_an_epoch_is_cut_once(own):
    asked = []
    batches = TokenBatches(own.task, lambda seed, epoch: asked.append((seed, epoch)) or own.task)
    epoch = batches.steps_per_epoch(512)
    for step in range(2 * epoch):
        batches.batch_at(step, 512, seed=7)
    assert asked == [(7, 0), (7, 1)]
