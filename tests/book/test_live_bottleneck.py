"""What the live figure of one vector says of lists of numbers: it is what the page computes."""

import re

from live_pages import ROOT, answer
from live_said import in_chromium, said

pytestmark = in_chromium
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "starts"))

LISTS = """
    const model = LIVE.PlainSeq2Seq(await LIVE.load("plain_numbers"));
    const right = (list) => LIVE.listJudged(model, list).right;
    return { example: right([611, 611, 611, 611, 611, 611]), digits: right([3, 8, 5, 1, 9, 2]) };"""
COUNTED = """
    const status = () => texts("p.live-before[role=status]")[0], first = now().said;
    press("Count a hundred lists of each kind");
    for (let i = 0; i < 400 && !status().startsWith("Correct"); i++) { await wait(100); }
    const field = all("input[type=text]")[0];
    field.value = GIVEN.list;
    field.form.requestSubmit();
    return { first, counted: status(), ...now() };"""
PAIRED = """
    const pairs = (...two) => LIVE.sideBySide(...two.map((one) => one.split(""))).map((pair) => pair.join(""));
    return [pairs("abcdef", "abcxf"), pairs("abc", "bc"), pairs("ab", "axb"), pairs("ab", "xy"), pairs("", "a")];"""


def test_six_equal_numbers_are_right_and_four_of_six_below_ten(tmp_path):
    found = answer(tmp_path, LISTS, ["plain_numbers"], figures=["bottleneck"])
    assert (found["example"], found["digits"]) == (6, 4)
    assert "four of the six in the third list" in said("bottleneck", "learned")


def test_the_means_are_counted_in_the_page_and_numbers_without_a_partner_are_explained(tmp_path):
    given = {"name": "bottleneck", "list": "747, 863, 824, 897, 891, 875"}
    found = answer(tmp_path, ROBOT + STARTS + COUNTED, ["plain_numbers"], given, ["bottleneck"])
    learned = said("bottleneck", "learned")
    random, equal, digits = re.findall(r"\d\.\d", found["counted"])
    assert (
        f"about {equal} of six equal numbers are correct, {random} of six random ones, and {digits} of six below ten"
        in learned
    )
    assert {"(extra)", "✗ (missing)"} <= {cell for row in found["rows"] for cell in row}
    assert "“(missing)” or “(extra)” stands where a number has no partner" in found["said"]
    assert "(extra)" not in found["first"]


def test_a_number_that_is_missing_leaves_the_others_in_their_rows(tmp_path):
    found = answer(tmp_path, PAIRED, figures=["bottleneck"])
    assert found[1:] == [["a", "bb", "cc"], ["aa", "x", "bb"], ["ax", "by"], ["a"]]
    assert sum(pair in ("aa", "bb", "cc", "ff") for pair in found[0]) == 4
    assert found[0][-1] == "ff"


CHANGED = """
    const model = LIVE.PlainSeq2Seq(await LIVE.load("plain_numbers")), list = [27, 504, 927];
    const vector = (numbers) => Array.from(LIVE.listJudged(model, numbers).vector);
    const [before, after] = [vector(list.slice(0, 2)), vector(list)];
    return { alone: LIVE.changedByLast(model, [27]), changed: LIVE.changedByLast(model, list), before, after };"""


def test_framed_are_the_entries_that_the_last_number_changed(tmp_path):
    found = answer(tmp_path, CHANGED, ["plain_numbers"], figures=["bottleneck"])
    both = zip(found["before"], found["after"], strict=True)
    assert found["alone"] == []
    assert found["changed"] == [i for i, (one, two) in enumerate(both) if abs(two - one) > 0.2]
    assert 0 < len(found["changed"]) < 128
