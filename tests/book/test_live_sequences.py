"""What the aligner, the beam and the translator say that one can see in them: it is what the page computes."""

import copy
import re

import pytest
import torch
from live_pages import ROOT, answer, rounded_as_packed
from live_said import in_chromium, instead, percent, said, script

from attnruns.translate import translator

pytestmark = in_chromium

ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "starts"))
ALIGNED = """
    const model = LIVE.AttentionSeq2Seq(await LIVE.load("numbers"));
    const { ENGLISH, GERMAN, english } = LIVE.numbersInWords;
    const source = (list) => english(list).map((word) => ENGLISH.indexOf(word));
    const read = source([7, 342, 85]), words = (steps) => steps.map((step) => GERMAN[step.token]);
    const shares = Array.from({ length: 101 }, (_, n) => n / 100);
    const becomes = (step, key) => shares.map((share) => words(LIVE.aligned(model, read, { step, key, share }))[step]);
    const own = LIVE.aligned(model, read), at = ({ weights }) => english([7, 342, 85])[LIVE.largest(weights, 1)[0]];
    const moved = own.map(({ only, token }) => read.filter((_, key) => only(key) !== token).length);
    const eight = LIVE.aligned(model, source([11, 22, 33, 44, 55, 66, 77, 88]));
    const values = model.start(read).annotations;
    return {
      moved, largest: own.map((step) => [GERMAN[step.token], at(step)]),
      seven: becomes(4, 0), forty: becomes(4, 5), hundred: read.map((_, key) => becomes(3, key)[100]),
      eight: words(eight), weights: eight[10].weights,
      values: values.map((v) => Array.from(v)), plane: LIVE.flattened(values),
      hand: LIVE.byHand([0.5, 0.3, 0.2], 0, 0.8), bare: LIVE.byHand([0, 1], 1, 0.25),
    };"""
BEAMS = """
    const pack = await LIVE.load("translator"), model = LIVE.Transformer(pack), { pieces } = pack;
    const source = LIVE.BytePairs(pieces.source), target = LIVE.BytePairs(pieces.target);
    const words = (tokens) => tokens.filter((token) => token !== LIVE.EOS).map((token) => target.pieces[token]);
    return GIVEN.sentences.map((sentence) => {
      const start = model.start(source.numbers(source.encode(sentence)));
      const end = (width, alpha) => {
        const [{ tokens, total }] = LIVE.write(model, start, { width, alpha }).kept;
        return { tokens, text: target.decode(words(tokens)), total };
      };
      const greedy = end(1, 0.6), steps = [...LIVE.beamSteps(model, start, { width: 3, alpha: 0.6 })];
      const places = steps.map((step) => LIVE.placeOf(greedy.tokens, step.kept));
      return { greedy, places, two: end(2, 0.6), three: end(3, 0.6), long: end(3, 1.5),
        none: end(3, 0), twelve: end(3, 1.2), thirteen: end(3, 1.3) };
    });"""
SWITCHED = """
    const pack = await LIVE.load("translator"), { pieces } = pack;
    const source = LIVE.BytePairs(pieces.source), target = LIVE.BytePairs(pieces.target);
    const without = (off) => LIVE.Transformer(pack, (...at) => (off.includes(at.join()) ? "zero" : undefined));
    const read = (off) => LIVE.translation(without(off), source, target, GIVEN.sentence, 5);
    const whole = read([]), needed = {};
    for (const kind of ["cross", "encoder", "self"]) {
      const heads = Array.from({ length: 18 }, (_, n) => [kind, Math.floor(n / 6), n % 6].join());
      needed[kind] = heads.filter((head) => read([head]).text !== whole.text).length;
    }
    const off = without(GIVEN.off), ids = source.numbers(whole.source);
    return {
      ids, needed, source: whole.source, target: whole.target, options: whole.options,
      cross: whole.weights.cross[2].map((map) => map.map((row) => Array.from(row))),
      first: Array.from(off.step(LIVE.BOS, off.start(ids)).logits),
    };"""
ROOF = """
    const pack = await LIVE.load("translator"), { pieces } = pack;
    const source = LIVE.BytePairs(pieces.source), target = LIVE.BytePairs(pieces.target);
    const whole = LIVE.Transformer(pack);
    const { options, weights, source: own } = LIVE.translation(whole, source, target, GIVEN.sentence, 5);
    const cross = weights.cross[2].map((map) => map.map((row) => Array.from(row)));
    return { options, cross, source: own };"""
TOLD = """
    const said = () => now().said.replaceAll("\u00a0", " "), start = said();
    all(".live-words[role=group] button")[3].click();
    const second = said(), names = texts(".live-bars span");
    slide("Weight of", 90);
    return { start, second, names, forced: said() };"""
OFF = (("cross", 1, 4), ("encoder", 0, 2), ("self", 2, 1))


