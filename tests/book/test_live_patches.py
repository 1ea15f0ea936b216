"""The live photograph of Chapter 16: the weights are those of DINOv2, and what the figure says is what it computes."""

import pytest
import torch
from browser import chromium
from live_pages import answer
from live_said import instead, percent, said

from attnruns.experiments.shuffled_patches import LIVE, distances
from attnruns.results import load_result

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
SHARES = """
    const { seen } = await LIVE.load("patches"), query = 249;
    return seen.heads.map((one) => {
      const rows = LIVE.patchWeights(one);
      return { mean: LIVE.meanNearShare(rows), one: LIVE.nearShare(rows[query], query), row: rows[query] };
    });"""


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("patches"), SHARES, ["patches"], figures=["patches"])


def test_the_mean_shares_are_those_of_the_record(heads):
    (run,) = load_result("shuffled_patches")["runs"]
    for (layer, head), found in zip(LIVE, heads, strict=True):
        assert found["mean"] == pytest.approx(run["beside"][1][layer - 1][head - 1], abs=0.01)


def test_a_share_is_that_of_the_weights_of_the_patches_around_the_patch(heads):
    near = distances(16)[249] == 1
    for found in heads:
        assert found["one"] == pytest.approx((torch.tensor(found["row"]) * near).sum().item(), abs=1e-6)


def test_the_texts_and_the_table_give_these_shares(heads):
    learned, static = said("patches", "learned"), instead("16_sagan", "patches")
    for found in heads:
        assert percent(found["mean"]) in learned
        assert f"{percent(found['mean'])} | {percent(found['one'])} |" in static


def test_from_the_background_one_head_leads_to_the_upper_flower():
    (run,) = load_result("photographs")["runs"]
    ground = [run["flowers"]["background_to_upper"][layer - 1][head - 1] for layer, head in LIVE]
    assert ground[1] < 0.05
    assert ground[2] > 0.5 > run["flowers"]["upper_area"]
