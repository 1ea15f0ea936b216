"""The live stack of Chapter 5: it begins with the numbers of the page, and multiplies as networks of one number do."""

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
        slide("Factor", 0.5); const half = now().said;
        slide("Factor", 0.6); const enough = now().said;
        slide("Factor", 0.3); all("input[type=radio]")[1].click(); const same = now();
        slide("Factor", -1); const cancelled = now();
        slide("Layers", 16); slide("Factor", 1.5); const most = now();
        const curve = all(".live-curve circle").length, names = texts(".live-curve text");
        slide("Factor", 0.3); const tiny = now();
        return { first, half, enough, same, cancelled, most, curve, names, tiny };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "depth"}, figures=["depth"])
    assert [row[1:] for row in found["first"]["rows"]] == [["0.000066", "1.41"], ["0.00022", "1.35"]]
    assert "8 plain layers leave 0.000066, less than a hundredth. With sums, 1.41 is left" in found["first"]["said"]
    assert "leave 0.0039, less than a hundredth" in found["half"]
    assert "leave 0.017, at least a hundredth" in found["enough"]
    assert [row[2] for row in found["same"]["rows"]] == ["8.16", "6.27"]
    assert [row[1:] for row in found["cancelled"]["rows"]] == [["1", "0"], ["1", "0"]]
    assert found["most"]["rows"][0][2] == "2,328,306"
    assert found["curve"] == 16 + 12  # 2.5 to the power of 13 and more lie above the axis
    assert {"sum ↑", "plain", "10,000", "10⁻⁶", "input", "layer", "16"} <= set(found["names"])
    assert found["tiny"]["rows"][0][1] == "4.3\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}10⁻⁹"


def test_what_it_says_that_one_has_learned_is_what_it_computes(tmp_path):
    learned = said("depth", "learned")
    states = [{"factor": factor, "first": 99} for factor in (0.6, 0.5)] + [{}, {"turn": "same"}]
    found = left(tmp_path, *states, {"turn": "same", "factor": -1})
    assert [round(value, 4) for value in found] == [0.0168, 0.0039, 1.4116, 8.1573, 0]
    assert "With the factor 0.6, eight plain layers leave 0.017, and with 0.5 only 0.0039" in learned
    assert "with 0.3, eight layers leave 1.41 at a right angle, and 8.16 in the direction of x" in learned
    assert "with the factor −1 in the direction of x, each f(x) cancels its input" in learned
