"""The live stack of Chapter 5: it begins with the numbers of the page, and multiplies as networks of one number do."""

import math

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer
from live_said import said

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
LEFT = "return GIVEN.all.map((state) => LIVE.leftOfDifference(state));"


def left(folder, *states):
    """What the figure finds left of a difference of 1 at the top, for each state."""
    whole = [{"factor": 0.3, "depth": 8, "turn": "angle", "first": 1} | state for state in states]
    return [layers[-1] for layers in answer(folder, LEFT, given={"all": whole}, figures=["depth"])]


@pytest.mark.parametrize("factor", [-0.9, -0.2, 0.3, 1.2])
@pytest.mark.parametrize("first", [1, 3, 99])
def test_numbers_and_vectors_go_through_a_stack_as_in_pytorch(factor, first, tmp_path):
    number = torch.tensor(1.0, requires_grad=True)
    x = number
    for layer in range(1, 6):
        x = factor * x + (x if layer >= first else 0)
    (slope,) = torch.autograd.grad(x, number)
    turned, quarter = torch.tensor([1.0, 0.0]), torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    for layer in range(1, 6):
        turned = factor * (quarter @ turned) + (turned if layer >= first else 0)
    states = [{"factor": factor, "depth": 5, "first": first, "turn": turn} for turn in ("same", "angle")]
    assert left(tmp_path, *states) == pytest.approx([abs(slope.item()), turned.norm().item()], rel=1e-4)


def test_it_begins_with_the_numbers_of_the_page_and_moves_as_asked(tmp_path):
    script = """
        const first = now();
        slide("Layers", 3); const three = now().said;
        slide("Layers", 4); const four = now().said;
        slide("Layers", 8); all("input[type=radio]")[1].click(); const same = now();
        slide("Factor", -1); const cancelled = now();
        slide("Layers", 16); slide("Factor", 1.5); const most = now();
        return { first, three, four, same, cancelled, most, curve: all(".live-curve circle").length };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "depth"}, figures=["depth"])
    assert [row[1:] for row in found["first"]["rows"]] == [["0.000066", "1.41"], ["0.00022", "1.35"]]
    assert "falls below a hundredth at layer 4. With sums, 256 paths lead" in found["first"]["said"]
    assert "The plain stack keeps more than a hundredth" in found["three"]
    assert "at layer 4" in found["four"]
    assert [row[2] for row in found["same"]["rows"]] == ["8.16", "6.27"]
    assert [row[1:] for row in found["cancelled"]["rows"]] == [["1", "0"], ["1", "0"]]
    assert found["most"]["rows"][0][2] == "2,328,306"
    assert found["curve"] == 32


def test_what_it_says_that_one_has_learned_is_what_it_computes(tmp_path):
    learned = said("depth", "learned")
    states = [{"depth": depth, "first": 99} for depth in (3, 4)] + [{}, {"turn": "same"}, {"turn": "same", "depth": 16}]
    found = left(tmp_path, *states, {"turn": "same", "factor": -1}, {"depth": 2, "first": 3})
    assert [round(value, 4) for value in found] == [0.027, 0.0081, 1.4116, 8.1573, 66.5417, 0, 0.09]
    assert "three plain layers leave 0.027, and a fourth leaves 0.0081" in learned
    assert "eight layers leave 1.41; in the direction of x, they leave 8.16, and sixteen leave 66.54" in learned
    assert "the first two layers still leave 0.09, and 64 of the 256 paths remain" in learned
    assert math.log2(64) == 8 - 2
