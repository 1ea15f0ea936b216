"""The live REINFORCE of Chapter 6: its variances and trainings are those of the chapter's formulas."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import said

from attnbook.training.reinforce import leave_one_out_baseline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
EARLY, SURE, REWARDS = [0.5, 0.3, 0.2], [0.96, 0.02, 0.02], [-3.0, -1.0, -2.0]
WAYS = ["none", "constant", "others"]
SPREAD = "return GIVEN.all.map((one) => LIVE.spreadOfEstimate(...one));"
TRAINED = "return GIVEN.all.map((one) => LIVE.trainedByDraws(...one));"


def plain(text):
    return text.replace("\u00a0", " ")


def shifted(by):
    return [reward + by for reward in REWARDS]


def spread(draws, chances, rewards, way, constant):
    """Mean and variance over all sequences of draws, by the package's baseline."""
    alpha, R = torch.tensor(chances, dtype=torch.float64), torch.tensor(rewards, dtype=torch.float64)
    drawn = torch.cartesian_prod(*[torch.arange(3)] * draws)  # (3 ** K, K)
    baseline = {"none": 0.0, "constant": constant, "others": leave_one_out_baseline(R[drawn])}[way]
    each = ((R[drawn] - baseline)[..., None] * (torch.eye(3) - alpha)[drawn]).mean(dim=1)  # (3 ** K, 3)
    p = alpha[drawn].prod(dim=1)
    mean = p @ each
    return mean.tolist(), (p @ ((each - mean) ** 2).sum(dim=1)).item()


@pytest.mark.parametrize("start", [EARLY, SURE])
def test_means_and_variances_are_those_over_all_draws(start, tmp_path):
    given = [[K, start, shifted(by), way, -2.2] for K in (2, 4) for by in (0, -3) for way in WAYS]
    exact = (torch.tensor(start) * (torch.tensor(REWARDS) - torch.tensor(start) @ torch.tensor(REWARDS))).tolist()
    for found, one in zip(answer(tmp_path, SPREAD, given={"all": given}, figures=["reinforce"]), given, strict=True):
        mean, variance = spread(*one)
        assert found["mean"] == pytest.approx(mean, abs=1e-9)
        assert mean == pytest.approx(exact, abs=1e-6)
        assert found["variance"] == pytest.approx(variance, abs=1e-9)


def test_trainings_come_to_what_the_figure_says_that_one_has_learned(tmp_path):
    ways, learned = [*WAYS, "exact"], said("reinforce", "learned")
    given = [[steps, 2, start, shifted(by), way, -2.2]
             for start, by, steps in ((EARLY, 0, 100), (EARLY, -3, 100), (SURE, 0, 20)) for way in ways]  # fmt: skip
    found = answer(tmp_path, TRAINED, given={"all": given}, figures=["reinforce"])
    as_given, lowered, sure = (dict(zip(ways, found[at : at + 4], strict=True)) for at in (0, 4, 8))
    assert min(as_given.values()) > 0.98
    assert "changes neither the exact gradient nor leave-one-out" in learned
    assert lowered["exact"] == pytest.approx(as_given["exact"], abs=1e-6)
    assert lowered["others"] == pytest.approx(as_given["others"], abs=1e-6)
    assert "with −3 many trainings become sure of a wrong cell" in learned
    assert lowered["none"] < 0.75
    assert "all learn late, even along the exact gradient" in learned
    assert max(sure.values()) < 0.3
    scores = torch.tensor(SURE).log()
    for _ in range(20):
        alpha = scores.softmax(dim=0)
        scores = scores + 0.5 * alpha * (torch.tensor(REWARDS) - alpha @ torch.tensor(REWARDS))
    assert sure["exact"] == pytest.approx(scores.softmax(dim=0)[1].item(), abs=1e-4)


def test_it_begins_on_the_harder_canvas_and_comes_back_to_that_of_the_chapter(tmp_path):
    start = dict(asked(ROOT / "chapters/06_captioning.ipynb"))["reinforce"]
    script = """
        const first = now(); slide("Added to all rewards", 0); const given = now();
        slide("Draws per step", 4); const four = now(); slide("Draws per step", 2);
        slide("Added to all rewards", 2); const level = now().said;
        slide("Constant b", -0.2); slide("Steps of training", 100);
        return { first, given, four, level, late: now().said };"""
    given = {"name": "reinforce", "start": start}
    found = answer(tmp_path, ROBOT + STARTS + script, given=given, figures=["reinforce"])
    begins, given_back = (plain(found[name]["said"]) for name in ("first", "given"))
    assert "The rewards are −6.0, −4.0, −5.0, and the expected reward is −5.2." in begins
    assert "Leave-one-out has the least variance here, 0.47: 0 and b = −2.2 are far from the expected reward." in begins
    assert "the exact gradient, (−0.40, 0.36, 0.04)" in begins
    assert "The rewards are −3.0, −1.0, −2.0, and the expected reward is −2.2." in given_back
    assert "The constant b has the least variance here, 0.09: b = −2.2 is near the expected reward." in given_back
    variances = {name: found[name]["bars"][0][:6:2] for name in ("first", "given", "four")}  # beside each a percentage
    assert variances == {
        "first": ["7.60", "2.37", "0.47"],
        "given": ["1.22", "0.09", "0.47"],
        "four": ["0.61", "0.04", "0.11"],
    }
    assert "No baseline has the least variance here, 0.07: b = 0 is near the expected reward." in plain(found["level"])
    assert "no baseline is the constant 0, which wins at +2" in said("reinforce", "learned")
    assert "After 100 steps all four have learned the seven" in found["late"]


def test_the_axes_hold_every_variance_that_the_sliders_reach(tmp_path):
    given = [[K, start, shifted(by), way, b] for K in (2, 8) for start in (EARLY, SURE)
             for by in (-4, -2, 0, 2, 4) for way in WAYS for b in (-7, -3, 0, 3)]  # fmt: skip
    variances = [each["variance"] for each in answer(tmp_path, SPREAD, given={"all": given}, figures=["reinforce"])]
    assert 0.001 < min(variances) < max(variances) < 100


def test_the_best_constant_is_the_one_that_the_figure_names(tmp_path):
    constants = [round(-7 + 0.1 * n, 1) for n in range(101)]  # those of the slider
    given = [[2, EARLY, shifted(-3), "constant", b] for b in constants]
    variances = [each["variance"] for each in answer(tmp_path, SPREAD, given={"all": given}, figures=["reinforce"])]
    assert constants[variances.index(min(variances))] == -4.9
    assert "the variance is least at −4.9, and not at the expected reward, −5.2" in said("reinforce", "learned")
