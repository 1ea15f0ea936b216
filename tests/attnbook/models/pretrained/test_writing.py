"""A pretrained model goes on from a prompt, piece by piece."""

from dataclasses import replace

import pytest
import torch

from attnbook.decoding import greedy
from attnbook.models.pretrained import WeightsError, load
from attnbook.models.pretrained.writing import as_chat, write

PROMPT = "ABBA"


def ids(loaded, text):
    return torch.tensor([loaded.tokenizer.encode(text).ids])


def test_without_temperature_the_pieces_together_are_what_greedy_writes(tiny):
    loaded = load(tiny)
    expected = greedy(loaded.model, prompt=ids(loaded, PROMPT), max_length=15, eos=-1).tokens[0].tolist()
    pieces = list(write(loaded, PROMPT, max_length=15))
    assert len(pieces) > 1
    assert "".join(pieces) == loaded.tokenizer.decode(expected)


def test_it_stops_after_the_models_end(tiny):
    loaded = load(tiny)
    third = greedy(loaded.model, prompt=ids(loaded, PROMPT), max_length=3, eos=-1).tokens[0, 2].item()
    text = "".join(write(replace(loaded, ends=(third,)), PROMPT, max_length=15))
    assert len(text) < 3


def test_a_seed_draws_the_same_text_again_and_another_one_another(tiny):
    loaded = load(tiny)

    def drawn(seed):
        return "".join(write(loaded, PROMPT, 15, temperature=2.0, generator=torch.Generator().manual_seed(seed)))

    assert drawn(1) == drawn(1) != drawn(2)


def test_it_stops_where_the_model_knows_no_further_position(tiny):
    assert len(list(write(load(tiny), PROMPT, max_length=1000))) <= 64 - len(PROMPT)


@pytest.mark.parametrize("prompt, count", [("", 0), ("A" * 64, 64)])
def test_a_prompt_that_does_not_fit_is_refused(tiny, prompt, count):
    with pytest.raises(ValueError, match=f"the prompt has {count} tokens, where 1 to 63 are wanted"):
        next(write(load(tiny), prompt))


def test_a_model_that_cannot_write_is_named(tiny):
    (tiny / "tokenizer.json").unlink()
    with pytest.raises(WeightsError, match="the files hold no tokenizer"):
        next(write(load(tiny), PROMPT))


def test_a_question_is_framed_as_a_turn_of_a_chat():
    assert as_chat("Why?", system="Be brief.") == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    )
