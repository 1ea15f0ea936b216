"""Tokenizers as SmolLM2's and Qwen's files describe them; `test_files.py` reads one from a file."""

from attnbook.models.pretrained.tokenizers import tokenizer_in, tokenizer_of


def told(cut, words, merges=()):
    return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": cut, "tokenizer.ggml.tokens": words,
            "tokenizer.ggml.merges": list(merges), "tokenizer.ggml.token_type": [1] * len(words)}  # fmt: skip


def test_smollm_cuts_each_digit_and_gpt2_takes_a_number_whole():
    words = ["1", "2", "12"]
    assert tokenizer_of(told("smollm", words, ["1 2"])).encode("12").ids == [0, 1]
    assert tokenizer_of(told("gpt-2", words, ["1 2"])).encode("12").ids == [2]


def test_qwen_merges_no_letter_with_a_digit():
    assert tokenizer_of(told("qwen2", ["a", "1", "a1"], ["a 1"])).encode("a1").ids == [0, 1]


def test_a_folder_without_a_tokenizer_has_none(tmp_path):
    assert tokenizer_in(tmp_path) is None


def test_texts_are_neither_filled_up_nor_cut_off_as_the_file_of_minilm_would_have_it(tmp_path):
    made = tokenizer_of(told("gpt-2", ["1", "2"]))
    made.enable_padding(length=4)
    made.enable_truncation(max_length=6)
    made.save(str(tmp_path / "tokenizer.json"))
    read = tokenizer_in(tmp_path)
    assert read.encode("12").ids == [0, 1]
    assert read.encode("12121212").ids == [0, 1] * 4
