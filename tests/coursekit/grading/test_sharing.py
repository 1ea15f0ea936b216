"""Which memory a result shares with an argument is told across the process, and judged as in a notebook."""

import pytest
import torch

import attnlabs as checks
from coursekit.grading import sharing, wire
from coursekit.grading.remote import Remote
from misread.judge import judge

SHARED = {
    "the old mask where nothing changes": (
        "mask_visited", "    new = mask.scatter(1, chosen[:, None], False)\n"
        "    return mask if torch.equal(new, mask) else new",
    ),
    "a view of the mask": (
        "mask_visited", "    new = mask.scatter(1, chosen[:, None], False)\n"
        "    return mask.view(mask.shape) if torch.equal(new, mask) else new",
    ),
    "through numpy": (
        "mask_visited", "    new = mask.scatter(1, chosen[:, None], False)\n"
        "    return torch.from_numpy(mask.numpy()) if torch.equal(new, mask) else new",
    ),
    "written into the mask": ("mask_visited", "    mask[range(len(mask)), chosen] = False\n    return mask"),
    "a buffer that is filled anew": (
        "optimality_gap", "    BUFFER.copy_((length / optimal - 1).mean())\n    return BUFFER",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name, body", SHARED.values(), ids=list(SHARED))
def test_memory_that_a_result_shares_with_an_argument_or_a_later_result_is_seen_as_here(name, body, session):
    exercise = checks.checks_of("lab14").exercise(name)
    buffer = "BUFFER = torch.zeros((), dtype=torch.float64)\n"
    text = f"{buffer}def {name}({', '.join(exercise.parameters)}):\n{body}\n"
    namespace: dict = {"torch": torch}
    exec(compile(text, "cell 1", "exec"), namespace)
    here, there = judge(exercise, namespace[name]), judge(exercise, Remote(session("import torch\n" + text), name))
    assert not here.passed
    assert (there.passed, there.mistake, there.kind) == (here.passed, here.mistake, here.kind), there.message


@pytest.mark.slow
def test_a_result_is_the_argument_only_where_the_numbers_are_the_same_and_the_share_makes_sense(session):
    begun = session("def f(t, more): return [t.T, t[1:], t.clone(), more['a'][0], t.view(-1).byte()]")
    t, more = torch.arange(6.0).view(2, 3), {"a": [torch.ones(2)]}
    turned, row, copied, inner, other_type = Remote(begun, "f")(t, more)
    t.zero_()
    more["a"][0].zero_()
    assert (turned.any(), row.any(), copied.any(), inner.any(), other_type.any()) == (False, False, True, False, True)


def test_results_are_kept_up_to_a_size(monkeypatch):
    monkeypatch.setattr(wire, "LARGEST", 1000)
    recent = sharing.Recent()
    for key in range(3):
        recent.keep(key, "result", [torch.zeros(100)], key)
    assert [recent.find(key) for key in range(4)] == [None, None, ("result", 2), None]


@pytest.mark.parametrize("shares", [[[5, 0, [1]]], [[0, 9, [1]]], [[0, 0, [1, 1]]], [7], ["abc"], [[0, "x", [1]]]])
def test_shares_that_make_no_sense_are_refused(shares):
    with pytest.raises(wire.WireError):
        sharing.joined(torch.zeros(2), [torch.zeros(2)], shares, [torch.zeros(2)])
