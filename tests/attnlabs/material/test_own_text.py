"""The lines of a text, and a student's attention in the book's language model."""

import pytest
import torch

from attnbook.models.bert import MaskedLanguageModel
from attnbook.models.block import TransformerConfig
from attnbook.models.language_model import LanguageModel
from attnlabs.lab11.groups import grouped_query_attention
from attnlabs.material.own_text import text_lines, use_grouped_attention

WORDS = torch.tensor([[1, 3, 4, 5, 6], [1, 6, 5, 4, 2]])
CONFIG = TransformerConfig(d_model=16, layers=2, d_ff=16, key_value_heads=2)


def test_no_line_of_the_books_text_is_both_trained_on_and_held_out():
    train, held_out = text_lines()
    assert len(train) > 5 * len(held_out) > 500
    assert not set(train) & set(held_out)


def test_a_file_is_cut_into_different_sentences_of_which_one_in_ten_is_held_out(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("".join(f"Line {i} is here.  Is line {i}\n" for i in range(100)) + "Line 0 is here.\n", "utf-8")
    train, held_out = text_lines(path)
    assert held_out[0] == "Line 0 is here."
    assert train[0] == "Is line 0"
    assert len(train) == 180
    assert len(held_out) == 20
    assert not set(train) & set(held_out)


def test_too_short_a_text_is_an_error(tmp_path):
    (tmp_path / "short.txt").write_text("One. Two. " + 300 * "x", "utf-8")
    with pytest.raises(ValueError, match=r"short\.txt has 2 different sentences; a model needs at least 100"):
        text_lines(tmp_path / "short.txt")


def test_the_plugged_attention_gives_what_the_models_own_gives():
    model = LanguageModel(8, CONFIG).eval()
    expected, weights = model(WORDS)
    logits, plugged = use_grouped_attention(model, grouped_query_attention)(WORDS)
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(plugged, weights)


def test_it_writes_word_by_word_as_it_reads():
    model = use_grouped_attention(LanguageModel(8, CONFIG).eval(), grouped_query_attention)
    state, steps = model.start(), []
    for token in WORDS.unbind(dim=1):
        logits, state, _ = model.step(token, state)
        steps.append(logits)
    torch.testing.assert_close(torch.stack(steps, dim=1), model(WORDS)[0])


def test_a_masked_model_takes_it_too():
    model, lengths = MaskedLanguageModel(8, CONFIG).eval(), torch.tensor([5, 3])
    expected = model(WORDS, lengths)[0]
    torch.testing.assert_close(use_grouped_attention(model, grouped_query_attention)(WORDS, lengths)[0], expected)


def test_a_bias_on_the_scores_is_an_error():
    model = LanguageModel(8, TransformerConfig(d_model=16, layers=1, positions="linear_bias"))
    with pytest.raises(ValueError, match="positions are 'linear_bias', which adds to the scores"):
        use_grouped_attention(model, grouped_query_attention)
