"""GPT-2 in the layout of its files: what lab 19 compares our Block with."""

from pathlib import Path

import torch

from attnbook.models.pretrained.families import FAMILIES, build
from attnbook.models.pretrained.safetensors import read_safetensors
from attnlabs.material.tiny_gpt2 import gpt2_logits, random_gpt2

MADE = Path(__file__).parents[2] / "attnbook" / "models" / "pretrained" / "made"


def test_logits_are_those_of_transformers():
    tensors, expected = (
        read_safetensors(MADE / "gpt2" / "model.safetensors"),
        read_safetensors(MADE / "gpt2.expected.safetensors"),
    )
    torch.testing.assert_close(gpt2_logits(tensors, expected["words"]), expected["logits"], rtol=0, atol=1e-4)


def test_a_random_file_is_one_that_the_package_reads():
    tensors = random_gpt2()
    facts = {"n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 64, "layer_norm_epsilon": 1e-5}
    words = torch.arange(20).reshape(2, 10)
    logits, _ = build(FAMILIES["gpt2"], tensors, facts)(words)
    torch.testing.assert_close(gpt2_logits(tensors, words), logits, rtol=0, atol=1e-4)


def test_the_same_weights_come_for_the_same_seed():
    one, again, other = random_gpt2(1), random_gpt2(1), random_gpt2(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["transformer.wte.weight"], other["transformer.wte.weight"])
