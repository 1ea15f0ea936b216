"""Texts as tasks: pieces are learnt from the training part, and what is held out is not in it."""

import pytest
import torch

from attnbook.data.texts import language, multi30k
from attnbook.data.texts.text import own_corpus
from attnbook.data.texts.vocabulary import EOS, PAD

TRAIN = ["a dog runs.", "a cat sits on a mat.", "two dogs run.", "a zebra?"]


@pytest.fixture(scope="module")
def small():
    return language.text_task("small", TRAIN, ["a dog sits."], ["a zebra?"], 40)


def test_what_is_held_out_is_taken_out_of_training_and_teaches_no_pieces(small):
    assert len(small.task.train) == 3
    assert not any("z" in piece or "?" in piece for piece in small.byte_pairs.pieces)


def test_a_batch_holds_the_pieces_and_the_end_symbol(small):
    batch = small.task.collate(small.task.train)
    texts = [small.byte_pairs.decode(small.task.target_vocabulary.decode(row)) for row in batch.target]
    assert texts == TRAIN[:3]
    assert batch.target.eq(EOS).sum(dim=1).tolist() == [1, 1, 1]
    assert torch.equal(batch.target.ne(PAD).sum(dim=1), batch.lengths + 1)


def test_the_size_of_an_example_is_its_number_of_characters(small):
    assert [example.size for example in small.task.train] == [len(text) for text in TRAIN[:3]]


def test_captions_are_read_in_lower_case(monkeypatch):
    files = {"train": ["A Man.", "A dog."], "val": ["A cat."], "test_2016_flickr": ["A Man."]}
    monkeypatch.setattr(multi30k, "lines", lambda name: files[name])
    monkeypatch.setattr(language, "CAPTION_PIECES", 24)
    task, pairs = language.caption_task.__wrapped__()
    assert [pairs.decode(example.target) for example in task.train] == ["a dog."]
    assert [pairs.decode(example.target).count("\N{REPLACEMENT CHARACTER}") for example in task.test] == [2]  # m and n


def test_the_books_own_text_is_whole_in_its_task():
    task, pairs = language.own_text_task()
    assert len(task.target_vocabulary) == language.OWN_PIECES
    for examples, lines in zip((task.train, task.validation, task.test), own_corpus(), strict=True):
        assert len(examples) == len(lines)
    lines = [line.text for line in own_corpus().train]
    assert [pairs.decode(example.target) for example in task.train[:50]] == lines[:50]