DOUBTS = """
    const pairs = LIVE.BytePairs((await LIVE.load("translator")).pieces.source);
    return GIVEN.texts.map((text) => LIVE.doubts(pairs, text));"""


def examples(figure):
    """The sentences that a figure offers."""
    offered = re.search(r"EXAMPLES = \[(.*?)\];", script(figure), re.DOTALL)[1]
    return re.findall(r'"(.*)"', offered)


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("aligner"), ALIGNED, ["numbers"], figures=["aligner"])


@pytest.fixture(scope="module")
def beams(tmp_path_factory):
    given = {"sentences": examples("beam")}
    return answer(tmp_path_factory.mktemp("beam"), BEAMS, ["translator"], given, ["beam"])


@pytest.fixture(scope="module")
def switched(tmp_path_factory):
    given = {"sentence": examples("translator")[0], "off": [",".join(map(str, head)) for head in OFF]}
    return answer(tmp_path_factory.mktemp("translator"), SWITCHED, ["translator"], given, ["translator"])


def test_at_which_weight_the_written_word_changes(aligned):
    learned = said("aligner", "learned")
    assert set(aligned["seven"]) == {"zwei", "sieben"}
    assert f"“sieben” when “seven” has {aligned['seven'].index('sieben')} %" in learned
    assert set(aligned["forty"]) == {"zwei", "vierzig"}
    assert f"“vierzig” when “forty” has {aligned['forty'].index('vierzig')} %" in learned
    assert set(aligned["hundred"]) == {"hundert"}


def test_how_many_words_change_the_output_is_what_all_the_weight_at_each_does(aligned):
    assert aligned["moved"][3] == aligned["hundred"].count("hundert") - len(aligned["hundred"]) == 0
    assert aligned["moved"][4] == 9  # all but “two” itself


def test_the_landing_page_says_where_the_largest_weights_of_its_list_lie(aligned):
    wanted = {
        "drei": "three",
        "zwei": "two",
        "vierzig": "forty",
        "sieben": "seven",
        "fünf": "five",
        "achtzig": "eighty",
    }
    found = dict(aligned["largest"])
    assert {word: found[word] for word in wanted} == wanted
    assert found["hundert"] == "eighty"
    page = (ROOT / "book/index.md").read_text(encoding="utf-8")
    assert "each number word but *hundert* has its largest weight at its English word" in page
    assert "*hundert* has it at *eighty*, and not at *hundred*" in page


def test_what_a_step_says_of_its_word_is_computed(tmp_path):
    given = {"name": "aligner"}
    found = answer(tmp_path, ROBOT + STARTS + TOLD, ["numbers"], given, ["aligner"])
    assert found["start"].endswith("With all the weight at one source word, “zwei” changes for 9 of 10.")
    assert found["second"].endswith("“hundert” changes for none of 10.")
    assert ", as with its own weights. With all" in found["forced"]
    assert [name for name in found["names"] if "(written)" in name] == ["hundert (written)"]
    assert not any("✓" in name for name in found["names"])  # a tick says that something is right


def test_in_which_step_a_list_of_eight_goes_wrong(aligned):
    right = ["elf", ",", "zwei", "und", "zwanzig", ",", "drei", "und", "dreißig", ",", "vier"]
    assert aligned["eight"][:10] == right[:10]
    assert (aligned["eight"][10], right[10]) == ("sechs", "vier")
    shares = sorted(aligned["weights"], reverse=True)[:3]
    found = "in step 11: “six”, “four” and “five” have {}, {} and {}".format(*map(percent, shares))
    assert found in said("aligner", "learned")


def test_a_weight_by_hand_leaves_the_others_their_proportions(aligned):
    assert aligned["hand"] == pytest.approx([0.8, 0.12, 0.08])
    assert aligned["bare"] == pytest.approx([0.75, 0.25])


def test_the_plane_of_the_values_is_that_of_their_first_two_principal_components(aligned):
    values = torch.tensor(aligned["values"]).double()
    u, s, _ = torch.linalg.svd(values - values.mean(dim=0), full_matrices=False)
    points = torch.tensor(aligned["plane"]["points"]).double()
    assert torch.allclose(points.abs(), (u[:, :2] * s[:2]).abs(), atol=1e-3)  # an axis may point either way
    share = s[:2].square().sum() / s.square().sum()
    assert aligned["plane"]["share"] == pytest.approx(share.item(), abs=1e-4)


def test_another_beginning_overtakes_that_of_greedy_search_in_step_4(beams):
    found, learned, static = beams[0], said("beam", "learned"), instead("10_decoding_evidence", "beam")
    assert [place == 0 for place in found["places"][:5]] == [True, True, True, False, False]
    assert " play " in found["greedy"]["text"]
    assert " playing " in found["three"]["text"]
    for end in (found["greedy"], found["three"]):
        assert f"−{-end['total']:.2f}" in learned
        assert f"−{-end['total']:.2f}" in static
    assert " are playing " in found["long"]["text"]
    assert f"although it is less probable (−{-found['long']['total']:.2f})" in learned


