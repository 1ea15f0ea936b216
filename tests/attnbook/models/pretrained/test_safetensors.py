"""safetensors files: all dtypes are read, and what is wrong with a file is said in one sentence."""

import struct

import pytest
import torch
from written_weights import write_safetensors

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.safetensors import read_safetensors

TENSORS = {
    "odd": torch.tensor([1.0, 2.0, 3.0]).half(),  # six bytes: what follows does not begin where its type may
    "numbers": torch.arange(6.0).view(2, 3),
    "one": torch.tensor(7),
    "brain": torch.tensor([0.5, -2.0]).bfloat16(),
    "none": torch.zeros(0, 4),
}


def test_tensors_have_their_dtypes_shapes_and_numbers(tmp_path):
    found = read_safetensors(write_safetensors(tmp_path / "small.safetensors", TENSORS))
    assert list(found) == list(TENSORS)
    for name, tensor in TENSORS.items():
        torch.testing.assert_close(found[name], tensor, rtol=0, atol=0)


def test_writing_to_what_was_read_leaves_the_file(tmp_path):
    path = write_safetensors(tmp_path / "small.safetensors", TENSORS)
    read_safetensors(path)["numbers"].zero_()
    assert read_safetensors(path)["numbers"].sum() == 15


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    whole = write_safetensors(tmp_path / "small.safetensors", {"numbers": TENSORS["numbers"]}).read_bytes()
    path = tmp_path / "cut.safetensors"
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(WeightsError, match=r"cut\.safetensors is (no safetensors file, or )?cut off"):
            read_safetensors(path)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"dtype": "F4"}, "'numbers' has the dtype F4; read are F64, F32"),
        ({"shape": [2, 4]}, r"'numbers' of the shape \(2, 4\) needs 32 bytes, and has 24"),
        ({"data_offsets": [1]}, "the header says no dtype, shape and data_offsets of 'numbers'"),
    ],
)
def test_what_is_wrong_with_a_tensor_is_said(tmp_path, changed, message):
    path = write_safetensors(tmp_path / "small.safetensors", {"numbers": TENSORS["numbers"]}, numbers=changed)
    with pytest.raises(WeightsError, match=message):
        read_safetensors(path)


@pytest.mark.parametrize(
    "header, message", [(b"{]", "its header is not JSON"), (b"[1]", "its header is no JSON object")]
)
def test_what_is_wrong_with_a_header_is_said(tmp_path, header, message):
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(WeightsError, match=message):
        read_safetensors(path)
