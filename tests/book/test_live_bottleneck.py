"""What the live figure of one vector says of lists of numbers: it is what the page computes."""

from live_pages import answer
from live_said import in_chromium, said

pytestmark = in_chromium

LISTS = """
    const model = LIVE.PlainSeq2Seq(await LIVE.load("plain_numbers"));
    const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
    const right = (list) => {
      const { tokens } = LIVE.throughOneVector(model, english(list).map((word) => ENGLISH.indexOf(word)));
      const words = tokens.filter((token) => token !== LIVE.EOS).map((token) => GERMAN[token]).join(" ");
      const pairs = LIVE.sideBySide(list.map((n) => german([n]).join(" ")), words.split(" , "));
      return pairs.filter(([a, b]) => a === b).length;
    };
    let seed = 7;
    const below = (most) => (seed = (seed * 48271) % 2147483647) % most;
    const six = (number) => Array.from({ length: 6 }, number);
    const mean = (list) => Array.from({ length: 100 }, () => right(list())).reduce((a, b) => a + b) / 100;
    const equal = () => new Array(6).fill(below(1000));
    const random = (most) => () => six(() => below(most));
    const means = { random: mean(random(1000)), equal: mean(equal), digits: mean(random(10)) };
    return { means, example: right([611, 611, 611, 611, 611, 611]), digits: right([3, 8, 5, 1, 9, 2]) };"""
PAIRED = """
    const pairs = (...two) => LIVE.sideBySide(...two.map((one) => one.split(""))).map((pair) => pair.join(""));
    return [pairs("abcdef", "abcxf"), pairs("abc", "bc"), pairs("ab", "axb"), pairs("ab", "xy"), pairs("", "a")];"""


def test_equal_numbers_are_mostly_right_and_numbers_of_one_digit_are_not(tmp_path):
    found = answer(tmp_path, LISTS, ["plain_numbers"], figures=["bottleneck"])
    learned, means = said("bottleneck", "learned"), found["means"]
    assert f"about {means['equal']:.1f} of six equal numbers are right" in learned
    assert f"{means['random']:.1f} of six random ones" in learned
    assert f"{means['digits']:.1f} of six of one digit" in learned
    assert (found["example"], found["digits"]) == (6, 4)
    assert "four of the six in the third example" in learned


def test_a_number_that_is_missing_leaves_the_others_in_their_rows(tmp_path):
    found = answer(tmp_path, PAIRED, figures=["bottleneck"])
    assert found[1:] == [["a", "bb", "cc"], ["aa", "x", "bb"], ["ax", "by"], ["a"]]
    assert sum(pair in ("aa", "bb", "cc", "ff") for pair in found[0]) == 4
    assert found[0][-1] == "ff"
