"""Translation as a task: what is held out stays out, and batches have equally many tokens."""

import gzip
import hashlib
from collections import Counter

import pytest
import torch

from attnbook.data import reversed_strings
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.texts import multi30k
from attnbook.data.texts.byte_pairs import UNKNOWN
from attnbook.data.texts.translation import (
    OWN_PIECES,
    PAIRS,
    PIECES,
    TESTS,
    TokenBatches,
    multi30k_task,
    own_translation_task,
    translation_task,
)
from attnbook.data.texts.vocabulary import Vocabulary

TRAIN = [("ein Hund", "a dog"), ("eine Katze", "a cat"), ("der Hund", "the dog"), ("ein Zoo", "a zoo")]
VALIDATION = [("der Zoo", "the zoo")]
TEST = {"first": [("ein Hund", "one dog"), ("eine Uhr", "a clock")], "second": [("eine Katze", "a cat")]}


@pytest.fixture
def small():
    return translation_task("small", TRAIN, VALIDATION, TEST, 40)


def sentences(data, examples: list[Example]) -> list[tuple[str, str]]:
    return [(data.source_pieces.decode(one.source), data.target_pieces.decode(one.target)) for one in examples]


# ---- the task


def test_a_source_that_is_held_out_is_taken_out_of_training(small):
    assert sentences(small, small.task.train) == [("der Hund", "the dog"), ("ein Zoo", "a zoo")]
    assert sentences(small, small.task.validation) == VALIDATION


def test_pieces_are_learnt_from_training_alone(small):
    known = set("".join("▁" + german.replace(" ", "▁") for german in ("der Hund", "ein Zoo")))
    assert {letter for piece in small.source_pieces.pieces[1:] for letter in piece} == known
    assert sentences(small, small.tests["first"])[1][0] == f"eine {UNKNOWN * 2}r"  # it has no U and no h


def test_the_references_are_as_written_and_in_order(small):
    assert small.references == {"validation": ["the zoo"], "first": ["one dog", "a clock"], "second": ["a cat"]}
    assert list(small.tests) == ["first", "second"]
    assert small.task.test == small.tests["first"]


def test_the_size_of_an_example_is_the_number_of_words_of_its_source(small):
    assert {example.size for example in small.task.train} == {2}


def test_the_sizes_are_those_of_the_vocabularies(small):
    assert small.sizes() == (len(small.source_pieces.vocabulary()), len(small.target_pieces.vocabulary()))


def test_nothing_to_train_on_and_too_few_pieces_are_refused():
    with pytest.raises(ValueError, match="texts is empty"):
        translation_task("none", VALIDATION, VALIDATION, TEST, 40)
    with pytest.raises(ValueError, match="vocabulary_size must be at least"):
        translation_task("narrow", TRAIN, VALIDATION, TEST, 5)


# ---- the book's own sentences


def test_own_sentences_are_a_task_that_is_made_once():
    data = own_translation_task("de-en")
    assert own_translation_task("de-en") is data
    assert data.task.name == "own de-en"
    assert max(data.sizes()) <= OWN_PIECES
    assert list(data.tests) == ["test"]


def test_the_other_pair_is_the_same_turned_round():
    there, back = (own_translation_task(pair) for pair in PAIRS)
    assert [(b, a) for a, b in sentences(there, there.task.train)] == sentences(back, back.task.train)
    assert back.references["test"] == [source for source, _ in sentences(there, there.tests["test"])]
    assert back.source_pieces.pieces == there.target_pieces.pieces


@pytest.mark.parametrize("make", [own_translation_task, multi30k_task])
def test_another_pair_is_refused(make):
    with pytest.raises(ValueError, match="pair must be one of de-en, en-de, got 'de-fr'"):
        make("de-fr")


# ---- Multi30k


SPLITS = {
    "train": [("Ein Hund rennt.", "A dog runs."), ("Ein Mann.", "A man."), ("Zwei Hunde.", "Two dogs.")],
    "val": [("Ein Mann.", "A man.")],
    "test_2016_flickr": [("Ein Hund.", "A dog."), ("Zwei Männer.", "Two men.")],
    "test_2017_flickr": [("Zwei Hunde.", "Two dogs.")],
}


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """A folder with files of a few lines in place of the captions."""
    (tmp_path / "multi30k").mkdir()
    for split, pairs in SPLITS.items():
        for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            packed = gzip.compress("\n".join(lines).encode())
            (tmp_path / "multi30k" / f"{split}.{language}.gz").write_bytes(packed)
            monkeypatch.setitem(multi30k.SHA256, f"{split}.{language}.gz", hashlib.sha256(packed).hexdigest())
    monkeypatch.setenv("ATTNBOOK_DATA", str(tmp_path))
    for cached in (multi30k._read, multi30k_task):
        cached.cache_clear()
    yield
    for cached in (multi30k._read, multi30k_task):
        cached.cache_clear()


def test_the_captions_are_a_task_in_either_direction(small_files):
    there, back = (multi30k_task(pair) for pair in PAIRS)
    assert sentences(there, there.task.train) == [("Ein Hund rennt.", "A dog runs.")]
    assert sentences(back, back.task.train) == [("A dog runs.", "Ein Hund rennt.")]
    assert there.references == {
        "validation": ["A man."],
        "test_2016_flickr": ["A dog.", "Two men."],
        "test_2017_flickr": ["Two dogs."],
    }
    assert tuple(there.tests) == tuple(back.tests) == TESTS
    assert back.references["test_2016_flickr"] == ["Ein Hund.", "Zwei Männer."]
    assert max(there.sizes()) <= PIECES


