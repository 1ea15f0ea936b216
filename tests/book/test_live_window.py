"""The live window of Chapter 4: it begins with the chapter's numbers, computes what the package does, and says so."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import said

from attnbook.attention import local_attend

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
EXPONENTIALS = torch.tensor([1.0, 1, 2, 6, 1, 8])
CENTRES = [tenth / 10 for tenth in range(51)]
COMPUTED = """
    const scores = GIVEN.exponentials.map(Math.log);
    return GIVEN.centres.map((centre) => LIVE.localWindow(scores, { centre, half: 2, sigma: 1 }));"""


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """{centre: what the figure computes}."""
    given = {"exponentials": EXPONENTIALS.tolist(), "centres": CENTRES}
    found = answer(tmp_path_factory.mktemp("window"), COMPUTED, given=given, figures=["window"])
    return dict(zip(CENTRES, found, strict=True))


def test_it_computes_the_weights_of_the_package(computed):
    values = torch.zeros(1, 6, 1)  # (B, Tk, Dv)
    for centre, one in computed.items():
        _, weights = local_attend(
            torch.zeros(1, 1, 1), values, values, centre=torch.tensor([centre], dtype=torch.float64), half_width=2,
            score=lambda query, key: EXPONENTIALS.log()[None, None],
        )  # fmt: skip
        assert one["weights"] == pytest.approx(weights[0, 0].tolist(), abs=1e-6), centre


def test_what_it_says_that_one_has_learned_is_what_it_computes(computed):
    learned = said("window", "learned")
    wins = [centre for centre, one in computed.items() if max(one["weights"]) == one["weights"][5]]
    assert wins == [centre for centre in CENTRES if centre >= 3.9]
    assert "From 3.9 on, “seven” has the largest weight" in learned
    sums = {centre: f"{computed[centre]['total']:.2f}" for centre in (2.9, 3.0)}
    assert f"At 2.9, the weights sum to {sums[2.9]}, and at 3 only to {sums[3.0]}" in learned
    assert f"takes {computed[3.0]['inWindow'][5]:.2f} of the softmax" in learned
    wide = EXPONENTIALS * torch.exp(-((torch.arange(6) - 3.0) ** 2) / (2 * 5**2))  # (Tk,)
    assert wide.argmax() == 5
    assert "With σ = 5, “seven” wins even at 3" in learned


def test_it_begins_with_the_chapters_centre_and_says_how_the_sum_falls(tmp_path):
    start = dict(asked(ROOT / "chapters/04_luong.ipynb"))["window"]
    script = """
        const first = now();
        slide("Centre", 2.9);
        const at = now();
        slide("Centre", 3);
        const marked = all(".live-curve .plain").map((one) => Number(one.getAttribute("x1")));
        return { first, before: now(), at, marked };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "window", "start": start}, figures=["window"])
    softmax, gaussian, weights = found["before"]["bars"]  # the chapter's, with the centre at 3
    assert softmax == ["out", "0.06", "0.11", "0.33", "0.06", "0.44"]
    assert gaussian == ["out", "0.14", "0.61", "1.00", "0.61", "0.14"]
    assert weights == ["out", "0.01", "0.07", "0.33", "0.03", "0.06"]
    assert found["first"]["bars"] == found["before"]["bars"]
    assert "The centre is at 3.0" in found["first"]["said"]
    assert [column[5] for column in found["at"]["bars"]] == ["out"] * 3
    assert "“two” at position 3 has the largest weight, 0.33. The weights sum to 0.50." in found["before"]["said"]
    assert "The weights sum to 0.80." in found["at"]["said"]
    assert found["marked"] == [pytest.approx(640 * 3.5 / 6)]  # the centre stands over the word at position 3
