"""A tiny language model that `transformers` has written, with a tokenizer of letters."""

import json
import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

MADE = Path(__file__).parent / "made"


@pytest.fixture
def tiny(tmp_path) -> Path:
    """A folder with weights, configuration and tokenizer: each of 64 tokens is a letter, a digit or a byte of one."""
    folder = shutil.copytree(MADE / "llama", tmp_path / "tiny")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())[:64]
    made = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": None}), "utf-8")
    return folder
