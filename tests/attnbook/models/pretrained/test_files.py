"""GGUF and safetensors files of one model are the same model."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from written_weights import gguf_bytes

from attnbook.models.pretrained import WeightsError, load
from attnbook.models.pretrained.families import LLAMA_GGUF
from attnbook.models.pretrained.files import usual
from attnbook.models.pretrained.tokenizers import tokenizer_of

MADE = Path(__file__).parent / "made"
LETTERS = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.eos_token_id": 2,
           "tokenizer.ggml.tokens": ["a", "b", "ab", "1", "<end>"], "tokenizer.ggml.token_type": [1, 1, 1, 1, 3],
           "tokenizer.ggml.merges": ["a b"]}  # fmt: skip
FACTS = {"embedding_length": 32, "block_count": 2, "feed_forward_length": 48, "attention.head_count": 4,
         "attention.head_count_kv": 2, "rope.freq_base": 5000.0, "context_length": 64,
         "attention.layer_norm_rms_epsilon": 1e-6}  # fmt: skip


def written(folder, more=()):
    """The stored tiny Llama as a GGUF file, in the names and layout of llama.cpp, with further tensors."""
    state = load(MADE / "llama").model.state_dict()
    names = {"embed.words": "token_embd", "blocks.last_norm": "output_norm", "output": "output"}
    names |= {f"blocks.layers.{i}.{ours}": f"blk.{i}.{theirs}" for i in range(2) for theirs, ours in LLAMA_GGUF.items()}
    tensors = [
        (f"{theirs}.weight", tuple(tensor.shape), 0, struct.pack(f"<{tensor.numel()}f", *tensor.flatten().tolist()))
        for ours, theirs in names.items()
        for tensor in [state[f"{ours}.weight"]]
    ]
    facts = {"general.architecture": "llama", **{f"llama.{name}": value for name, value in FACTS.items()}, **LETTERS}
    path = folder / "tiny.gguf"
    path.write_bytes(gguf_bytes(facts, [*tensors, *more]))
    return path


@pytest.fixture
def packed(tmp_path):
    return written(tmp_path)


def test_a_gguf_file_is_the_model_that_the_safetensors_file_is(packed):
    found, expected = load(packed), load(MADE / "llama")
    assert replace(found.model.config, eps=1e-6) == expected.model.config  # the file holds it in float32
    words = torch.arange(3, 12)[None]
    torch.testing.assert_close(found.model(words)[0], expected.model(words)[0], rtol=0, atol=1e-6)
    assert found.ends == (2,)
    assert load(packed.parent).ends == (2,)  # the folder that holds it


def test_rescaled_frequencies_of_llama_3_1_are_no_part_of_our_block(tmp_path):
    frequencies = (
        "rope_freqs.weight",
        (4,),
        0,
        struct.pack("<4f", 1, 1, 8, 8),
    )  # so llama.cpp writes them, without a fact
    with pytest.raises(WeightsError, match=r"no part of the model, 1 of them: rope_freqs\.weight"):
        load(written(tmp_path, [frequencies]))


def test_its_vocabulary_cuts_a_text(packed):
    tokenizer = load(packed).tokenizer
    assert tokenizer.encode("abba11<end>").ids == [2, 1, 0, 3, 3, 4]
    assert tokenizer.decode([2, 1, 0, 3, 4]) == "abba1"


def test_another_way_of_cutting_is_refused():
    with pytest.raises(ValueError, match=r"the vocabulary is of the kind 'llama', cut as None; read are byte pairs"):
        tokenizer_of({"tokenizer.ggml.model": "llama"})


@pytest.mark.parametrize(
    "facts, name, value",
    [
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 5.0}}, "rope_theta", 5.0),
        ({"rope_theta": 5.0}, "rope_theta", 5.0),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 5.0}}, "rope_scaling", "yarn"),
        ({"model_type": "qwen2"}, "attention_bias", True),
    ],
)
def test_facts_of_older_and_newer_files_are_said_in_one_way(facts, name, value):
    assert usual({"model_type": "llama"} | facts)[name] == value
