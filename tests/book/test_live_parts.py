"""What figures are made of: fast products, names in the map of values, captions side by side, heads by keys, rows."""

import re
from collections import Counter
from pathlib import Path

from live_pages import ROOT, answer
from live_said import in_chromium

pytestmark = in_chromium
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "starts"))
PRODUCTS = """
    const draw = ((seed) => () => (seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5)(7);
    const vector = (n) => Float32Array.from({ length: n }, draw), times = (row, x) => LIVE.dot(row, x);
    return GIVEN.shapes.map(([rows, n, count]) => {
      const [other, W] = LIVE.roomFor([[2 * rows, n], [rows, n]]), b = vector(rows);
      [other, W].forEach((one) => one.forEach((_, i) => (one[i] = draw())));
      const xs = Array.from({ length: count }, () => vector(n));
      const wanted = xs.map((x) => Array.from(b, (v, r) => v + times(W.slice(r * n, (r + 1) * n), x)));
      const far = (row, k) => Array.from(row, (v, i) => Math.abs(v - wanted[k][i]));
      const apart = (found) => Math.max(...found.flatMap(far));
      const fast = LIVE.product(W, xs) !== null;
      return { fast, apart: apart(LIVE.linearAll(W, b, xs)), plain: apart(LIVE.linearAll(W.slice(), b, xs)) };
    });"""
NAMES = """
    const seen = (list) => {
      const field = box.querySelector("input[type=text]");
      field.value = list;
      field.form.requestSubmit();
      const told = texts(".live-before").find((one) => one.startsWith("There is no room")) || "";
      return [texts("ol.live-words button").length, texts(".live-values text").length, told];
    };
    return GIVEN.lists.map(seen);"""
CAPTIONS = """
    const words = (text) => text.split(" ");
    const soft = words("a two left of a six above an eight (end)");
    const hard = words("a two above a six right of a five (end)");
    const beside = (from, to) => LIVE.placesOf(from).map((place) => to[LIVE.wordAt(to, place)] ?? null);
    const box = await started("captioner"), all = (selector) => Array.from(box.querySelectorAll(selector));
    const texts = (selector) => all(selector).map((one) => one.textContent);
    const now = () => [texts(".live-head")[0], texts("[aria-pressed=true]")], walked = [now()];
    for (let n = 0; n < 6; n++) {
      all("button").find((one) => one.textContent === "Next word of both").click();
      walked.push(now());
    }
    const short = beside(soft, words("a two (end)"));
    return { beside: beside(soft, hard), back: beside(hard, soft), short, walked, faults };"""
HEADS = """
    const box = await started("smollm2_heads"), grid = box.querySelector("[role=application]");
    const texts = () => Array.from(box.querySelectorAll(".live-head"), (one) => one.textContent);
    const at = () => texts().find((one) => one.startsWith("Layer"));
    grid.focus();
    const seen = [at()];
    for (const key of GIVEN.keys) {
      typed(grid, key);
      seen.push(at());
    }
    return { seen, focus: document.activeElement === grid, stops: grid.tabIndex, faults };"""
PILE = """
    const svg = all(".live-plane svg")[0];
    svg.setPointerCapture = () => {};
    const two = all("[data-number]")[1].querySelector(".hit").getBoundingClientRect();
    const mouse = (kind, dx = 0) => {
      const [clientX, clientY] = [two.left + two.width / 2 + dx, two.top + two.height / 2];
      const over = kind === "pointerdown" ? all("[data-number='4']")[0] : svg; // the target lies above
      over.dispatchEvent(new PointerEvent(kind, { pointerId: 1, bubbles: true, clientX, clientY }));
    };
    const taken = () => document.activeElement.getAttribute("aria-label"), seen = [];
    const hint = () => texts(".live-keys")[0];
    const pressed = (by = 0) => {
      mouse("pointerdown");
      mouse("pointermove", by);
      mouse("pointerup", by);
      seen.push(taken());
    };
    const first = [hint(), all(".is-piled").length];
    [1, 0, 0, 60].forEach(pressed);
    typed(document.activeElement, "PageUp");
    const keys = taken(), moved = all("[data-number]").slice(0, 5).map((one) => one.getAttribute("aria-valuetext"));
    return { first, seen, keys, moved, last: [hint(), all(".is-piled").length] };"""
ROWS = """
    const [memory, track] = all(".live-rows");
    const numbers = () => ["span", ".is-write", ".is-read"].map((one) => texts(one, memory));
    slide("Step", 4);
    const first = numbers(), beside = texts("span", track);
    slide("Step", 12);
    return { first, beside, later: numbers() };"""


