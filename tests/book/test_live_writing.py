"""The live decoders of Chapter 4: what is recorded is what the trained models do, and what is said of it is true."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import said

from attnbook.data.symbols.numbers import number_list
from attnruns.experiments import ten_exchange

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
EIGHT = number_list([6, 42, 7, 85, 29, 63, 4, 58])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("writing"), "return LIVE.writers;", figures=["writing"])


def first_wrong(recorded, name):
    """The number of the first wrong word, counted from 1, and its step; nothing if all are right."""
    wrong = [t for t, one in enumerate(recorded["steps"][name]) if one["word"] != recorded["right"][t]]
    return (wrong[0] + 1, recorded["steps"][name][wrong[0]]) if wrong else None


@pytest.mark.parametrize("name", ["global", "local_m", "local_p", "walking"])
def test_the_record_is_what_the_models_do(recorded, name):
    file = ten_exchange.file_with(name, 0)
    source, _ = file["batch_of"]([(EIGHT.source, EIGHT.target)])
    with torch.no_grad():
        logits, weights, centres = ten_exchange.trained(name)(source, 40)
    words = [file["TARGET"][word] for word in logits[0].argmax(dim=-1).tolist()]
    steps = recorded["steps"][name]
    assert [one["word"] for one in steps] == words[: words.index("end") + 1]
    for t, one in enumerate(steps):
        assert one["weights"] == pytest.approx(weights[0, t].tolist(), abs=0.011)
        assert one["centre"] == pytest.approx(centres[0, t].item(), abs=0.02)


def test_the_list_is_the_chapters(recorded):
    assert tuple(recorded["source"]) == EIGHT.source
    assert tuple(recorded["right"]) == (*EIGHT.target, "end")


def test_what_it_says_that_one_has_learned_is_recorded(recorded):
    learned = said("writing", "learned")
    at, step = first_wrong(recorded, "global")
    assert (at, recorded["right"][at - 1], step["word"]) == (9, "fünf", "neun")
    largest = max(range(20), key=lambda j: step["weights"][j])
    assert recorded["source"][largest] == "nine"
    assert f"“nine” of twenty nine has the largest weight, {100 * step['weights'][largest]:.0f} %" in learned
    at, step = first_wrong(recorded, "local_p")
    assert f"Local-p fails at word {at}, where its centre is already near “four”" in learned
    assert abs(step["centre"] - recorded["source"].index("four")) < 1
    at, step = first_wrong(recorded, "local_m")
    assert f"Local-m fails at word {at}" in learned
    assert step["centre"] - recorded["source"].index("three") > 2  # behind the window
    assert first_wrong(recorded, "walking") is None
    centres = [one["centre"] for one in recorded["steps"]["walking"]]
    assert centres == sorted(centres)


def test_it_begins_with_the_global_model_and_goes_on_word_by_word(tmp_path):
    start = dict(asked(ROOT / "chapters/04_luong.ipynb"))["writing"]
    script = """
        const first = now().said;
        for (let i = 0; i < 8; i++) { press("Next word"); }
        const wrong = { said: now().said, marked: texts("mark") };
        return { first, wrong };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "writing", "start": start}, figures=["writing"])
    assert found["first"].startswith("Word 1: the model writes “sechs”, which is right.")
    assert "writes “neun”; right would be “fünf”" in found["wrong"]["said"]
    assert found["wrong"]["marked"] == ["neun ×"]
