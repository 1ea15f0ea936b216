"""The real SmolLM2, where it is on this machine, against what `transformers` computes (`made/make_real.py`)."""

from pathlib import Path

import pytest
import torch

from attnbook.decoding import greedy
from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import kept
from attnbook.models.pretrained.safetensors import read_safetensors

EXPECTED = read_safetensors(Path(__file__).parent / "made" / "smollm2.expected.safetensors")
PROMPTS = range(len(EXPECTED) // 3)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(kept("smollm2") is None, reason="SmolLM2 is not here: python -m attnbook.pretrained smollm2"),
]


@pytest.fixture(scope="module")
def smollm2():
    return load(kept("smollm2"))


@pytest.mark.parametrize("number", PROMPTS)
def test_logits_and_text_are_those_of_transformers(smollm2, number):
    words = EXPECTED[f"{number}.words"]
    text = smollm2.tokenizer.decode(words[0].tolist(), skip_special_tokens=False)
    assert smollm2.tokenizer.encode(text).ids == words[0].tolist()
    logits, _ = smollm2.model(words)
    torch.testing.assert_close(logits[0, :, ::24], EXPECTED[f"{number}.logits"], rtol=0, atol=2e-4)
    written = greedy(smollm2.model, prompt=words, max_length=20, eos=-1).tokens
    assert written[0].tolist() == EXPECTED[f"{number}.written"].tolist()
