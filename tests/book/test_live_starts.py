"""Live figures begin with their chapters' numbers, and what they say about their models and answers is so."""

import json
import math
import re

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked, packs_of

from attnbook.data.points.tours import held_karp, nearest_neighbour, tour_length
from attnruns.experiments import copying_paper, pointing, trip_sizes
from attnruns.results import load_result

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))


def begun(folder, page, name, script="return now();"):
    """What `script` returns of a figure, begun as the page says."""
    starts = dict(asked(ROOT / page))
    given = {"name": name, "start": starts[name]}
    return answer(folder, ROBOT + STARTS + script, packs_of(name), given, [name])


def cell(page, name):
    """A cell of a chapter: its metadata, and what it printed."""
    cells = json.loads((ROOT / page).read_text(encoding="utf-8"))["cells"]
    found = next(one for one in cells if one["id"] == name)
    return found["metadata"], "".join(line for out in found["outputs"] for line in out.get("text", ()))


def numbers(text):
    """All numbers of a text, as it writes them."""
    return [float(number.replace("−", "-")) for number in re.findall(r"[-−]?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize(
    ("page", "scores", "values"),
    [
        ("chapters/00_attention_map.ipynb", [2.0, 1, 3], [[4.0, 0], [0, 4], [4, 4]]),
        ("book/index.md", [2.0, 1, 3], [[4.0, 0], [0, 4], [4, 4]]),
    ],
)
def test_the_query_begins_with_the_scores_and_the_context_of_the_page(page, scores, values, tmp_path):
    found = begun(tmp_path, page, "query")
    weights = torch.tensor(scores).softmax(0)
    assert [numbers(row[1])[0] for row in found["rows"]] == scores
    assert [numbers(row[2])[0] for row in found["rows"]] == pytest.approx((100 * weights).tolist(), abs=0.5)
    x, y = (weights @ torch.tensor(values)).tolist()
    assert f"The context is ({x:.2f}, {y:.2f})" in found["said"]


def test_two_keys_with_the_same_weight_are_both_told_and_a_query_past_a_key_reaches_it(tmp_path):
    script = """
        const { said } = now(), keys = [[1, 0], [0, 1], [1, 1]], values = [[4, 0], [0, 4], [4, 4]];
        return { said, past: LIVE.attendInPlane([-1, 1.5], keys, values, "dot", 1) };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "query", "start": "query:0,1"}, figures=["query"])
    assert found["said"].startswith("k₂, k₃ have the largest weights, 42\u00a0% each. The context")
    assert found["past"]["weights"][1] > 0.6
    x, y = found["past"]["context"]
    assert max(x, y) < 4 < x + y  # inside the triangle of the three values


def test_a_longer_key_has_the_largest_weight_in_more_of_the_plane_unless_the_cosine_decides(tmp_path):
    script = """
        const keys = LIVE.pairs([0.95, 0.2, 0.55, 1.05, -0.82, 0.42]);
        const longer = [keys[0].map((v) => 1.5 * v), ...keys.slice(1)];
        const plane = LIVE.plane({ label: "", range: 1.6, points: [], moved() {} });
        const weights = (all, kind) => (at) => LIVE.attendInPlane(at, all, keys, kind, 3).weights;
        const part = (all, kind) => LIVE.colour(plane, [0, 1, 2], weights(all, kind))[0];
        return ["dot", "scaled", "cosine"].map((kind) => [part(keys, kind), part(longer, kind)]);"""
    dot, scaled, cosine = answer(tmp_path, script, figures=["query"])
    assert dot[1] > dot[0] + 0.03
    assert scaled == dot
    assert cosine[1] == cosine[0]


def test_no_sharpness_gives_bread_the_largest_weight_with_the_dot_product_and_each_with_the_nearest_key(tmp_path):
    script = """
        const keys = LIVE.pairs([2, 1, 1, 4, 1, 0]), betas = [0.032, 0.25, 1, 4, 50];
        const first = (kind) => betas.map((beta) => {
          const { weights } = LIVE.attendInPlane([2, 1], keys, keys, kind, beta);
          return weights.indexOf(Math.max(...weights));
        });
        const starts = ["dot", "nearest", "cosine"].map(first), off = (k) => Math.hypot(k[0] + 1.3, k[1] - 0.4);
        const { scores } = LIVE.attendInPlane([-1.3, 0.4], keys, keys, "nearest", 1);
        return { starts, added: scores.map((score, n) => score + off(keys[n]) ** 2 / 2) };"""
    found = answer(tmp_path, script, figures=["query"])
    assert found["starts"] == [[1] * 5, [0] * 5, [0] * 5]
    assert found["added"] == pytest.approx([(1.3**2 + 0.4**2) / 2] * 3)  # the same for all keys


def test_the_gradient_begins_with_the_row_of_zwei(tmp_path):
    script = """
        const first = now(), after = (name) => { press(name); return now(); };
        return { first, wrong: after("certain and wrong"), even: after("equal scores") };"""
    found = begun(tmp_path, "chapters/02_bahdanau.ipynb", "gradient", script)
    weights = torch.tensor([0.1, 0.7, 0.1, 0.1])
    values = torch.tensor([[4.0, 0], [0, 2], [0, 0], [0, 7]])
    g_alpha = values @ (weights @ values - torch.tensor([0.0, 2]))
    gradients = weights * (g_alpha - weights @ g_alpha)
    assert [numbers(row[3])[0] for row in found["first"]["rows"]] == pytest.approx(gradients.tolist(), abs=5e-4)
    printed = cell("chapters/02_bahdanau.ipynb", "backward-row")[1].split("g_e")[1].splitlines()[1]
    assert numbers(printed) == pytest.approx(gradients.tolist(), abs=5e-4)
    assert "The score of “two” rises most: of the values on the target’s side" in found["first"]["said"]
    wrong, even = (
        int(re.search(r"From here, (\d+) more steps? halves? it", found[name]["said"])[1]) for name in ("wrong", "even")
    )
    assert {len(cell.split()[0].split(".")[1]) for row in found["first"]["rows"] for cell in row[2:4]} == {3}
    assert 100 < wrong < 1000
    assert even < 10


def test_the_online_softmax_goes_through_the_chapters_example(tmp_path):
    found = begun(tmp_path, "chapters/12_longer_text.ipynb", "online_softmax", "slide('Blocks read', 2); return now();")
    *lines, context = cell("chapters/12_longer_text.ipynb", "by-hand")[1].splitlines()
    for row, line in zip(found["rows"], lines, strict=True):
        largest, shrink, total, summed = numbers(line)
        assert numbers(row[1]) == [largest]
        assert numbers(row[2]) == ([shrink] if shrink else [])  # before the first block there is nothing to shrink
        assert numbers(row[3]) + numbers(row[4]) == [total, summed]
    assert numbers(found["rows"][-1][5]) == numbers(context)
    assert numbers(found["rows"][-1][6]) == [2.6393]  # without the factor, as in the text


def test_the_online_softmax_shows_all_blocks_of_an_example_and_marks_it(tmp_path):
    script = """
        press("largest first");
        const marked = all(".live-buttons button").filter((one) => one.getAttribute("aria-pressed") === "true");
        return { ...now(), marked: marked.map((one) => one.textContent), texts: texts("output") };"""
    found = begun(tmp_path, "chapters/12_longer_text.ipynb", "online_softmax", script)
    assert (found["marked"], found["texts"]) == (["largest first"], ["2", "3 of 3"])
    assert [numbers(row[2]) for row in found["rows"]] == [[], [1], [1]]
    assert all(row[5] == row[6] for row in found["rows"])


def test_the_online_softmax_read_from_the_back_has_the_same_context_and_the_factor_1(tmp_path):
    script = """
        press("back to front");
        return { ...now(), cells: texts(".live-grid tbody tr td").slice(0, 8) };"""
    found = begun(tmp_path, "chapters/12_longer_text.ipynb", "online_softmax", script)
    assert found["cells"] == ["5", "6", "4", "2", "4", "3", "2", "1"]  # scores, and the values that stay with them
    assert numbers(found["rows"][-1][2]) == [1]
    assert numbers(found["rows"][-1][5]) == numbers(found["rows"][-1][6]) == [3.1288]
    merged = cell("chapters/12_longer_text_evidence.ipynb", "merge-code")[1].splitlines()
    assert [line[-14:] for line in merged] == ["context 3.1288"] * 2


def test_what_was_read_to_the_end_stays_so_with_other_blocks(tmp_path):
    script = """
        slide("Scores per block", 1);
        const first = texts("output"); slide("Blocks read", 4); slide("Scores per block", 2);
        return [first, texts("output")];"""
    first, end = begun(tmp_path, "chapters/12_longer_text.ipynb", "online_softmax", script)
    assert (first, end) == (["1", "1 of 4"], ["2", "2 of 2"])


def test_a_comma_that_may_be_a_decimal_point_is_refused_and_what_was_read_is_shown(tmp_path):
    script = """
        const field = all("input[type=text]")[0];
        const read = (text) => {
          field.value = text;
          field.form.requestSubmit();
          return [texts(".live-fault")[0], field.value, texts(".live-grid tbody tr td").slice(0, 2)];
        };
        return ["1,5 2,5", "1,5; 2", "1.5 2.5", "3,1,2", "4, 5"].map(read);"""
    decimals, mixed, *taken = begun(tmp_path, "chapters/12_longer_text.ipynb", "online_softmax", script)
    for fault, text, shown in (decimals, mixed):
        assert fault.startswith("Please write decimals with a point")
        assert "," in text
        assert shown == ["2", "4"]  # those of the start
    assert taken == [["", "1.5 2.5", ["1.5", "2.5"]], ["", "3 1 2", ["3", "1"]], ["", "4 5", ["4", "5"]]]


def test_the_learner_begins_with_the_pages_three_examples(tmp_path):
    found = begun(tmp_path, "chapters/15_snail_evidence.ipynb", "learner")
    weights = (0.27, 0.72, 0.01)  # as the page finds them by hand
    answer_ = sum(weight * label for weight, label in zip(weights, (3, 6, 5), strict=True))
    assert [numbers(row[4])[0] for row in found["rows"]] == pytest.approx([100 * w for w in weights], abs=0.5)
    assert [numbers(row[3])[0] for row in found["rows"]] == [-1, 0, -4]
    said = float(re.search(r"attention answers (\d\.\d+)", found["said"])[1])
    assert said == pytest.approx(answer_, abs=0.03)  # the weights are printed with two decimals
    assert found["said"].endswith("With this β the answer jumps nowhere.")


def test_the_learner_says_where_its_answer_jumps_and_writes_numbers_as_people_do(tmp_path):
    script = """
        const shown = () => texts("output")[0], at = (beta) => {
          slide("β", Math.log10(beta));
          return [shown(), now().said.split(". ").at(-1)];
        };
        const from = (place) => Array.from({ length: 100 }, (_, n) => n + 1).find((beta) =>
          LIVE.jumps([[1, 3], [2, 6], [4, 5]], beta).some(([x]) => x === place));
        const alike = LIVE.jumps([[1, 3], [1, 6], [4, 3]], 100), { learned } = now();
        return { hundred: at(100), thirty: at(30), least: at(0.05), from: [3, 1.5].map(from), alike, learned };"""
    found = begun(tmp_path, "chapters/15_snail_evidence.ipynb", "learner", script)
    assert found["hundred"] == [
        "β = 100",
        "The answer jumps at x = 1.50 from 3.02 to 5.98 and at x = 3.00 from 6.00 to 5.00.",
    ]
    assert found["thirty"] == ["β = 30", "The answer jumps at x = 3.00 from 5.95 to 5.05."]
    assert found["least"] == ["β = 0.05", "With this β the answer jumps nowhere."]
    for place, beta in zip(("x = 3", "x = 1.5"), found["from"], strict=True):
        assert f"{place} from about β = {beta} on" in found["learned"]
    assert found["alike"] == [[2.5, pytest.approx(4.5, abs=1e-3), pytest.approx(3, abs=1e-3)]]


def test_binding_begins_with_the_two_heads_by_hand_and_is_what_it_says_it_is(tmp_path):
    script = """
        const choose = (name) => all(".live-choice label").find((one) => one.textContent === name);
        const layer = (name) => choose(name).querySelector("input").click();
        const found = { start: now() };
        layer("nothing"); found.nothing = now();
        layer("a convolution"); found.both = now();
        slide("tap c", 0); found.taps = now();
        layer("a head"); found.head = now();
        press("door"); press("cup"); found.other = now();
        return found;"""
    found = begun(tmp_path, "chapters/15_snail.ipynb", "binding", script)
    tokens, keys = zip(*(row[1:3] for row in found["start"]["rows"]), strict=True)
    assert tokens == ("horse", "green", "cup", "red", "door", "blue", "cup")
    assert keys == ("horse", *tokens[:-1])
    assert found["start"]["said"] == (
        "The last “cup” attends to step 3 (100\u00a0%). It names red with 100\u00a0%."
        " This is right: after the earlier “cup” stands red."
    )
    named = {name: [numbers(text)[0] for text in of["bars"][0]] for name, of in found.items()}
    judged = {name: re.search(r"This is (\w+): after", of["said"])[1] for name, of in found.items()}
    assert [judged[name] for name in ("start", "both", "taps", "nothing")] == ["right", "wrong", "right", "wrong"]
    assert [row[2] for row in found["nothing"]["rows"]] == list(tokens)
    assert [row[2] for row in found["both"]["rows"]][:4] == ["horse", "horse + green", "cup + green", "cup + red"]
    assert [named[name] for name in ("nothing", "both")] == [[0, 0, 100, 0, 0, 0], [0, 0, 67, 33, 0, 0]]
    assert named["taps"] == named["head"] == named["start"] == [0, 0, 0, 100, 0, 0]
    assert found["other"]["rows"] != found["head"]["rows"]
    learned = found["start"]["learned"]
    assert ("with 50 % each" in learned, "with 33 % each" in learned, "with 67 %" in learned) == (True, True, True)


def test_the_heads_of_chapter_11_begin_with_induction_at_the_second_letter(tmp_path):
    script = """
        const marked = () => [texts(".live-buttons [aria-pressed=true]"), parseInt(texts(".live-head")[1])];
        const kinds = texts(".live-table .is-now td").map(parseFloat), start = now().said, first = marked();
        press("First position"); const sinks = marked(); press("Position before");
        return { start, kinds, marked: [first, sinks, marked()], todo: texts(".live-room .live-todo")[0] };"""
    found = begun(tmp_path, "chapters/11_bert_gpt.ipynb", "smollm2_heads", script)
    told = "Layer 19, head 7: “letter” attends to “music” (position 4) 95\u00a0%, “letter” (position 3) 2.7\u00a0%."
    assert told in found["start"]
    first, _, induction = found["kinds"]
    assert first < 50 < induction
    assert found["marked"] == [[["Induction"], 5], [["First position"], 132], [["Position before"], 8]]
    assert "that you see attends" not in found["todo"]  # each page begins with a head of its own


def test_the_heads_of_chapter_19_begin_with_the_finder_and_lead_to_the_head_before(tmp_path):
    script = """
        const told = () => now().said, table = () =>
          Array.from(document.querySelectorAll(".live-table tbody tr"), (row) =>
            Array.from(row.querySelectorAll("td"), (one) => one.textContent));
        const finder = { said: told(), table: table() };
        slide("Layer", 17); slide("Head", 1);
        const { learned } = now();
        const [asked] = texts(".live-room .live-todo"), before = { said: told(), table: table() };
        return { finder, before, todo: asked, learned };"""
    found = begun(tmp_path, "chapters/19_real_model.ipynb", "smollm2_heads", script)
    assert "Layer 19, head 7: “letter” attends to “music” (position 4) 95\u00a0%" in found["finder"]["said"]
    assert "Layer 17, head 1: “letter” attends to “window” (position 9) 96\u00a0%" in found["before"]["said"]
    first, _, induction = ([numbers(row[i])[0] for row in found["finder"]["table"]] for i in range(3))
    assert induction[1] == 90 > 50 > max(induction[0], induction[2])  # only in the second sentence
    assert (first[2], induction[2]) == (91, 7.1)
    before = [[numbers(one)[0] for one in row] for row in found["before"]["table"]]
    assert all(row[1] == max(row) > 50 for row in before)  # in all three sentences
    assert "a finder, 19.7" in found["todo"]
    assert all(
        told in found["learned"] for told in ("96 % of", "95 % to “music”", "90 % to what", "7.1 %, and", "91 %.")
    )


def test_addressing_begins_with_the_example_that_the_caption_tells(tmp_path):
    page = "chapters/13_ntm.ipynb"
    script = """
        const first = now().bars, pressed = () => texts("[aria-pressed=true]").join(), began = pressed();
        press("wait twenty steps, with a leak");
        const leaks = now().bars[4][0], waits = pressed(), shift = texts(".live-slider output")[3];
        slide("4 power", 3);
        const opacity = all(".live-bars")[1].style.opacity; // g = 0: the search is grey
        return { first, leaks, sharpened: now().bars[4][0], marked: [began, waits, pressed()], opacity, shift };"""
    found = begun(tmp_path, page, "addressing", script)
    previous, content, gated, moved, weights = (
        [numbers(text)[0] / 100 for text in column] for column in found["first"]
    )
    alt = cell(page, "fig-13-steps")[0]["mystnb"]["image"]["alt"]
    told = {
        0.78: content[4],
        0.59: gated[4],
        0.25: gated[7],
        0.53: moved[5],
        0.23: moved[0],
        0.91: weights[5],
        0.07: weights[0],
    }
    said = {0.75, 0.1, 0.9}  # by the controller: g and s, which the alt text names as well
    assert {number for number in numbers(alt) if number % 1} == set(told) | said
    assert list(told.values()) == pytest.approx(list(told), abs=6e-3)
    assert previous.index(1) == 7
    assert (found["leaks"], found["sharpened"]) == ("30 %", "100 %")
    assert found["marked"] == ["the chapter's example", "wait twenty steps, with a leak", ""]
    assert found["opacity"] == "0.35"
    assert found["shift"] == "0.05, 0.90, 0.05"


def test_positions_begin_with_head_0_whose_key_is_found_just_before_the_verb(tmp_path):
    script = "return { ...now(), best: LIVE.bestDistances(30, 1), head1: LIVE.bestDistances(-60, 1) };"
    found = begun(tmp_path, "chapters/08_heads_positions.ipynb", "positions", script)
    assert "At the distance −1 the score is 6.00." in found["said"]
    assert "highest, 6.00, at −37, −25, −13, −1, 11, 23 and 35." in found["said"]
    assert (-1 in found["best"], 2 in found["head1"]) == (True, True)


def test_a_start_moves_the_peak_and_slower_hands_take_the_others_away(tmp_path):
    script = """
        slide("Start of the key", -60);
        const one = now().said;
        all("input[type=radio]")[1].click();
        const two = now().said;
        all("input[type=radio]")[2].click();
        slide("Distance", 38);
        return { ...now(), one, two, starts: texts(".live-clocks small") };"""
    found = begun(tmp_path, "chapters/08_heads_positions.ipynb", "positions", script)
    assert "highest, 6.00, at −34, −22, −10, 2, 14, 26 and 38." in found["one"]
    assert "highest, 12.00, at −34, 2 and 38." in found["two"]
    assert found["said"] == "At the distance 38 the score is 10.15. Of all distances drawn it is highest, 18.00, at 2."
    starts = [text for text in found["starts"] if text.startswith("starts")]
    assert starts == ["starts at −60°", "starts at −20°", "starts at −6°"]
    assert "only the third hand tells the distances apart: 10.15 against 18." in found["learned"]


def test_a_beam_stays_at_its_step_when_it_searches_again(tmp_path):
    script = """
        const seen = () => [now().said.split(":")[0].split(",")[0], texts(".live-beams li").length - 1];
        press("Next step"); press("Next step");
        const third = now().said, rows = seen()[1];
        slide("Length penalty", 1.5);
        const kept = seen()[0];
        press("To the end"); slide("Length penalty", 0); slide("Length penalty", 1.5);
        const end = seen()[0];
        slide("Width", 8);
        return { third, rows, kept, end, wide: now().said, few: seen()[1] };"""
    found = begun(tmp_path, "chapters/10_decoding_evidence.ipynb", "beam", script)
    assert "9 beginnings considered (the best 8 are shown), 3 kept." in found["third"]
    assert found["rows"] == 8
    assert found["kept"].startswith("Step 3 of ")
    assert found["end"].startswith("Finished after ")
    considered, shown = re.search(
        r"(\d+) beginnings considered \(the best (\d+) are shown\), 8 kept", found["wide"]
    ).groups()
    assert int(considered) > int(shown) == found["few"]


def test_the_pointers_keep_the_choice_of_the_slider_while_a_point_moves(tmp_path):
    script = """
        const at = () => [texts(".live-slider output")[0], now().said.split(":")[0]];
        slide("Choice", 0);
        for (let n = 0; n < 5; n++) { typed(box.querySelector('[data-point="2"]'), "ArrowLeft"); }
        const moved = [...at(), now().said.replaceAll("\u00a0", " ")];
        press("one more");
        const more = at();
        press("10 random points");
        return { moved, more, random: at() };"""
    found = begun(tmp_path, "chapters/14_pointer_networks_evidence.ipynb", "pointers", script)
    assert found["moved"][:2] == ["1 of 5", "Choice 1 of 5"]
    assert re.search(r"\d+ % for point 2, ", found["moved"][2])  # the most probable now, as the chapter says
    assert found["more"] == ["1 of 6", "Choice 1 of 6"]
    assert found["random"] == ["all", "10 points"]


def test_the_words_that_a_nucleus_cuts_are_said_to_be_cut(tmp_path):
    script = """
        all("input[type=radio]")[1].click(); // the second task: temperature 2
        const asked = texts(".live-room .live-todo")[1];
        slide("Top-p", 0.35);
        const before = [now().bars[1].at(-1), now().said];
        slide("Top-p", 0.3);
        return { asked, before, after: [now().bars[1].at(-1), now().said] };"""
    found = begun(tmp_path, "chapters/10_decoding_evidence.ipynb", "sampling", script)
    assert "cut" not in found["before"][0]
    assert found["after"][0] == "0 % (cut)"
    assert found["after"][1].endswith("can be drawn; none after rank 200.")
    assert "until “all others” has 0 %" in found["asked"]


def test_a_press_reads_how_probable_a_word_was_and_what_is_written_without_a_head(tmp_path):
    script = """
        const field = box.querySelector("input[type=text]"), head = () => box.querySelector(".live-heads .is-needed");
        press("Switch off each in turn");
        for (let i = 0; i < 400 && !head(); i++) { await wait(50); }
        head().click();
        const without = [texts(".live-before").join(" "), head().title];
        all("input[type=radio]")[2].click();
        const kept = now().said;
        field.value = "Leute reparieren das Dach eines Hauses.";
        field.form.requestSubmit();
        press("fixing");
        return { without, kept, fixing: now().said, learned: now().learned };"""
    found = begun(tmp_path, "chapters/18_one_corpus.ipynb", "translator", script)
    told, title = found["without"]
    assert found["kept"].startswith("“repair” attends")  # within the target, too
    assert f": without it the model writes “{title.removeprefix('Without it: ')}”" in told
    fixing = re.search(r"wrote it with a probability of (\d+)", found["fixing"])[1]
    assert f"“fixing” with {fixing} %" in found["learned"]


def test_the_translator_stays_at_the_verb_and_compares_it_with_the_one_before(tmp_path):
    script = """
        const told = () => [now().said, texts(".live-before").join(" "), texts(".live-table td")];
        press("Translate");
        const again = told();
        press("roof, small r");
        const fixing = told();
        press("dog");
        return { again, fixing, dog: told() };"""
    found = begun(tmp_path, "chapters/18_one_corpus.ipynb", "translator", script)
    assert found["again"][0].startswith("“repair” attends")
    assert len(found["again"][2]) == 4  # the roof, as four other models wrote it
    said_now, before, others = found["fixing"]
    assert said_now.startswith("“fixing” attends")
    assert "it wrote “repair” with a probability of 12" in before
    assert others == []
    assert "Before:" not in found["dog"][1]  # another sentence is not compared


def test_the_translator_shows_what_the_other_models_wrote():
    text = (ROOT / "book/live/parts/translator_views.js").read_text("utf-8")
    models = re.search(r"const MODELS = \[(.*?)\]", text)[1].replace('"', "").lower().split(", ")
    shown = re.search(r"LIVE.RECORDED = \{(.*?)\n  \};", text, re.DOTALL)[1]
    runs = {run["model"]: run for run in load_result("translate")["runs"] if run["seed"] == 0}
    for source, written in re.findall(r'"([^"]*)": \[(.*?)\],\n', shown, re.DOTALL):
        rows = [next(row for row in runs[f"{model}_de_en"]["samples"] if row["source"] == source) for model in models]
        assert re.findall(r'"([^"]*)"', written) == [row["translation"] for row in rows]
    assert shown.count("[") == 3


def test_the_masks_name_their_rows_and_columns(tmp_path):
    script = "return [texts('thead tr:first-child th'), all('thead tr').map((row) => row.children.length)];"
    heads, lengths = begun(tmp_path, "chapters/09_transformer.ipynb", "masks", script)
    assert heads == ["query", "key", "output", "input"]
    assert lengths == [2, 6, 2, 6]


def test_sharpness_begins_with_the_pages_lead_among_the_positions_of_twelve_letters(tmp_path):
    script = """
        const start = now().said; slide("Positions", 10);
        const long = now().said; all("input[type=radio]")[1].click();
        const height = (share) => Number(all(".live-curve ." + share)[0].getAttribute("y1"));
        return { ...now(), start, long, half: height("half"), ends: [height("axis"), 16] };"""
    found = begun(tmp_path, "chapters/17_beyond_lengths_evidence.ipynb", "sharpness", script)
    lead, size = math.exp(4), 768
    start, long, said = (found[part].replace("\u00a0", " ") for part in ("start", "long", "said"))
    assert start == "Among 24 positions a lead of 4.0 gives the leader 70 % of the weight."
    assert f"gives the leader {100 * lead / (lead + size - 1):.1f} % of the weight" in long
    assert "multiplied by 2.09, gives the leader 85 %" in said
    assert found["half"] == pytest.approx(sum(found["ends"]) / 2)
    assert "against enough positions" in found["learned"]


def test_the_machine_copies_and_fails_as_the_figure_says(tmp_path):
    script = """
        const examples = all(".live-examples button"), rows = all("input[type=radio]");
        const at = (example, n) => { rows[n].click(); examples[example].click(); return now().before; };
        const begins = now().said, offered = examples.map((one) => one.title), [todo] = texts(".live-room .live-todo");
        const start = { ...now(), begins, todo }, lengths = offered.map((one) => one.length);
        return { ...start, offered, lengths, repeated: at(1, 1), repeatedFar: at(1, 2),
          long: at(2, 1), longFew: at(2, 0), full: at(3, 1), fullFar: at(3, 2) };"""
    found = begun(tmp_path, "chapters/13_ntm_evidence.ipynb", "tape", script)
    assert found["before"] == "All 9 letters are right."
    assert found["begins"].startswith("Step 1 of 19")
    assert found["offered"][1] in found["todo"]
    assert found["lengths"] == [9, 10, 84, 120]
    assert found["long"] == "All 84 letters are right."
    assert int(found["longFew"].split()[0]) > 60
    assert int(found["full"].split()[0]) > 3
    assert found["fullFar"] == "All 120 letters are right."
    assert all(int(found[name].split()[0]) > 0 for name in ("repeated", "repeatedFar"))
    assert "copies 84 letters without an error" in found["learned"]
    run = next(
        one for one in load_result("copying_paper")["runs"] if one["model"] == "paper_feedforward" and not one["seed"]
    )
    assert run["parameters"] == sum(
        weight.numel() for weight in copying_paper.trained("paper_feedforward").parameters()
    )
    assert f"{run['parameters']:,} numbers, trained with {copying_paper.ROWS} rows" in found["about"]
    assert f"{run['sequences']:,} sequences" in found["about"]
    assert copying_paper.LONGEST == 20


FIVE = [(0.2, 0.8), (0.5, 0.3), (0.4, 0.6), (0.1, 0.3), (0.9, 0.6)]  # chapter 14's cities


def test_the_pointer_network_begins_with_the_cities_of_the_printed_figure(tmp_path):
    script = """
        const at = (one) => [one.getAttribute("cx") / 400, 1 - one.getAttribute("cy") / 400];
        return { ...now(), points: all("[data-point] .hit").map(at) };"""
    page = "chapters/14_pointer_networks.ipynb"
    found = begun(tmp_path, "chapters/14_pointer_networks_evidence.ipynb", "pointers", script)
    cities = torch.tensor([FIVE])
    torch.testing.assert_close(torch.tensor(found["points"]), cities[0], atol=6e-4, rtol=0)
    listed = ", ".join(str(city) for city in FIVE[:-1]) + f" and {FIVE[-1]}"
    assert listed in (ROOT / page).read_text(encoding="utf-8")  # the chapter's first sentences
    best, nearest = (tour_length(cities, trip).item() for trip in (held_karp(cities), nearest_neighbour(cities)))
    least, other = f"{best:.2f}", f"{nearest:.2f}"
    assert f"round trip is {least} long. This is the shortest. Nearest first is {other} " in found["said"]
    alt = cell(page, "fig-14-question")[0]["mystnb"]["image"]["alt"]
    assert numbers(alt)[:2] == [float(other), float(least)]


def test_the_courier_begins_with_the_chapter_s_cities_and_answers_its_three_questions(tmp_path):
    script = """
        const at = () => ({ ...now(), points: LIVE.pairs(all("[data-point] .hit").flatMap((one) =>
          [one.getAttribute("cx") / 400, 1 - one.getAttribute("cy") / 400])) });
        const seen = [at()];
        const then = (...names) => { names.forEach(press); seen.push(at()); };
        then("1: 1 and 3 exchanged");
        then("2: city 5 below");
        for (let n = 0; n < 35; n++) { typed(box.querySelector('[data-point="5"]'), "ArrowUp"); }
        seen.push(at());
        then("3: city 5 above");
        return seen;"""
    start, exchanged, sixth, moved, above = begun(tmp_path, "chapters/14_pointer_networks.ipynb", "courier", script)
    torch.testing.assert_close(torch.tensor(start["points"]), torch.tensor(FIVE), atol=6e-4, rtol=0)
    trips = ["0, 3, 1, 4, 2", "0, 1, 3, 4, 2", "0, 3, 5, 1, 4, 2"]
    for found, trip in zip((start, exchanged, sixth), trips, strict=True):
        assert found["said"].startswith(f"The trip is {trip}, of length ")
        assert "No trip is shorter." in found["said"]
    assert [[row[n] for n in (0, 3, 2, 1, 4)] for row in ([*row[1:]] for row in start["rows"])] == [
        row[1:] for row in exchanged["rows"]
    ]
    torch.testing.assert_close(torch.tensor(sixth["points"][5]), torch.tensor((0.4, 0.1)), atol=6e-4, rtol=0)
    assert "Training showed the network 5 cities only." in sixth["said"]
    torch.testing.assert_close(torch.tensor(moved["points"][5]), torch.tensor((0.4, 0.8)), atol=6e-4, rtol=0)
    said = moved["said"].replace("\u00a0", " ")
    assert said.startswith("The trip is 0, 3, 1, 4, 5, 2, ")
    assert "this one is 5.3 % longer." in said
    assert "City 5 is at (0.40, 0.80)." in moved["before"]
    assert (above["said"], above["rows"]) == (moved["said"], moved["rows"])
    assert [cell for row in start["rows"] for cell in row].count("×") == 1 + 2 + 3 + 4
    assert "(400 steps, seed 0)" in start["about"]
    assert trip_sizes.STEPS["five"] == 400


def test_the_courier_s_pointer_by_hand_is_nearest_first_and_errs_as_the_chapter_says(tmp_path):
    script = """
        const by_hand = all(".live-choice label").find((one) => one.textContent === "the pointer by hand");
        by_hand.querySelector("input").click();
        return now();"""
    said = begun(tmp_path, "chapters/14_pointer_networks.ipynb", "courier", script)["said"].replace("\u00a0", " ")
    assert said.startswith("The trip is 0, 2, 1, 3, 4, of length 2.58. The shortest is 0, 3, 1, 4, 2, of length 2.19")
    assert "this one is 18 % longer. The least sure choice is number 2, with 67 %." in said


def test_what_the_pointers_figure_says_of_its_networks_is_recorded(tmp_path):
    found = begun(tmp_path, "chapters/14_pointer_networks_evidence.ipynb", "pointers")
    runs = {run["model"]: run for run in load_result("pointing")["runs"] if run["seed"] == 0}
    tour, hull = runs["tsp10_transformer"], runs["hull_transformer"]
    assert tour["parameters"] == hull["parameters"]
    assert f"{tour['parameters']:,} numbers each" in found["about"]
    assert (pointing.PUZZLES["tsp10"].trained, pointing.PUZZLES["hull"].trained) == ((10,), (5, 6, 7, 8, 9, 10))
    assert "hulls of five to ten points, the other on shortest round trips of ten points" in found["about"]
    assert "about seven of ten trips are the shortest" in found["learned"]
    assert round(10 * tour["optimal"]["10"]) == 7
    assert tour["gap"]["10"] < 0.01 < 0.1 < tour["gap_nearest_neighbour"]["10"]
    assert "about four of ten hulls are wrong" in found["learned"]
    assert round(10 * (1 - hull["exact"]["20"])) == 4


def test_the_sentence_that_stands_without_scripts_stays_for_print(tmp_path):
    script = """
        const box = LIVE.make("div", { class: "live", "data-live": "query", "data-weights": "", "data-size": "1 MB" });
        box.append(LIVE.make("p", {}, "A figure runs here."));
        document.body.append(box);
        LIVE.start();
        box.querySelector(".live-start button").click();
        for (let i = 0; i < 400 && !box.dataset.state; i++) { await wait(25); }
        return Array.from(box.children, (one) => [one.className, one.textContent.slice(0, 30)]);"""
    room, sentence = answer(tmp_path, ROBOT + script, figures=["query"])
    assert room[0] == "live-room"
    assert sentence == ["live-sentence", "A figure runs here."]
    style = (ROOT / "book/live/live.css").read_text(encoding="utf-8")
    assert "@media screen { .live-sentence { display: none; } }" in style


def test_what_was_counted_on_random_sets_goes_when_the_points_change(tmp_path):
    script = """
        press("try 20 random sets");
        for (let i = 0; i < 400 && !now().before.includes("Of 2 random"); i++) { await wait(5); }
        const counted = now().before;
        press("one more");
        await wait(200);
        return [counted, now().before];"""
    counted, after = begun(tmp_path, "chapters/14_pointer_networks_evidence.ipynb", "pointers", script)
    assert "random sets of 5 points" in counted
    assert "random sets" not in after
