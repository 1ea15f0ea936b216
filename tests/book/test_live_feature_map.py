"""The live map of Chapter 16: it begins with the chapter's numbers, computes a softmax of dot products, and says so."""

import math
import re

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import said

from attnbook.attention import attend, dot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
BETAS = [half / 2 for half in range(17)]


def test_it_computes_attention_between_features_of_one_sign_each(tmp_path):
    signs = torch.randint(3, (16,), generator=torch.Generator().manual_seed(0))
    script = (
        "return GIVEN.betas.map((beta) => GIVEN.queries.map((query) => LIVE.mapWeights(GIVEN.signs, query, beta)));"
    )
    given = {"signs": signs.tolist(), "betas": BETAS, "queries": list(range(16))}
    found = torch.tensor(answer(tmp_path, script, given=given, figures=["feature_map"]))  # (17, 16, 16)
    features = torch.nn.functional.one_hot(signs, 3)[:, 1:].float()[None]  # (1, 16, 2): an empty position is (0, 0)
    for beta, weights in zip(BETAS, found, strict=True):
        torch.testing.assert_close(
            weights, attend(beta * features, features, features, score=dot)[1][0], atol=1e-6, rtol=0
        )


def test_what_it_says_that_one_has_learned_is_what_it_computes(tmp_path):
    learned = said("feature_map", "learned")
    script = """
        const at = (place, beta) => {
          const signs = Array(16).fill(0);
          signs[0] = signs[place] = 1;
          return LIVE.mapWeights(signs, 0, beta)[place];
        };
        const empty = LIVE.mapWeights(Array(16).fill(0), 3, 3);
        return { far: GIVEN.betas.map((beta) => at(15, beta)), near: at(1, 3), empty };"""
    found = answer(tmp_path, script, given={"betas": BETAS}, figures=["feature_map"])
    far = dict(zip(BETAS, found["far"], strict=True))
    assert f"With β = 3 each corner has the weight {far[3.0]:.3f}" in learned
    assert found["near"] == pytest.approx(far[3.0])
    first = min(beta for beta, weight in far.items() if weight > 0.45)
    least = math.log(14 * 0.45 / (1 - 2 * 0.45))  # where e^β / (2 e^β + 14) is 0.45
    assert f"where β is larger than ln 63 = {least:.2f}, so that {first} is the first step of the slider" in learned
    assert math.exp(least) == pytest.approx(63)
    assert found["empty"] == pytest.approx([1 / 16] * 16)


def test_it_begins_with_the_numbers_of_the_chapter_and_draws_where_one_presses(tmp_path):
    start = dict(asked(ROOT / "chapters/16_sagan.ipynb"))["feature_map"]
    script = """
        const before = now().said;
        all("input[type=radio]")[1].click();
        box.querySelector("[data-cell='0,1']").click();
        return { before, after: now().said };"""
    found = answer(
        tmp_path, ROBOT + STARTS + script, given={"name": "feature_map", "start": start}, figures=["feature_map"]
    )
    assert "the other circle have the weight 0.371 each; each of the 14 other positions has 0.018." in found["before"]
    assert found["before"].endswith("the query’s colour becomes −0.35.")  # that of the chapter
    assert "and the 2 other circles have the weight 0.274 each" in found["after"]


def test_one_weight_is_written_in_one_way(tmp_path):
    script = """
        slide("Sharpness β", 0);
        return { said: now().said, cells: texts("td:not(:has(button))"), heads: texts("thead tr:first-child th") };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "feature_map"}, figures=["feature_map"])
    assert set(re.findall(r"0\.\d+", found["said"].split(" So ")[0])) == set(found["cells"]) == {"0.063"}
    assert found["heads"] == ["row", "column"] * 2
