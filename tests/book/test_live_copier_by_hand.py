"""The live copier of Chapter 17: it writes and scores as the chapter's cells do, and says what it does."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import instead, said

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
CHAPTER = ROOT / "chapters/17_beyond_lengths.ipynb"
LONG = "thequickbrownfoxjumpsover"
BEGUN = {"letters": 25, "strength": 6, "peak": 7, "first": 1, "fastest": "slowed", "second": 1}
SETTINGS = [
    BEGUN | {"letters": letters, "strength": strength, "peak": peak, "first": first, "second": second}
    for letters, strength, peak in ((25, 6, 7), (25, 0, 7), (12, 6, 7), (25, 6, 12), (25, 2.5, 7), (18, 6, 7))
    for first, second in ((1, 1), (1, 0.5), (0.5, 1), (0.5, 0.5))
]
SETTINGS += [BEGUN | {"second": step / 20} for step in range(1, 20)]
SETTINGS += [
    BEGUN | how | {"first": step / 20, "fastest": fastest}
    for how in ({"strength": 0}, {"second": 0.5})
    for fastest in ("slowed", "kept")
    for step in range(5, 20)
]
SETTINGS += [BEGUN | {"first": 0.5, "fastest": "kept", "second": 0.5}]
SETTINGS += [BEGUN | {"peak": peak} for peak in range(2, 17) if peak not in (7, 12)]
SETTINGS += [BEGUN | {"letters": letters} for letters in range(2, 25) if letters not in (12, 18)]
# After so many letters two keys stand equally far from the middle on both sides, with equal contents: rounding decides.
TIED = {"19 letters, middle 7": 1, "25 letters, middle 14": 12}
COMPUTED = """
    return GIVEN.settings.map((how) => {
      const string = GIVEN.long.slice(0, how.letters);
      const { content, preference } = LIVE.attendByHand("|" + string + "|", how);
      return { written: LIVE.writeByHand(string, how), scores: content.map((score, key) => score + preference[key]) };
    });"""


@pytest.fixture(scope="module")
def chapter():
    """The functions of the chapter's cells."""
    names = {"torch": torch}
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    with redirect_stdout(StringIO()):
        for cell in cells:
            if cell["id"] in ("hand-first", "hand-second", "hand-write", "hand-preference"):
                exec("".join(cell["source"]), names)
    return names


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """What the figure writes, and scores for the first letter, with each of the settings."""
    given = {"settings": SETTINGS, "long": LONG}
    return answer(tmp_path_factory.mktemp("copier"), COMPUTED, given=given, figures=["copier_by_hand"])


def test_it_writes_and_scores_as_the_chapter(chapter, computed):
    for how, found in zip(SETTINGS, computed, strict=True):
        fastest = 1.0 if how["fastest"] == "kept" else how["first"]
        scales = torch.tensor([fastest] + 7 * [how["first"]]), how["second"]
        chosen = {"strength": how["strength"], "peak": how["peak"], "scales": scales}
        string = LONG[: how["letters"]]
        same = TIED.get(f"{how['letters']} letters, middle {how['peak']}", len(string))
        wrote = chapter["write_by_hand"](string, chapter["scores_by_hand"], **chosen)
        assert found["written"][:same] == wrote[:same], how
        scores = chapter["scores_by_hand"](f"|{string}|", **chosen)
        assert found["scores"] == pytest.approx(scores.tolist(), abs=1e-3), how


def written(computed, **how):
    """What it writes with these settings; those not named are the figure's own."""
    return computed[SETTINGS.index(BEGUN | how)]["written"]


def test_what_it_says_that_one_has_learned_is_what_it_computes(computed):
    learned = said("copier_by_hand", "learned")
    assert "From × 0.60 of the second layer on the whole string is right, and it stays right" in learned
    repaired = [step / 20 for step in range(1, 20) if written(computed, second=step / 20) == LONG]
    assert repaired == [step / 20 for step in range(1, 13)]
    assert "With the second layer at × 0.50 it may be slowed to × 0.70" in learned
    slow = {step: written(computed, second=0.5, first=step / 20) for step in range(5, 20)}
    assert [step for step, text in slow.items() if text == LONG] == list(range(14, 20))
    assert "If its fastest pair keeps its speed, the others may be slowed to × 0.25" in learned
    assert all(written(computed, second=0.5, first=step / 20, fastest="kept") == LONG for step in range(5, 20))