# ---- batches


@pytest.fixture(scope="module")
def strings() -> Task:
    """Strings of 2 to 24 letters to be reversed: all lengths, and each target as long as its source."""
    return reversed_strings(train=1000, validation=20, test_per_size=1, longer=())


def uneven(*lengths: tuple[int, int]) -> Task:
    """A task of so many words in source and target; the numbers of a row's words tell it from the others."""
    words = Vocabulary([str(number) for number in range(len(lengths))])
    rows = [Example((str(row),) * a, (str(row),) * b) for row, (a, b) in enumerate(lengths)]
    return Task("uneven", rows, rows[:1], rows[:1], {}, words, words)


def room(batch: Batch) -> int:
    return len(batch.source) * max(batch.source.shape[1], batch.target.shape[1])


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def shown(batches: TokenBatches, epoch: int, tokens: int, seed: int = 0) -> list[tuple[int, ...]]:
    """The sources of an epoch in their order."""
    steps = batches.steps_per_epoch(tokens)
    found = [batches.batch_at(step, tokens, seed) for step in range(epoch * steps, (epoch + 1) * steps)]
    return [tuple(row[:length]) for one in found for row, length in zip(one.source.tolist(), one.lengths, strict=True)]


@pytest.mark.parametrize("tokens", [64, 500, 10**6])
def test_each_pair_is_shown_once_in_an_epoch(strings, tokens):
    wanted = Counter(tuple(strings.source_vocabulary.encode(one.source)) for one in strings.train)
    batches = TokenBatches(strings)
    for epoch in (0, 3):
        assert Counter(shown(batches, epoch, tokens)) == wanted


def test_no_batch_is_above_the_limit(strings):
    batches = TokenBatches(strings)
    assert max(room(batches.batch_at(step, 300)) for step in range(batches.steps_per_epoch(300))) <= 300


def test_a_pair_that_is_longer_than_the_limit_is_a_batch_of_its_own():
    batches = TokenBatches(uneven((2, 2), (40, 3), (3, 2), (3, 50)))
    found = [batches.batch_at(step, 20) for step in range(batches.steps_per_epoch(20))]
    assert sorted((len(batch.source), room(batch)) for batch in found) == [(1, 40), (1, 51), (2, 6)]


def test_a_batch_depends_on_seed_and_step_alone(strings):
    batches = TokenBatches(strings)
    steps = [0, 45, 3, 100, 7, 3]
    asked = {step: batches.batch_at(step, 300, seed=1) for step in steps}
    fresh = TokenBatches(strings)
    for step in sorted(asked):
        fresh.batch_at(5, 64, seed=2)  # other questions in between change nothing
        assert same(fresh.batch_at(step, 300, seed=1), asked[step])


def test_another_epoch_and_another_seed_have_other_batches(strings):
    batches = TokenBatches(strings)
    first = shown(batches, 0, 300)
    assert first != shown(batches, 1, 300)
    assert first != shown(batches, 0, 300, seed=1)
    assert set(map(frozenset, rows_of(batches, 0))) != set(map(frozenset, rows_of(batches, 1)))


def rows_of(batches: TokenBatches, epoch: int) -> list[list[tuple[int, ...]]]:
    """Which pairs share a batch."""
    steps = batches.steps_per_epoch(300)
    found = [batches.batch_at(step, 300) for step in range(epoch * steps, (epoch + 1) * steps)]
    return [[tuple(row) for row in batch.source.tolist()] for batch in found]


def test_the_order_of_lengths_is_mixed(strings):
    widths = [TokenBatches(strings).batch_at(step, 300).source.shape[1] for step in range(40)]
    assert widths != sorted(widths)
    assert widths != sorted(widths, reverse=True)


def test_little_of_a_batch_is_padding(strings):
    batches = TokenBatches(strings)
    found = [batches.batch_at(step, 300) for step in range(batches.steps_per_epoch(300))]
    used = sum(int(batch.lengths.sum()) for batch in found)
    assert used / sum(batch.source.numel() for batch in found) > 0.97  # 0.54 when lengths are mixed: mean 13 of 24


def test_of_equally_long_pairs_those_with_a_like_shorter_side_share_a_batch():
    batches = TokenBatches(uneven(*[(9, 2 + row % 2 * 5) for row in range(8)]))
    found = [batches.batch_at(step, 36) for step in range(2)]
    assert sorted(batch.target.shape[1] for batch in found) == [3, 8]


def test_an_epoch_has_as_many_steps_whatever_was_asked_before(strings):
    batches = TokenBatches(strings)
    steps = batches.steps_per_epoch(300)
    batches.batch_at(1000, 64, seed=3)
    assert batches.steps_per_epoch(300) == steps == TokenBatches(strings).steps_per_epoch(300)
    assert batches.steps_per_epoch(10**6) == 1


@pytest.mark.parametrize("step, tokens", [(-1, 300), (0, 0)])
def test_a_negative_step_and_a_batch_of_nothing_are_refused(strings, step, tokens):
    message = f"step must be at least 0 and batch_size at least 1, got {step} and {tokens}"
    with pytest.raises(ValueError, match=message):
        TokenBatches(strings).batch_at(step, tokens)


def test_a_task_without_training_pairs_is_refused():
    nothing = Task("nothing", [], [], [], {}, Vocabulary("a"), Vocabulary("a"))
    with pytest.raises(ValueError, match="examples is empty"):
        TokenBatches(nothing).batch_at(0)
