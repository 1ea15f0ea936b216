"""What captioner, masks, SmolLM2's heads and next words say that one can see: it is what the page computes."""

import pytest
import torch
from live_pages import ROOT, answer
from live_said import around, in_chromium, instead, percent, said, script

from attnbook.attention import causal_mask
from attnruns.experiments import captioning

pytestmark = in_chromium

ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "starts"))
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
CAPTIONED = """
    const soft = LIVE.Captioner(await LIVE.load("soft")), pack = await LIVE.load("hard");
    const placed = [2, 7, 6, 6, 10, 18, 8, 19, 17], image = LIVE.canvasOf(placed);
    const at = ({ word, weights }) => {
      const [cell] = LIVE.largest(weights, 1);
      return { word, most: weights[cell], on: LIVE.digitOn(placed, cell) };
    };
    let seed = 5;
    const draw = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    const hard = LIVE.Captioner(pack, { hard: true }), drawing = LIVE.Captioner(pack, { hard: true, draw });
    const start = drawing.start(image, 28), words = (steps) => steps.map((step) => step.word).join(" ");
    return {
      image: Array.from(image), soft: LIVE.captioned(soft, image).map(at), hard: LIVE.captioned(hard, image).map(at),
      drawn: Array.from({ length: 200 }, () => words(LIVE.captioned(drawing, image, start))),
      empty: [soft, hard].map((model) => words(LIVE.captioned(model, LIVE.canvasOf([])))),
    };"""
TOLD = """
    const said = () => now().said.replaceAll("\u00a0", " "), here = said();
    press("Next word of both");
    choose("a drawn position");
    press("Draw twenty more");
    return { here, counted: texts(".live-before")[0] };"""
ELSEWHERE = """
    const model = LIVE.Captioner(await LIVE.load("soft"));
    let seed = 5;
    const below = (most) => (seed = (seed * 48271) % 2147483647) % most;
    const names = Array.from({ length: 10 }, (_, digit) => LIVE.digitName(digit)), found = {};
    const free = (placed, row, column) => LIVE.digitsOf(placed).every((one) =>
      Math.abs(one.row - row) >= 8 || Math.abs(one.column - column) >= 8);
    for (const count of [3, 6]) {
      let [at, all] = [0, 0];
      for (let n = 0; n < 40; n++) {
        const placed = [];
        for (let tries = 0; placed.length < 3 * count && tries < 300; tries++) {
          const [row, column] = [below(21), below(21)];
          if (free(placed, row, column)) { placed.push(below(10), row, column); }
        }
        for (const { word, weights } of LIVE.captioned(model, LIVE.canvasOf(placed))) {
          const [most] = LIVE.largest(weights, 1);
          all += names.includes(word);
          at += names.includes(word) && LIVE.below(placed, [], most).some((digit) => names[digit] === word);
        }
      }
      found[count] = at / all;
    }
    return { found, ink: LIVE.below([3, 0, 0], [0, 28 * 27 + 27], 0), corner: LIVE.below([], [28 * 27 + 27], 48) };"""
HEADS = """
    const { sentences } = await LIVE.load("smollm2_heads");
    const scores = (one) => LIVE.mapsOf(one).map((heads) => heads.map((map) => LIVE.headScores(map, one.pieces)));
    return sentences.map((one) => ({ pieces: one.pieces, repeats: LIVE.repeats(one.pieces), scores: scores(one) }));"""
NEXT_WORDS = """
    const { beginnings } = await LIVE.load("smollm2_next_words");
    const settings = [[1, 1], [2, 1], [1, 0.9], [2, 0.3], [2, 0.35]];
    return beginnings.map((one) => settings.map(([temperature, p]) => {
      const chances = LIVE.chances(LIVE.allLogits(one), { temperature, k: 0, p });
      const rest = chances.slice(200).reduce((a, b) => a + b, 0);
      return { rest, kept: chances.filter((chance) => chance > 0).length };
    }));"""
STORIES = """
    const { told } = await LIVE.load("smollm2_stories");
    return told.stories.map(({ rule, seed, steps }) => ({ rule, seed, ...LIVE.countsOf(steps) }));"""