def test_the_table_in_its_place_has_what_it_writes(computed):
    lines = [line.strip(" |").split(" | ") for line in instead("17_beyond_lengths", "copier_by_hand").splitlines()]
    rows = [row for row in lines if row[0][:1].isdigit()]
    assert len(rows) == 4
    for second, first, fastest, text in rows:
        fastest = "slowed" if fastest == "–" else fastest  # at full speed nothing is slowed, whatever is chosen
        assert text == written(computed, fastest=fastest, first=float(first), second=float(second))


SHOWN = """
    const shown = () => ({
      ...now(), text: texts(".live-text")[0], names: texts(".live-bars span"),
      points: texts(".live-curve circle + text"), sliders: texts(".live-slider span"),
    });
    const label = (name) => all(".live-choice label").find((one) => one.textContent === name);
    const take = (name) => label(name).querySelector("input").click();"""


def test_it_begins_with_the_chapters_failure_and_the_second_layer_repairs_it(tmp_path):
    start = dict(asked(CHAPTER))["copier_by_hand"]
    script = """
        const first = shown();
        slide("Second layer", 0.5);
        const repaired = shown();
        slide("First layer", 0.5);
        const skips = shown();
        take("keeps its speed");
        return { first, repaired, skips, kept: shown() };"""
    given = {"name": "copier_by_hand", "start": start}
    found = answer(tmp_path, ROBOT + STARTS + SHOWN + script, given=given, figures=["copier_by_hand"])
    assert found["first"]["text"] == "wnfoxjumpsoveroxjumpsover"
    assert found["first"]["said"] == "Already the first letter is wrong: “w” for “t”, which stands 25 positions back."
    assert found["first"]["sliders"] == ["Second layer: positions", "First layer: positions"]
    assert found["first"]["points"] == ["w", "t"]
    assert found["first"]["names"] == ["w, 14 back", "o, 3 positions", "m, 7 back", "t, 25 back (right)"]
    sums = ["6.6 = 2.0 + 4.6", "largest: 5.7 = 0.0 + 5.7", "6.0 = 0.0 + 6.0", "2.6 = 4.0 + (−1.4)"]
    assert found["first"]["bars"] == [sums]
    assert found["repaired"]["text"] == LONG
    assert found["repaired"]["points"] == ["t"]
    assert found["repaired"]["said"] == "All 25 letters are right."
    assert found["repaired"]["bars"][0][0] == "9.1 = 4.0 + 5.1"
    fault = "Then the copier writes “e” (2 positions, whose weights add up) for “h”, which stands 25 positions back."
    assert found["skips"]["said"] == "Right so far: t. " + fault
    assert found["kept"]["said"] == "All 25 letters are right."


def test_a_link_may_hold_other_lengths_and_the_weights_of_equal_letters_are_added(tmp_path):
    given = {"name": "copier_by_hand", "start": "letters:19"}
    found = answer(tmp_path, ROBOT + STARTS + SHOWN + "return shown();", given=given, figures=["copier_by_hand"])
    assert found["text"].startswith("o")
    assert found["names"][:2] == ["o, 5 and 9 back", "k, 12 back"]
    assert found["points"] == ["o", "o", "t"]
    assert "“o” (2 positions, whose weights add up) for “t”" in found["said"]


def test_sums_that_would_look_equal_have_two_decimals(tmp_path):
    given = {"name": "copier_by_hand", "start": "letters:25;strength:9"}
    found = answer(tmp_path, ROBOT + STARTS + SHOWN + "return shown();", given=given, figures=["copier_by_hand"])
    first = found["bars"][0]
    assert len(set(first)) == len(first)
