"""What passes between the grader and an answer's process."""

import contextlib
import socket
import struct
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import attnlabs as checks
from coursekit.grading import wire
from misread import sandbox, values

VALUES = [
    None, True, 3, -(2**62), 2.5, "a word", (), [], (1, "a"), [1, [2.0, None]], {"a": 1, 2: (3,)}, {1, 2},
    frozenset({"a"}), {(1, 2): [torch.arange(3)]}, (torch.ones(2, 3), [torch.zeros(0, 4)]),
]  # fmt: skip
DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int64, torch.int32, torch.int16,
    torch.int8, torch.uint8,
]  # fmt: skip


def there_and_back(value):
    message = wire.from_answer(wire.to_grader({"result": wire.encode(value, [])}))
    return wire.decode(message["result"], [])


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back_as_it_was(value):
    found = there_and_back(value)
    assert type(found) is type(value)
    assert values.same(values.plain(found), values.plain(value))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_a_tensor_keeps_dtype_shape_and_values(dtype, shape):
    tensor = (torch.arange(6.0).reshape(2, 3) if shape else torch.ones(())).to(dtype)
    tensor = tensor if 0 not in shape else tensor[:0, 0]
    found = there_and_back(tensor)
    assert (found.dtype, found.shape) == (dtype, tensor.shape)
    assert torch.equal(found, tensor)


def test_infinity_and_nan_come_back():
    found = there_and_back((float("inf"), float("nan"), torch.tensor([float("-inf"), float("nan")])))
    assert found[0] == float("inf")
    assert found[1] != found[1]
    assert found[2][0] == float("-inf")
    assert found[2][1].isnan()


def test_views_and_meta_tensors_come_back():
    assert torch.equal(there_and_back(torch.arange(6).reshape(2, 3).T), torch.arange(6).reshape(2, 3).T)
    found = there_and_back(torch.ones(2, 3, device="meta"))
    assert found.is_meta
    assert found.shape == (2, 3)


def test_a_single_number_comes_back_from_a_view_whose_stride_is_not_one():
    view = torch.tensor([[5.0, 6.0, 7.0]], dtype=torch.float64).T.chunk(3)[0].T[:, 0]
    one_of_a_row = torch.arange(3.0, dtype=torch.float64).as_strided((1,), (3,))
    for value in (view, one_of_a_row):
        assert torch.equal(there_and_back(value), value)


def test_a_generator_goes_on_where_it_was():
    generator = torch.Generator().manual_seed(3)
    torch.rand(5, generator=generator)
    found = there_and_back(generator)
    assert torch.equal(torch.rand(4, generator=found), torch.rand(4, generator=generator))


@pytest.mark.parametrize("number", [np.float64(2.5), Fraction(5, 2), Decimal("2.5")])
def test_numbers_of_other_types_become_pythons(number):
    assert (there_and_back(number), type(there_and_back(number))) == (2.5, float)


@pytest.mark.parametrize("value", [2**80, nn.Linear(1, 1), object(), torch.ones(2).to_sparse(), len])
def test_what_no_exercise_returns_becomes_a_stranger_of_its_types_name(value):
    assert type(there_and_back(value)).__name__ == type(value).__name__


def test_a_subclass_cannot_answer_for_itself():
    class Sly(list):
        def __iter__(self):
            return iter([9, 9])

    assert there_and_back(Sly([1, 2])) == [1, 2]


def test_a_generator_function_that_was_not_run_is_recognised():
    assert hasattr(there_and_back(x for x in range(3)), "gi_frame")


def test_what_flows_is_written_down_for_each_tensor():
    tensors: list = []
    encoded = wire.encode([torch.ones(1, requires_grad=True), torch.ones(1)], tensors)
    assert [part["flows"] for part in encoded["list"]] == [True, False]
    assert len(tensors) == 2


HOSTILE = [
    {"tensor": "float32"},
    {"tensor": "object", "shape": [1], "bytes": "AAAA"},
    {"tensor": "float32", "shape": [10**9], "bytes": "AAAAAA=="},
    {"tensor": "float32", "shape": [-1, 2], "bytes": "AAAAAA=="},
    {"tensor": "float32", "shape": "abc", "bytes": "AAAAAA=="},
    {"tensor": "float32", "shape": [1], "bytes": "no base 64"},
    {"tensor": "float32", "shape": [1], "bytes": 7},
    {"tensor": ["float32"], "shape": [1], "bytes": "AAAAAA=="},
    {"tensor": "float32", "shape": [2**40, 2**40], "meta": True},
    {"eval": [1]},
    {"list": 3},
    {"list": [1], "tuple": [2]},
    {},
    {"dict": [[1]]},
    {"dict": [[{"list": []}, 1]]},
    {"set": [{"list": []}]},
    {"generator": 3},
    {"generator": {"list": [1, 2]}},
    {"strange": "a\0b"},
]


@pytest.mark.parametrize("message", HOSTILE, ids=str)
def test_a_message_that_encode_did_not_make_is_refused_or_harmless(message):
    try:
        found = wire.decode(message, [])
    except wire.WireError:
        return
    assert "strange" in message or found.is_meta


