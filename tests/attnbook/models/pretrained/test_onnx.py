"""Graphs in ONNX: what an exporter has written, and files that are damaged, or not such files."""

import struct

import pytest
import torch
from written_weights import message

from attnbook.models.pretrained import WeightsError
from attnbook.models.pretrained.onnx import read_onnx

FLOATS = struct.pack("<6f", 0, 1, 2, 3, 4, 5)


def weights(*fields):
    """A model whose graph has one tensor of these fields."""
    return message((1, 8), (7, message((5, message(*fields)))))


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "small.onnx"
        path.write_bytes(content)
        return read_onnx(path)

    return read


def test_weights_have_their_shapes_and_numbers(read):
    found = read(weights((1, 2), (1, 3), (2, 1), (8, "a.weight"), (9, FLOATS))).weights
    torch.testing.assert_close(found["a.weight"], torch.arange(6.0).view(2, 3), rtol=0, atol=0)


def test_sizes_may_be_packed_into_bytes(read):
    found = read(weights((1, bytes([2, 3])), (2, 1), (8, "a.weight"), (9, FLOATS))).weights
    assert found["a.weight"].shape == (2, 3)


def test_numbers_have_the_type_that_the_file_says(read):
    many = (1 << 40) + 5  # needs six groups of seven bits
    found = read(weights((1, 1), (2, 7), (8, "many"), (9, struct.pack("<q", many)))).weights
    assert found["many"].tolist() == [many]
    halves = read(weights((1, 2), (2, 10), (8, "halves"), (9, struct.pack("<2e", 0.5, -2)))).weights
    assert halves["halves"].tolist() == [0.5, -2]
    assert read(weights((1, 0), (2, 1), (8, "none"), (9, b""))).weights["none"].shape == (0,)


def test_nodes_say_what_they_read_and_make_and_constants_have_a_value(read):
    eight = message((1, 1), (2, 6), (9, struct.pack("<i", 8)))
    constant = message((2, "heads"), (4, "Constant"), (5, message((1, "value"), (5, eight))))
    product = message((1, "x"), (1, "heads"), (2, "y"), (3, "its name"), (4, "MatMul"))
    nodes = read(message((7, message((1, constant), (1, product))))).nodes
    assert nodes[0].value.tolist() == [8]
    assert nodes[1] == ("MatMul", ("x", "heads"), ("y",), None)


def test_an_open_size_of_the_input_is_0(read):
    sizes = message((1, message((2, "batch"))), (1, message((1, 3))), (1, message((1, 224))))
    tensor_type = message((1, message((1, 1), (2, sizes))))
    assert read(message((7, message((11, message((1, "images"), (2, tensor_type))))))).shape == (0, 3, 224)


def test_fields_that_nobody_asks_for_are_passed_over(read):
    content = weights((1, 2), (1, 3), (2, 1), (8, "a.weight"), (9, FLOATS))
    other = bytes([14 << 3 | 1]) + bytes(8) + bytes([15 << 3 | 5]) + bytes(4)  # eight bytes, four bytes
    assert list(read(other + message((99, "text")) + content).weights) == ["a.weight"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "there is no graph in it"),
        (b"GGUF and more", "a value is stored in way 7, which protocol buffers do not have"),
        (weights((8, "a"), (9, FLOATS))[:-3], "a field of 31 bytes begins 28 bytes before the end"),
        (bytes([8, 255, 255]), "a whole number does not end"),
        (bytes([8] + [255] * 12), "a whole number does not end"),
        (weights((1, 6), (2, 8), (8, "a"), (9, FLOATS)), "'a' has numbers of type 8; read are 1, 2, 3, 6"),
        (weights((1, 6), (2, 1), (8, "a")), "the numbers of 'a' are not stored as raw bytes in this file"),
        (weights((1, 7), (2, 1), (8, "a"), (9, FLOATS)), r"'a' of the shape \(7,\) needs 28 bytes, and has 24"),
        (weights((1, 6), (2, 1), (8, b"\xff"), (9, FLOATS)), "a name is not written in UTF-8"),
    ],
)
def test_what_cannot_be_read_is_said(read, content, message):
    with pytest.raises(WeightsError, match=rf"small\.onnx is no ONNX file .* here, or cut off: {message}"):
        read(content)