LEAKS = """
    const leaks = (layers) => LIVE.reach(GIVEN.mask, 6, layers).map((set, q) => [...set].filter((j) => j > q).sort());
    return [leaks(1), leaks(2)];"""


@pytest.fixture(scope="module")
def captioned(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("captioner"), CAPTIONED, ["soft", "hard"], figures=["captioner"])


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("heads"), HEADS, ["smollm2_heads"], figures=["smollm2_heads"])


@pytest.fixture(scope="module")
def next_words(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("sampling"), NEXT_WORDS, ["smollm2_next_words"], figures=["sampling"])


def over_half(sentence, kind):
    """The heads (layer, head), counted from 1, that give more than half of their attention to this kind."""
    rows = enumerate(sentence["scores"], start=1)
    return {(i, j) for i, row in rows for j, head in enumerate(row, start=1) if head[kind] > 0.5}


def test_the_captioner_starts_with_the_canvas_of_the_printed_figure(captioned):
    assert "START = [2, 7, 6, 6, 10, 18, 8, 19, 17]" in script("captioner")
    held_out = captioning.held_out_canvases(3)
    assert torch.equal(torch.tensor(captioned["image"]).view(28, 28), held_out.image[0, 0])


def test_the_largest_weight_lies_at_the_digit_that_soft_attention_names(captioned):
    named = [step for step in captioned["soft"] if step["word"] in DIGITS]
    assert [step["word"] for step in named] == ["two", "six", "eight"]
    assert all(DIGITS[step["on"]["digit"]] == step["word"] for step in named)
    spread = [percent(step["most"]) for step in captioned["soft"] if step["word"] in ("left", "above")]
    assert "the largest is {} and {}".format(*spread) in said("captioner", "learned")


def test_on_other_canvases_it_mostly_does_and_less_often_with_more_digits(tmp_path):
    answered = answer(tmp_path, ELSEWHERE, ["soft"], figures=["captioner"])
    assert answered["found"]["6"] + 0.05 < answered["found"]["3"] < 0.95
    assert answered["found"]["6"] > 0.5
    assert (answered["ink"], answered["corner"]) == ([3, -1], [-1])  # −1: what the pen drew


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (
            "placed:8,14,19,8,3,15,9,4,7;step:1",
            "at “nine” its largest weight, 68 %, lies at the eight, and not at the digit named",
        ),
        ("placed:;ink:0,1,28,29,56,57,84,85;step:1", "lies at what the pen drew"),
    ],
)
def test_where_the_largest_weight_lies_is_computed_on_every_canvas(start, told, tmp_path):
    choose = (
        "const choose = (name) => all('label').find((one) => one.textContent === name).querySelector('input').click();"
    )
    given = {"name": "captioner", "start": start}
    found = answer(tmp_path, ROBOT + STARTS + choose + TOLD, ["soft", "hard"], given, ["captioner"])
    assert told in found["here"]
    assert found["counted"].startswith("21 captions so far, each with newly drawn positions: ")


def test_hard_attention_reads_a_cell_of_the_eight_and_names_a_five(captioned):
    words = [step["word"] for step in captioned["hard"]]
    assert words == ["a", "two", "left", "of", "a", "six", "right", "of", "a", "five", "(end)"]
    assert captioned["hard"][words.index("five")]["on"]["digit"] == 8


def test_about_every_tenth_drawn_caption_is_another_one(captioned):
    drawn = captioned["drawn"]
    usual = max(set(drawn), key=drawn.count)
    assert 0.06 < 1 - drawn.count(usual) / len(drawn) < 0.16
    assert "about every tenth caption is another one" in said("captioner", "learned")


def test_an_empty_canvas_is_a_nine_for_both(captioned):
    assert captioned["empty"] == ["a nine (end)"] * 2


def test_all_shares_of_heads_are_means_over_the_positions_of_a_repetition(heads):
    for sentence in heads:
        pieces = [piece.strip() for piece in sentence["pieces"]]
        assert sentence["repeats"] == [q for q, piece in enumerate(pieces) if piece in pieces[:q]]
        assert sentence["repeats"]