def test_deep_nesting_is_refused():
    nested: dict = {"list": []}
    for _ in range(100_000):
        nested = {"list": [nested]}
    with pytest.raises(wire.WireError):
        wire.decode(nested, [])
    while nested["list"]:  # taken apart by hand: Python frees nested lists recursively
        nested = nested["list"].pop()


@pytest.mark.parametrize(
    "message", [b"", b"\xff\xfe", b"[1]", b"7", b'{"a": ', b"[" * 200_000], ids=lambda m: str(m[:6])
)
def test_what_is_no_dictionary_of_json_is_refused(message):
    with pytest.raises(wire.WireError):
        wire.from_answer(message)


@pytest.mark.parametrize("message", [
    rb'{"text": "a\ud800b", "\uDFFF": 1}', b'{"text": "a\xed\xa0\x80b", "\xff": 1}', rb'{"text": "a\ud83d\ude00b"}',
])  # fmt: skip
def test_each_text_that_came_back_can_be_written_to_a_file(message):
    found = wire.from_answer(message)
    assert str(found).encode()
    assert found["text"] in ("a?b", "a\N{REPLACEMENT CHARACTER}" + "\N{REPLACEMENT CHARACTER}" * 2 + "b", "a😀b")


def test_what_steers_a_terminal_is_taken_out_of_what_a_person_reads():
    assert wire.shown("\x1b[31mred\x1b[0m\x07\tline\r\n\x9b") == "red\tline\r\n"


def test_a_message_goes_through_a_socket_whole():
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    wire.send(theirs, b"x" * 1000)
    assert wire.receive(ours) == b"x" * 1000


def test_a_message_larger_than_allowed_is_refused_before_it_is_read():
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack("<Q", 2**62))
    with pytest.raises(wire.WireError, match="are allowed"):
        wire.receive(ours)


def test_a_message_that_comes_byte_by_byte_has_one_deadline():
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack("<Q", 1000))

    def drip():
        with contextlib.suppress(OSError):
            for _ in range(100):
                time.sleep(0.05)
                theirs.sendall(b"x")

    thread, begun = threading.Thread(target=drip), time.monotonic()
    thread.start()
    with pytest.raises(wire.WireError, match="timed out"):
        wire.receive(ours, seconds=0.3)
    ours.close()
    thread.join()
    assert time.monotonic() - begun < 3


def test_an_end_in_the_middle_of_a_message_is_said():
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack("<Q", 10) + b"abc")
    theirs.close()
    with pytest.raises(wire.WireError, match="the process ended"):
        wire.receive(ours)
    with pytest.raises(wire.WireError):
        wire.send(ours, b"x" * 2**24)


def test_the_graders_messages_keep_functions_of_the_package():
    from attnlabs.fakes.attention import FakeCell

    assert wire.from_grader(wire.to_answer({"with": FakeCell}))["with"] is FakeCell


def sent(value):
    return wire.from_grader(wire.to_answer({"with": value}))["with"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_a_tensor_of_the_graders_arrives_as_it_was_and_is_the_answers_own(dtype, shape):
    tensor = torch.ones(shape).to(dtype)
    found = sent(tensor)
    assert (found.dtype, found.shape, found.stride()) == (tensor.dtype, tensor.shape, tensor.stride())
    assert found.tolist() == tensor.tolist()
    found.resize_(7).fill_(0)
    assert tensor.tolist() == torch.ones(shape).to(dtype).tolist()


@pytest.mark.parametrize("odd", [
    torch.arange(6.0).reshape(2, 3).mT, torch.ones(1, 2).expand(3, 2), torch.ones(2, requires_grad=True),
    nn.Parameter(torch.ones(2)), torch.empty(2, device="meta"), torch.tensor([1 + 2j]).conj(),
], ids=["turned", "expanded", "wants gradients", "parameter", "meta", "conjugated"])  # fmt: skip
def test_what_is_more_than_its_numbers_arrives_as_it_was_too(odd):
    found = sent(odd)
    kinds = [(type(x), x.dtype, x.shape, x.stride(), x.requires_grad, x.device) for x in (found, odd)]
    assert kinds[0] == kinds[1]
    assert odd.is_meta or found.tolist() == odd.tolist()


def test_one_tensor_that_is_sent_twice_is_one():
    one = torch.ones(2)
    first, [second] = sent((one, [one]))
    assert first is second


def test_a_function_of_the_checks_goes_as_its_code_with_what_it_uses_and_nothing_else():
    reference = checks.checks_of("lab13").exercise("ntm_step").reference
    message = wire.to_answer({"helper": reference})
    assert b"attnlabs." not in message
    made = wire.from_grader(message)["helper"]
    assert made.__globals__.keys() == wire._used(reference).keys() | {"__name__", "__builtins__"}
    (args,) = checks.checks_of("lab13").exercise("ntm_step").inputs()[:1]
    assert values.same(values.plain(made(*values.clone(args))), values.plain(reference(*values.clone(args))))


def test_an_error_inside_of_such_a_function_is_told_of_the_line_that_called_it():
    made = wire.from_grader(wire.to_answer({"f": checks.checks_of("lab02").exercise("weight_sum").reference}))["f"]
    _, failure = sandbox.guarded(lambda: made(torch.ones(2), None), ())
    assert failure.function == "<lambda>"
