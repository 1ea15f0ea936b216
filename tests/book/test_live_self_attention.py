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
    const right = () => / (\\d) of 3/.exec(now().said)[1] + (/\\((.*)\\)\\.$/.exec(now().said)?.[1] ?? "");
"""
BEGIN = HERE + "const first = grids(); choose('causal'); return { first, masked: grids(), ...now() };"
STEPS = (
    HERE
    + """
    const found = {};
    found.start = right();
    cell("W_q: verb to number").click(); // 1
    found.plural = right();
    press("Q = K = V = X"); found.bare = right();
    press("a verb searches for a noun");
    for (let n = 0; n < 4; n++) { cell("W_v: number to number").click(); } // 2, −2, −1, 0
    found.nothing = now().said;
    press("a verb searches for a noun");
    for (let n = 0; n < 3; n++) { cell("W_v: number to number").click(); }
    found.minority = right();
    choose("and how early");
    press("a verb searches for a noun"); found.alone = right();
    press("… for an early noun"); found.early = right(); found.number = now().said;
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
    assert first["Scores Q Kᵀ"] == [["0"] * 4] * 3 + [["4", "4", "4", "0"]]
    assert first["Weights"] == [["0.25"] * 4] * 3 + [["0.32", "0.32", "0.32", "0.03"]]
    assert first["Contexts"] == [["−0.25"]] * 3 + [["−0.32"]]
    masked = found["masked"]
    assert masked["Scores Q Kᵀ"][0] == ["0", "−∞", "−∞", "−∞"]
    assert masked["Weights"][1] == ["0.50", "0.50", "0.00", "0.00"]
    assert masked["Contexts"][0] == ["1.00"]
    assert masked["Contexts"][3] == ["−0.32"]  # the mask changes only the rows above
    assert (
        "means “is”. For the subject, keys, this is wrong. With these matrices 1 of 3 sentences is right (3)."
        in found["said"]
    )


def test_what_one_can_learn_is_what_the_buttons_show(tmp_path):
    found = answer(tmp_path, ROBOT + STARTS + STEPS, given=GIVEN, figures=["self_attention"])
    assert (found["start"], found["bare"], found["plural"]) == ("13", "13", "11")
    assert found["minority"] == "21, 2"
    assert "neither verb" in found["nothing"]
    assert (found["alone"], found["early"], found["without"]) == ("13", "31, 2, 3", "13")
    assert "is 0.33" in found["number"]


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