def test_shares_of_heads_by_hand(tmp_path):
    script = "return LIVE.headScores([[1], [0.5, 0.5], [0.1, 0.7, 0.2], [0.4, 0.3, 0.2, 0.1]], ['a', 'b', 'a', 'b'])"
    shares = answer(tmp_path, script, figures=["smollm2_heads"])  # the positions 2 and 3; 1 and 2 followed them
    assert shares == pytest.approx({"first": 0.25, "previous": 0.45, "induction": 0.45})


def test_induction_is_shown_at_a_repeated_word(tmp_path):
    script = """
        const map = [[1], [0.5, 0.5], [0.1, 0.7, 0.2], [0.1, 0.1, 0.8, 0]];
        const at = (q) => LIVE.repeatedAt(map, [..."abab"], q);
        return [at(2), at(3), at(1)];"""
    assert answer(tmp_path, script, figures=["smollm2_heads"]) == [2, 3, 3]  # induction has 0.7 at 2, and 0.8 at 3


def test_how_many_heads_are_of_each_kind(heads):
    kinds = ("first", "previous", "induction")
    counts = [[len(over_half(sentence, kind)) for kind in kinds] for sentence in heads]
    learned, static = said("smollm2_heads", "learned"), instead("19_real_model", "smollm2_heads")
    first, previous, induction = counts[1]
    assert f"{first} of the 270 heads" in learned
    assert f"Only {previous} give it to the position before, and {induction}, all in the layers 18" in learned
    assert f"{previous} heads give more than half of their attention to the token before" in static
    assert f"token before, and {induction}, all in layers 18 and 19" in static
    assert {layer for layer, _ in over_half(heads[1], "induction")} == {18, 19}
    assert (counts[0], counts[2]) == ([83, 4, 1], [87, 5, 1])
    assert "it is 83 and 87, 4 and 5, and one head each" in learned


def test_four_heads_attend_to_the_position_before_in_all_sentences(heads):
    assert len(set.intersection(*(over_half(sentence, "previous") for sentence in heads))) == 4


def test_how_much_the_words_without_a_name_have_together(next_words):
    cold, hot, _, with_names, beyond = next_words[0]
    found = f"{percent(cold['rest'])} together at temperature 1, and {percent(hot['rest'])} at temperature 2"
    assert found in said("sampling", "learned")
    assert found in instead("10_decoding_evidence", "sampling")
    assert with_names["rest"] == 0 < beyond["rest"]  # a nucleus of 0.30, and of 0.35


def test_how_many_tokens_a_nucleus_keeps(next_words):
    capital, upon, dinner = (settings[2]["kept"] for settings in next_words)
    learned = said("sampling", "learned")
    assert f"keeps {capital} tokens after “The capital of France is”" in learned
    assert f"{dinner} after “For dinner tonight I would like to eat”, and {upon} after “Once upon" in learned


def test_what_the_stories_take_from_the_tail_and_repeat(tmp_path):
    found = answer(tmp_path, STORIES, ["smollm2_stories"], figures=["stories"])
    rows = {row.split(" | ")[0]: row for row in around("10_decoding", "stories").splitlines()}
    tails = {}
    for one in found:
        tails.setdefault(one["rule"], []).append(str(one["tail"]))
    for rule in ("temperature 0.7", "temperature 1", "temperature 1.5", "top-k 50", "nucleus 0.95"):
        assert f"| {' and '.join(tails[rule])} |" in rows[f"| {rule}"].replace("*", "")
    assert "| 0 |" in rows["| greedy decoding (never draws)"]
    learned, plain = said("stories", "learned"), [one["tail"] for one in found if one["rule"] == "temperature 1"]
    assert f"repeats {round(100 * found[0]['repeated'])} % of its pairs" in learned
    assert "take {} and {} tokens of 140 from the tail".format(*plain) in learned
    assert all(one["tail"] == 0 for one in found if one["rule"] in ("greedy", "nucleus 0.95"))


def test_one_wrong_cell_of_a_mask_spreads_to_four_of_six_positions(tmp_path):
    mask = causal_mask(6).int()
    mask[1, 5] = 1
    found = answer(tmp_path, LEAKS, given={"mask": mask.flatten().tolist()}, figures=["masks"])
    assert found == [[[], [5], [], [], [], []], [[], [2, 3, 4, 5], [5], [5], [5], []]]
