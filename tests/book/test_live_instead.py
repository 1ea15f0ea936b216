"""What stands for a live figure in print and without scripts: a picture, or the numbers that the figure shows."""

import json
import re

from live_pages import PAGES, answer
from live_said import in_chromium, instead

QUERY = """
    const list = (numbers) => numbers.join(", ").replaceAll("-", "−"), inPlane = (at) => "(" + list(at) + ")";
    const write = (query, { scores, weights, context }) =>
      [inPlane(query), list(scores), weights.map(LIVE.percent).join(", "), inPlane(context.map((v) => LIVE.signed(v)))];
    const keys = [[1, 0], [0, 1], [1, 1]], values = [[4, 0], [0, 4], [4, 4]];
    return [[2, 1], [0, 1], [-1, 2]].map((at) => write(at, LIVE.attendInPlane(at, keys, values, "dot", 1)));"""
SHARPER = """
    const keys = LIVE.pairs([2, 1, 1, 4, 1, 0]), kinds = ["dot", "nearest", "cosine"];
    const bread = (kind, beta) => LIVE.percent(LIVE.attendInPlane([2, 1], keys, keys, kind, beta).weights[0]);
    return [0.25, 1, 4].map((beta) => kinds.map((kind) => bread(kind, beta)));"""
BOTTLENECK = """
    const model = LIVE.PlainSeq2Seq(await LIVE.load("plain_numbers"));
    const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
    const right = (numbers) => {
      const { tokens } = LIVE.throughOneVector(model, english(numbers).map((word) => ENGLISH.indexOf(word)));
      const written = tokens.filter((token) => token !== LIVE.EOS).map((token) => GERMAN[token]).join(" ").split(" , ");
      return LIVE.sideBySide(numbers.map((n) => german([n]).join(" ")), written).filter(([a, b]) => a === b).length;
    };
    return GIVEN.lists.map((list) => list.map((_, n) => String(right(list.slice(0, n + 1)))));"""
POSITIONS = """
    return [1, 2, 3, 4].map((hands) => GIVEN.distances.map((d) => LIVE.signed(LIVE.scoreOfHands(d, -60, hands))));"""
ONLINE = """
    const last = (scores, shrunk) => LIVE.onlineSoftmax(scores, [1, 2, 3, 4], 2, shrunk).at(-1);
    const context = ({ summed, total }) => (summed / total).toFixed(4);
    return [[2, 4, 6, 5]].map((scores) =>
      [last(scores).shrink.toFixed(4), context(last(scores)), context(last(scores, false))]);"""
FEATURE_MAP = """
    const signs = [1, ...Array(14).fill(0), 1];
    const rows = [15, 1].map((at) => GIVEN.betas.map((beta) => LIVE.mapWeights(signs, 0, beta)[at].toFixed(3)));
    return rows;"""
SHARPNESS = """
    const weight = (lead, n, scaled) => LIVE.percent(LIVE.weightOfLeader(lead, n, scaled ? LIVE.lengthFactor(n) : 1));
    return [[4, 0], [4, 1], [2, 1]].map(([lead, scaled]) => GIVEN.sizes.map((n) => weight(lead, n, scaled)));"""
MEMORIES = """
    const kinds = ["full", "sum", "fade", "delta", "gated"], shown = (v) => LIVE.signed(v);
    const three = (kind) => LIVE.remember(kind, GIVEN.keys, [3, 5, 10, 2]).answers.slice(0, 3);
    return kinds.map((kind) => three(kind).map(shown));"""
SELF_ATTENTION = """
    const key = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const from = (...cells) => key.map((_, i) => Number(cells.includes(i)));
    const row = (query, sign = 1) => {
      const all = LIVE.numbersOfVerbs({ query, key, value: [0, 0, sign, 0], features: 3, causal: 0 });
      return [...all.map(({ number }) => LIVE.signed(number)), String(all.filter(({ right }) => right).length)];
    };
    return [row(key), row(from(4)), row(from(4, 6)), row(from(4), -1)];"""
BINDING = """
    const start = { words: [0, 1, 2], colours: [0, 1, 2], asked: 1, bind: "head", a: 1, c: 0 };
    return GIVEN.changes.map((change) => {
      const { weights, named } = LIVE.bindAndFind({ ...start, ...change });  // named: horse, cup, …, green, red, blue
      return [weights[2], weights[3], weights[6], named[1], named[6]].map(LIVE.percent);
    });"""
REINFORCE = """
    const start = [0.5, 0.3, 0.2], given = [-3, -1, -2], lower = [-6, -4, -5];
    const ways = [["none"], ["constant", -2.2], ["others"]];
    const row = (way) => [
      ...[given, lower].map((rewards) => LIVE.spreadOfEstimate(2, start, rewards, ...way).variance.toFixed(2)),
      LIVE.percent(LIVE.trainedByDraws(20, 2, start, lower, ...way)),
    ];
    return [...ways.map(row), ["0", "0", LIVE.percent(LIVE.trainedByDraws(20, 2, start, lower, "exact"))]];"""
TAPE = """
    const machine = LIVE.NTM(await LIVE.load("ntm"));
    const copied = (text, rows) => Array.from(LIVE.copyText(machine, text, rows).answer);
    const wrong = (text, rows) => String(copied(text, rows).filter((one, i) => one !== text[i]).length);
    const texts = LIVE.tapeTexts;
    const row = (text) => [64, 128, 256].map((n) => wrong(text, n));
    return { lengths: texts.map((text) => text.length), wrong: texts.map(row) };"""

DEPTH = """
    const start = { factor: 0.3, turn: "angle", depth: 8 };
    const top = (state, first) => LIVE.leftOfDifference({ ...start, ...state, first }).at(-1);
    return GIVEN.states.map((state) => [99, 1].map((first) => top(state, first)));"""

