"""A student's functions inside of the book's loader."""

from unittest.mock import Mock

import pytest
import torch
from written_weights import gguf_bytes

from attnbook.attention.positions import apply_rotary
from attnbook.models.pretrained import load
from attnbook.models.pretrained.dequantise import KINDS, q4_1
from attnlabs.material.own_loader import Q4_1, STORY, load_with

WIDTH, INNER, WORDS = 32, 64, 11
FACTS = {
    "general.architecture": "llama", "llama.embedding_length": WIDTH, "llama.block_count": 1,
    "llama.feed_forward_length": INNER, "llama.attention.head_count": 2, "llama.attention.head_count_kv": 1,
    "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.freq_base": 500.0, "llama.context_length": 16,
    "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["ab", *"abcdefghij"], "tokenizer.ggml.merges": ["a b"],
    "tokenizer.ggml.token_type": [1] * WORDS,
}  # fmt: skip
MATRICES = {
    "token_embd": (WORDS, WIDTH), "blk.0.attn_q": (WIDTH, WIDTH), "blk.0.attn_k": (WIDTH // 2, WIDTH),
    "blk.0.attn_v": (WIDTH // 2, WIDTH), "blk.0.attn_output": (WIDTH, WIDTH), "blk.0.ffn_gate": (INNER, WIDTH),
    "blk.0.ffn_up": (INNER, WIDTH), "blk.0.ffn_down": (WIDTH, INNER),
}  # fmt: skip
NORMS = ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")


@pytest.fixture
def file(tmp_path):
    """A tiny Llama, whose matrices are stored in four bits."""
    draw = torch.Generator().manual_seed(0)
    tensors = [(f"{name}.weight", (WIDTH,), 0, torch.ones(WIDTH).numpy().tobytes()) for name in NORMS]
    for name, (rows, columns) in MATRICES.items():
        blocks = rows * columns // 32
        halves = torch.tensor([0.05, -0.4]).half().view(torch.uint8).expand(blocks, 4)
        packed = torch.randint(0, 256, (blocks, 16), generator=draw, dtype=torch.uint8)
        tensors.append((f"{name}.weight", (rows, columns), 3, torch.cat([halves, packed], dim=1).numpy().tobytes()))
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf_bytes(FACTS, tensors))
    return path


def test_right_functions_give_the_model_that_the_book_loads(file):
    dequantise, rotate = Mock(side_effect=q4_1), Mock(side_effect=apply_rotary)
    words = torch.tensor([[3, 1, 4, 1, 5]])
    own, books = load_with(file, dequantise, rotate).model(words)[0], load(file).model(words)[0]
    assert torch.equal(own, books)
    assert dequantise.call_count == len(MATRICES)
    assert {call.args[2] for call in rotate.call_args_list} == {500.0}


def test_what_the_functions_give_is_what_the_model_computes_with(file):
    words = torch.tensor([[3, 1, 4, 1, 5]])
    books = load(file).model(words)[0]
    assert not torch.allclose(load_with(file, lambda raw: 2 * q4_1(raw), apply_rotary).model(words)[0], books)
    assert not torch.allclose(load_with(file, q4_1, lambda x, positions, base: x).model(words)[0], books)


def test_afterwards_the_book_reads_with_its_own_function_again(file):
    with pytest.raises(ZeroDivisionError):
        load_with(file, lambda raw: 1 // 0, apply_rotary)
    assert KINDS[Q4_1].read is q4_1


def test_the_story_is_long_enough_for_a_window_to_leave_its_beginning():
    assert len(STORY.split()) > 250
