"""GGUF files: what stands in them is read, and what is wrong with them is said in one sentence."""

import struct

import pytest
from written_weights import gguf_bytes

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.gguf import GGUF

FACTS = {"general.architecture": "llama", "llama.block_count": 2, "llama.rope.freq_base": 0.5, "ready": True,
         "words": ["a", "b"], "kinds": [1, 3]}  # fmt: skip
TENSORS = [
    ("plain", (2, 3), 0, struct.pack("<6f", *range(6))),
    ("half", (2,), 1, struct.pack("<2e", 1.5, 2.5)),
    ("packed", (2, 32), 8, struct.pack("<e32b", 1.0, *range(32)) + struct.pack("<e32b", 2.0, *range(32))),
]


@pytest.fixture
def written(tmp_path):
    def write(content: bytes):
        path = tmp_path / "small.gguf"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("version", (2, 3))
def test_facts_and_tensors_are_read(written, version):
    file = GGUF(written(gguf_bytes(FACTS, TENSORS, version)))
    assert file.facts == FACTS
    assert file.tensor("plain").tolist() == [[0, 1, 2], [3, 4, 5]]  # rows first
    assert file.tensor("half").tolist() == [1.5, 2.5]
    assert file.tensor("packed").tolist() == [list(range(32)), [2 * n for n in range(32)]]


def test_what_is_read_can_be_changed_and_the_file_stays(written):
    path = written(gguf_bytes(FACTS, TENSORS))
    GGUF(path).tensor("plain").zero_()
    assert GGUF(path).tensor("plain").sum() == 15


def test_a_tensor_that_is_not_there_is_named(written):
    with pytest.raises(WeightsError, match=r"small\.gguf has no tensor 'other'; it has plain, half, packed"):
        GGUF(written(gguf_bytes(FACTS, TENSORS))).tensor("other")


def test_a_file_that_is_cut_off_anywhere_is_refused(written):
    whole = gguf_bytes(FACTS, TENSORS)
    for end in range(4, len(whole), 7):
        with pytest.raises(WeightsError, match=r"small\.gguf is cut off"):
            GGUF(written(whole[:end]))


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "no GGUF file: it does not begin with the four letters GGUF"),
        (b"PK\x03\x04 a zip", "no GGUF file"),
        (gguf_bytes({}, [], version=1), "GGUF of version 1; versions 2 and 3 can be read"),
        (gguf_bytes({}, [("w", (32,), 2, bytes(18))]), "'w' has the kind 2 of ggml; read are F32, F16, Q4_1, Q8_0"),
        (gguf_bytes({}, [("w", (2, 16), 8, bytes(34))]), "rows of 'w' have 16 numbers, not whole blocks of 32"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"x" + struct.pack("<I", 99),
            "a fact of the type 99, which GGUF does not define",
        ),
    ],
)
def test_what_is_wrong_is_said(written, content, message):
    with pytest.raises(WeightsError, match=message):
        GGUF(written(content))