WRITING = """
    const { right, steps } = LIVE.writers;
    const wrong = (name) => steps[name].findIndex(({ word }, i) => word !== right[i]);
    const shown = (name) => (wrong(name) < 0 ? "none" : String(wrong(name) + 1));
    return [["global", "local_m", "local_p", "walking"].map(shown)];"""

COURIER = """
    const cities = [[0.2, 0.8], [0.5, 0.3], [0.4, 0.6], [0.1, 0.3], [0.9, 0.6]];
    const { trip, steps } = LIVE.driven(LIVE.Courier(await LIVE.load("courier")), cities);
    const shown = (n) => (chance, i) => (trip.slice(0, n + 1).includes(i) ? "×" : chance.toFixed(2));
    return steps.map((row, n) => ["from " + trip[n], ...row.map(shown(n))]);"""


def table(chapter, figure):
    """The rows of the table that stands for a figure, as lists of cells, without the head."""
    lines = [
        line.strip().strip("|").split("|") for line in instead(chapter, figure).splitlines() if line.startswith("|")
    ]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def test_a_picture_or_numbers_stand_wherever_a_figure_stands_alone():
    found = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if page.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")
        for name, inside in re.findall(r":::\{live\} (\w+)\n(.*?)^:::", text, re.DOTALL | re.MULTILINE):
            found[page.name, name] = re.sub(r"^:start:.*$", "", inside, flags=re.MULTILINE)
    assert len(found) > 8
    bare = {key for key, text in found.items() if "```{image}" not in text and len(re.findall(r"\d+", text)) < 2}
    assert bare == set()


class TestNumbers:
    """Each number of these tables is the figure's own."""

    pytestmark = in_chromium

    def test_of_the_query(self, tmp_path):
        assert table("00_attention_map", "query") == answer(tmp_path, QUERY, figures=["query"])

    def test_of_a_sharper_softmax(self, tmp_path):
        assert [row[1:] for row in table("03_scores", "query")] == answer(tmp_path, SHARPER, figures=["query"])

    def test_of_the_bottleneck(self, tmp_path):
        given = {"lists": [[27, 504, 927, 493, 230, 46]]}
        found = answer(tmp_path, BOTTLENECK, ["plain_numbers"], given, ["bottleneck"])
        assert [row[1:] for row in table("01_seq2seq", "bottleneck")] == found

    def test_of_positions(self, tmp_path):
        given = {"distances": [2, 3, 14, 38]}
        found = answer(tmp_path, POSITIONS, given=given, figures=["positions"])
        assert [row[1:] for row in table("08_heads_positions", "positions")] == found

    def test_of_the_feature_map(self, tmp_path):
        found = answer(tmp_path, FEATURE_MAP, given={"betas": [1, 3, 4.5, 8]}, figures=["feature_map"])
        assert [row[1:] for row in table("16_sagan", "feature_map")] == found

    def test_of_the_online_softmax(self, tmp_path):
        assert [row[1:] for row in table("12_longer_text", "online_softmax")] == answer(
            tmp_path, ONLINE, figures=["online_softmax"]
        )

    def test_of_the_sharpness(self, tmp_path):
        found = answer(tmp_path, SHARPNESS, given={"sizes": [2, 24, 48, 96, 768]}, figures=["sharpness"])
        assert [row[1:] for row in table("17_beyond_lengths_evidence", "sharpness")] == found

    def test_of_the_memories(self, tmp_path):
        given = {"keys": [[1, 0], [0, 1], [0.6, 0.8], [0.6, 0.8]]}  # 10 and then 2 under one key
        found = answer(tmp_path, MEMORIES, given=given, figures=["memories"])
        assert [row[1:] for row in table("20_attention_today", "memories")] == found

    def test_of_the_stack(self, tmp_path):
        states = [{}, {"factor": 0.6}, {"turn": "same"}, {"turn": "same", "factor": -1}]
        found = answer(tmp_path, DEPTH, given={"states": states}, figures=["depth"])
        rows = [[float(cell) for cell in row[3:]] for row in table("05_gnmt", "depth")]
        assert [[float(f"{value:.2g}") if value < 1 else round(value, 2) for value in row] for row in found] == rows

    def test_of_self_attention(self, tmp_path):
        found = answer(tmp_path, SELF_ATTENTION, figures=["self_attention"])
        assert [row[1:] for row in table("07_self_attention", "self_attention")] == found

    def test_of_the_binding(self, tmp_path):
        changes = [{"bind": "nothing"}, {}, {"bind": "convolution"}, {"bind": "convolution", "c": 1}]
        found = answer(tmp_path, BINDING, given={"changes": changes}, figures=["binding"])
        assert [row[1:] for row in table("15_snail", "binding")] == found

    def test_of_reinforce(self, tmp_path):
        found = answer(tmp_path, REINFORCE, figures=["reinforce"])
        assert [row[1:] for row in table("06_captioning", "reinforce")] == found

    def test_of_the_tape(self, tmp_path):
        found, rows = answer(tmp_path, TAPE, ["ntm"], figures=["tape"]), table("13_ntm_evidence", "tape")
        assert [row[1:] for row in rows] == found["wrong"]
        assert [int(re.search(r"\d+", row[0])[0]) for row in rows] == found["lengths"]

    def test_of_the_writers(self, tmp_path):
        assert table("04_luong", "writing") == answer(tmp_path, WRITING, figures=["writing"])

    def test_of_the_courier(self, tmp_path):
        assert table("14_pointer_networks", "courier") == answer(tmp_path, COURIER, ["courier"], figures=["courier"])
