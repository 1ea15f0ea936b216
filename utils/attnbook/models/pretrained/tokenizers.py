"""The tokenizer that belongs to weights: a tokenizer.json, or the vocabulary inside of a GGUF file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnbook.extras import needed_from
from attnbook.models.pretrained.errors import WeightsError

CONTROL = 3  # the type of tokens such as <|im_end|>, which no text is cut into

# How a text is cut before byte pairs are merged, by the name that GGUF has for it.
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def tokenizer_in(folder: Path) -> Any:
    """The tokenizer of a folder, or ``None`` where it has no tokenizer.json.

    It neither fills texts up nor cuts them off, whatever the file says: who makes a batch knows how long its rows are,
    and padding that nobody masks would be read as words.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    with needed_from("notebooks"):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokenizer_of(told: Mapping[str, Any]) -> Any:
    """Byte pairs from what a GGUF file tells.

    Raises:
        WeightsError: for another kind of vocabulary than byte pairs, or another way of cutting than those known.
    """
    with needed_from("notebooks"):
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
    kind, cut = told.get("tokenizer.ggml.model"), told.get("tokenizer.ggml.pre")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    ways: dict[Any, list] = {
        "smollm": [pre_tokenizers.Digits(individual_digits=True), in_bytes],
        "gpt-2": [in_bytes],
        "qwen2": [
            pre_tokenizers.Split(Regex(_QWEN2), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
    }
    if kind != "gpt2" or cut not in ways:
        raise WeightsError(
            f"the vocabulary is of the kind {kind!r}, cut as {cut!r}; read are byte pairs (gpt2), "
            f"cut as {', '.join(ways)}"
        )
    words: list[str] = told["tokenizer.ggml.tokens"]
    merges = [(first, second) for first, _, second in (pair.partition(" ") for pair in told["tokenizer.ggml.merges"])]
    made = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(ways[cut])
    made.decoder = decoders.ByteLevel()
    kinds = told.get("tokenizer.ggml.token_type", [])
    control = [word for word, one in zip(words, kinds, strict=False) if one == CONTROL]
    made.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in control])
    return made
