"""The live figure of self-attention by hand: it begins with Step 4, and what it says that one can learn is so."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer

from attnbook.attention import attend, causal_mask

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
GIVEN = {"name": "self_attention"}
HERE = """
    const grids = () => Object.fromEntries(all(".live-tiles > div").map((one) =>
      [texts(".live-head", one)[0], all("tbody tr", one).map((row) => texts("td", row))]));
    const cell = (name) => all("button").find((one) => one.getAttribute("aria-label") === name);
    const choose = (words) =>
      all(".live-choice label").find((one) => one.textContent === words).querySelector("input").click();
    const verbs = () => all(".live-table tbody tr").map((row) => texts("td", row));
    const right = () => verbs().flatMap(([name, , , verb]) => (verb.endsWith("right") ? [name[0]] : [])).join();
    const marked = () => all(".live-buttons button").map((one) => one.getAttribute("aria-pressed") === "true");
"""
BEGIN = (
    HERE
    + "const first = grids(), start = marked(); choose('causal');"
    + "return { first, start, verbs: verbs(), masked: grids(), ...now() };"
)
STEPS = (
    HERE
    + """
    const found = {};
    found.start = right();
    cell("W_q: verb to number").click(); // 1
    found.plural = right();
    found.changed = marked();
    press("Q = K = X"); found.bare = right(); found.pressed = marked();
    press("a verb searches for a noun");
    for (let n = 0; n < 4; n++) { cell("W_v: number to number").click(); } // 2, −2, −1, 0
    found.nothing = verbs()[0];
    press("a verb searches for a noun");
    for (let n = 0; n < 3; n++) { cell("W_v: number to number").click(); }
    found.minority = right();
    choose("and how early");
    press("a verb searches for a noun"); found.alone = right();
    press("… for an early noun"); found.early = right(); found.number = verbs()[0]; found.said = now().said;
    press("the same, keys without “early”"); found.without = right();
    return found;"""
)
RANDOM = """
    return GIVEN.all.map((state) => [0, 1, 2].map((which) =>
      LIVE.selfAttention(LIVE.tinySentence(which, state.features), state)));"""


def test_it_begins_with_the_numbers_of_step_4(tmp_path):
    found = answer(tmp_path, ROBOT + STARTS + BEGIN, given=GIVEN, figures=["self_attention"])
    first = found["first"]
    assert first["X"] == [["2", "0", "1"], ["2", "0", "−1"], ["2", "0", "−1"], ["0", "2", "0"]]
    assert first["W_q"] == [["0", "0", "0"], ["1", "0", "0"], ["0", "0", "0"]]
    assert found["start"] == [False, True]
    assert first["Scores / √3"] == [["0.0"] * 4] * 3 + [["2.3", "2.3", "2.3", "0.0"]]
    assert first["Scores Q Kᵀ"] == [["0"] * 4] * 3 + [["4", "4", "4", "0"]]
    assert first["Weights (softmax)"] == [["0.25"] * 4] * 3 + [["0.32", "0.32", "0.32", "0.03"]]
    assert first["Contexts"] == [["−0.25"]] * 3 + [["−0.32"]]
    masked = found["masked"]
    assert masked["Scores Q Kᵀ"][0] == ["0", "−∞", "−∞", "−∞"]
    assert masked["Weights (softmax)"][1] == ["0.50", "0.50", "0.00", "0.00"]
    assert masked["Contexts"][0] == ["1.00"]
    assert masked["Contexts"][3] == ["−0.32"]  # the mask changes only the rows above
    assert found["verbs"] == [
        ["1: keys cabinet farmer ?", "are", "−0.32", "is, wrong"],
        ["2: key cabinets farmers ?", "is", "0.32", "are, wrong"],
        ["3: farmer cabinet keys ?", "is", "−0.32", "is, right"],
    ]
    assert found["said"] == "The verb is right in 1 of 3 sentences: in sentence 3."


def test_what_one_can_learn_is_what_the_buttons_show(tmp_path):
    found = answer(tmp_path, ROBOT + STARTS + STEPS, given=GIVEN, figures=["self_attention"])
    assert (found["start"], found["bare"], found["plural"]) == ("3", "3", "1")
    assert (found["changed"], found["pressed"]) == ([False, False], [True, False])
    assert found["minority"] == "1,2"
    assert found["nothing"][2:] == ["0.00", "neither, wrong"]
    assert (found["alone"], found["early"], found["without"]) == ("3", "1,2,3", "3")
    assert found["number"][2:] == ["0.33", "are, right"]
    assert found["said"] == "The verb is right in 3 of 3 sentences."


@pytest.mark.parametrize("features", [3, 4])
def test_it_computes_what_the_package_does_and_without_positions_the_order_changes_nothing(features, tmp_path):
    draw = torch.Generator().manual_seed(features)
    drawn = [torch.randint(-2, 3, (36,), generator=draw).tolist() for _ in range(20)]
    states = [
        {"features": features, "causal": n % 2, "query": w[:16], "key": w[16:32], "value": w[32:]}
        for n, w in enumerate(drawn)
    ]
    found = answer(tmp_path, RANDOM, given={"all": states}, figures=["self_attention"])
    for state, (first, _, third) in zip(states, found, strict=True):
        early = torch.tensor([[3.0], [2], [1], [0]])
        x = torch.cat([torch.tensor([[2.0, 0, 1], [2, 0, -1], [2, 0, -1], [0, 2, 0]]), early], dim=1)[:, :features]
        w_q, w_k = (torch.tensor(state[name]).float().view(4, 4)[:features, :features] for name in ("query", "key"))
        w_v = torch.tensor(state["value"]).float()[:features, None]
        mask = causal_mask(4) if state["causal"] else None
        contexts, weights = attend((x @ w_q)[None], (x @ w_k)[None], (x @ w_v)[None], mask=mask)
        torch.testing.assert_close(torch.tensor(first["contexts"]), contexts[0, :, 0], atol=1e-4, rtol=0)
        torch.testing.assert_close(torch.tensor(first["weights"]), weights[0], atol=1e-5, rtol=0)
        if features == 3:
            assert third["contexts"][3] == pytest.approx(first["contexts"][3], abs=1e-6)