def test_a_longer_and_less_probable_text_wins_from_alpha_1_3_on(beams):
    found = beams[0]
    assert found["none"] == found["twelve"]
    assert found["thirteen"] == found["long"] != found["twelve"]
    assert len(found["thirteen"]["text"].split()) == len(found["twelve"]["text"].split()) + 1
    assert found["thirteen"]["total"] < found["twelve"]["total"]


def test_in_two_examples_greedy_search_finds_the_same(beams):
    assert all(found["greedy"] == found["three"] for found in beams[1:3])


def test_a_beam_of_two_ends_worse_than_greedy_search_and_one_of_three_better(beams):
    greedy, two, three = (beams[3][name]["total"] for name in ("greedy", "two", "three"))
    assert two < greedy < three
    assert f"(−{-two:.2f} against −{-greedy:.2f})" in said("beam", "learned")
    assert f"a more probable one (−{-three:.2f})" in said("beam", "learned")


def test_how_many_heads_of_the_translator_change_a_word(switched):
    learned, needed = said("translator", "learned"), switched["needed"]
    assert f"{needed['cross']} of the 18 heads from target to source change a word" in learned
    assert f"{needed['encoder']} of those within the source, and {needed['self']} of those within the target" in learned


def test_what_the_sentence_about_the_roof_shows(tmp_path):
    views = (ROOT / "book/live/parts/translator_views.js").read_text("utf-8")
    roof = re.search(r'RECORDED = \{\s+"(.*?)"', views)[1]
    lower = "const other = LIVE.translation(whole, source, target, GIVEN.lower, 5);"
    asked = ROOF.replace("return {", f"{lower} return {{ lower: other.options[2], other: other.text,")
    given = {"sentence": roof, "lower": roof.replace("Rep", "rep")}
    found = answer(tmp_path, asked, ["translator"], given, ["translator"])
    learned = re.search(r"sentence === ROOF.*?learned:\s+\"(.*?)\",", script("translator"), re.DOTALL)[1]
    (first, chance), (second, next_chance) = found["options"][2][:2]
    assert (first, second, found["lower"][0][0]) == ("▁repair", "▁working", "▁fixing")
    assert f"with {percent(chance)} only; “working” has {percent(next_chance)}" in learned
    assert f"“fixing” with {percent(found['lower'][0][1])}" in learned
    assert "fixing the roof" in found["other"]
    row = torch.tensor(found["cross"]).mean(dim=0)[2]
    assert found["source"][int(row.argmax())] == "par"


def test_to_what_climbing_and_up_attend_and_what_could_stand_for_up(switched):
    source, target = switched["source"], switched["target"]
    mean = torch.tensor(switched["cross"]).mean(dim=0)  # over the heads of the last layer: (T, Tk)
    climbing, up = target.index("▁climbing"), target.index("▁up")
    assert mean[climbing, source.index("▁steigen")] > 0.9
    eine, stairs, hinauf = (mean[up, source.index(f"▁{word}")] for word in ("eine", "Treppe", "hinauf"))
    assert hinauf < min(eine, stairs)
    assert [piece for piece, _ in switched["options"][up][:2]] == ["▁a", "▁up"]
    assert source.count("▁verschnei") == source.count("te") == 1


def test_a_text_unlike_the_captions_is_doubted_and_the_examples_are_not(tmp_path):
    strange = [
        "Ich liebe dich.",
        "The weather is nice in England today.",
        "我爱你",
        "Der Präsident sprach über die Wirtschaft.",
    ]
    texts = [*examples("translator"), *examples("beam"), *strange]
    found = answer(tmp_path, DOUBTS, ["translator"], {"texts": texts}, ["translator"])
    assert found[:-4] == [""] * (len(texts) - 4)
    assert all("captions of photographs" in doubt for doubt in (found[-4], found[-3], found[-1]))
    assert "has hardly read “Ich”, “liebe”, “dich”:" in found[-4]
    assert found[-2].startswith("The model has never seen “我”, “爱”, “你”")


@torch.no_grad()
def test_a_head_that_is_off_gives_zero_as_in_pytorch(switched):
    model = rounded_as_packed(copy.deepcopy(translator()[0]), "translator")  # others use the kept one
    for kind, layer, head in OFF:
        block = (model.encoder if kind == "encoder" else model.decoder).layers[layer]
        attention = block.cross_attention if kind == "cross" else block.self_attention
        attention.project_output.weight[:, 32 * head : 32 * head + 32] = 0  # 192 features, six heads
    ids = torch.tensor([switched["ids"]])
    wanted = model(ids, torch.tensor([ids.shape[1]]), torch.tensor([[1]]))[0][0, 0]
    assert (torch.tensor(switched["first"]) - wanted).abs().max() < 1e-4