def test_products_are_the_same_with_and_without_webassembly(tmp_path):
    shapes = [(3000, 192, 5), (192, 512, 21), (8, 4, 1), (64, 96, 40), (7, 5, 3), (6, 8, 2)]
    found = answer(tmp_path, PRODUCTS, given={"shapes": shapes})
    assert [one["fast"] for one in found] == [True, True, True, True, False, False]  # rows and columns by fours
    assert max(max(one["apart"], one["plain"]) for one in found) < 1e-5


def test_each_value_has_its_name_or_is_told(tmp_path):
    lists = ["7, 342, 85", "11, 22, 33, 44, 55, 66, 77, 88", "999, 888, 777, 666, 555, 444, 333, 222, 111, 999"]
    start, *others = answer(
        tmp_path, ROBOT + STARTS + NAMES, ["numbers"], {"name": "aligner", "lists": lists}, ["aligner"]
    )
    assert start == [10, 10, ""]
    for source, shown, told in others:
        repeated = sum(int(part.split()[0]) - 1 for part in told.split("(")[1:])
        assert shown + told.count("“") + repeated == source
    assert others[-1][2]


def test_a_step_shows_the_same_place_of_both_captions(tmp_path):
    found = answer(tmp_path, ROBOT + CAPTIONS, ["soft", "hard"], figures=["captioner"])
    assert found["faults"] == []
    assert found["beside"] == ["a", "two", "above", "above", "a", "six", "right", "a", "five", "(end)"]
    assert found["back"] == ["a", "two", "left", "a", "six", "above", "above", "an", "eight", "(end)"]
    assert found["short"] == ["a", "two", "(end)", "(end)", None, None, None, None, None, None]
    between = "Both captions at what comes between the {} and the {} digit"
    assert found["walked"] == [
        ["Both captions at the first digit", ["two", "two"]],
        [between.format("first", "second"), ["left", "left"]],
        [between.format("first", "second"), ["of", "of"]],
        ["Both captions at the article of the second digit", ["a", "a"]],
        ["Both captions at the second digit", ["six", "six"]],
        [between.format("second", "third"), ["above", "right"]],
        [between.format("second", "third"), ["above", "of"]],
    ]


def test_the_overview_of_heads_is_one_tab_stop_with_arrow_keys(tmp_path):
    keys = ["ArrowRight", "ArrowUp", "End", "ArrowRight", "Home", "ArrowLeft", "ArrowDown", "ArrowDown"]
    found = answer(tmp_path, ROBOT + HEADS, ["smollm2_heads"], {"keys": keys}, ["smollm2_heads"])
    assert found["faults"] == []
    places = [(19, 9), (20, 9), (20, 8), (30, 8), (30, 8), (1, 8), (1, 8), (1, 9), (1, 9)]
    assert found["seen"] == [f"Layer {layer}, head {head}" for layer, head in places]
    assert (found["focus"], found["stops"]) == (True, 0)


def test_rows_of_the_memory_have_their_numbers_and_heads_theirs(tmp_path):
    found = answer(tmp_path, ROBOT + STARTS + ROWS, ["ntm"], {"name": "tape"}, ["tape"])
    numbers, write, read = found["first"]
    assert found["beside"] == [str(row) for row in range(0, 20, 2)]
    assert (write, read) == (["5"], ["0"])  # as it says: row 5 and row 0
    assert {"2", "8", "18"} <= set(numbers)
    assert len(set(numbers)) == len(numbers)
    assert found["later"][2] != read


def test_a_point_below_another_is_taken_by_a_second_press(tmp_path):
    """In the gradient's figure the target lies on the value of two."""
    found = answer(tmp_path, ROBOT + STARTS + PILE, given={"name": "gradient"}, figures=["gradient"])
    assert found["first"] == ["Two points overlap: a second press, or Page Down, takes the other one.", 1]
    assert found["seen"] == ["target", "two", "target", "two"]  # a press that moves less than a hand does moves nothing
    assert found["keys"] == "forty"
    two, target = found["moved"][1], found["moved"][4]
    assert target == "at 0.00, 2.00"
    assert not two.startswith("at 0.00, 2.00")
    assert found["last"] == ["Arrow keys move a point; Page Up and Page Down choose another.", 0]


def test_no_name_is_given_twice():
    """Scripts of several figures meet on one page: the second of two functions of one name would replace the first."""
    scripts = Path(__file__).parents[2] / "book" / "live"
    given = Counter(
        name
        for path in scripts.rglob("*.js")
        for name in set(re.findall(r"^ *LIVE\.(\w+) = ", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
    )
    assert [name for name, times in given.items() if times > 1] == []
