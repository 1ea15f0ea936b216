"""Each live figure in Chromium, from the disk: it starts, says what it shows, and survives every control."""

import gzip
import re

import pytest
import torch
from browser import chromium
from live_pages import PAGES, ROOT, answer, asked, files_of, live_weights, scripts

from attnbook.models.block import TransformerConfig
from attnbook.models.transformer import Stack

FIGURES = sorted(path.stem for path in (ROOT / "book/live/figures").glob("*.js"))

ROBOT = (ROOT / "tests/helpers/live_robot.js").read_text(encoding="utf-8")
TRIED = """
    const found = {};
    for (const name of GIVEN.names) { found[name] = await tried(name); }
    return { found, faults };"""
FOCUS = """
    const lost = {};
    for (const name of GIVEN.names) { lost[name] = await focusLost(name); }
    return { lost, faults };"""
ALOUD = """
    const heard = {};
    for (const name of GIVEN.names) {
      const box = await started(name), all = (selector) => Array.from(box.querySelectorAll(selector));
      const aloud = () => all(".live-said + .live-aloud").map((one) => one.textContent).join("");
      const seen = () => box.querySelector(".live-said").textContent.replaceAll("\u00a0", " ");
      await wait(800);
      const first = aloud();
      for (const act of [move.sliders, move.choices, move.keys]) { act(box); }
      await wait(1500);
      const moved = aloud() === seen() && seen() !== "";
      all("button").find((one) => one.textContent === "Start again").click();
      for (let i = 0; i < 40 && aloud() !== seen(); i++) { await wait(100); }
      const sliders = all("output").every((one) => one.getAttribute("aria-hidden") === "true");
      heard[name] = [first, moved, aloud() === seen(), sliders];
      box.remove();
    }
    return { heard, faults };"""
PRESSED = """
    const box = await started("pointers"), svg = box.querySelector(".live-board");
    const { left, top, width } = svg.getBoundingClientRect();
    const link = () => decodeURIComponent(decodeURIComponent(box.querySelector(".live-about a").href));
    const points = () => LIVE.pairs(/points:([^;#]*)/.exec(link())[1].split(",").map(Number));
    const mouse = (kind, target, x, y) => target.dispatchEvent(new PointerEvent(kind, { pointerId: 1, bubbles: true,
      clientX: left + width * (18 + 400 * x) / 436, clientY: top + width * (18 + 400 * (1 - y)) / 436 }));
    svg.setPointerCapture = () => {};
    const last = () => Array.from(svg.querySelectorAll("[data-point] .hit")).at(-1);
    // two points close together: what is pressed nearer to the first moves the first, although the second lies above it
    mouse("pointerdown", svg, 0.5, 0.2); mouse("pointerup", svg, 0.5, 0.2);
    mouse("pointerdown", svg, 0.53, 0.2); mouse("pointerup", svg, 0.53, 0.2);
    const two = points().slice(-2);
    mouse("pointerdown", last(), 0.505, 0.2); mouse("pointermove", svg, 0.4, 0.2); mouse("pointerup", svg, 0.4, 0.2);
    return { two, moved: points().slice(-2), faults };"""
GRID = """
    const box = await started("masks"), cells = () => Array.from(box.querySelectorAll("[data-cell]"));
    const now = () => document.activeElement.dataset.cell;
    cells()[0].focus();
    const seen = [now()];
    for (const key of GIVEN.keys) {
      typed(document.activeElement, key);
      seen.push(now());
    }
    cells()[7].focus();
    cells()[7].click();
    const stops = cells().filter((cell) => cell.tabIndex === 0).length;
    return { seen, stops, after: now(), pressed: cells()[7].getAttribute("aria-pressed"), faults };"""
CANVAS = """
    const box = await started("captioner"), paper = box.querySelector("[role=application]");
    const text = (selector) => box.querySelector(selector).textContent;
    const link = () => decodeURIComponent(decodeURIComponent(box.querySelector(".live-about a").href));
    const placed = () => (/placed:([^;#]*)/.exec(link()) || [0, GIVEN.start])[1].split(",").filter(Boolean).length / 3;
    const all = Array.from.bind(Array), named = (name) => (one) => one.textContent.startsWith(name);
    const buttons = (name) => all(box.querySelectorAll("button")).filter(named(name));
    paper.focus();
    ["ArrowDown", "ArrowLeft", "Enter"].forEach((key) => typed(paper, key));
    const added = placed();
    typed(paper, "Delete");
    const removed = placed(), draw = buttons("Draw").length;
    for (let n = 0; n < 5; n++) { typed(paper, "Enter"); }
    const full = text(".live-fault"), most = placed();
    buttons("Clear")[0].click();
    return { added, removed, full, most, empty: text(".live-said"), draw, faults };"""
LINKED = """
    const box = await started("masks"), slider = box.querySelector("input[type=range]");
    slider.value = 4;
    slider.dispatchEvent(new Event("input"));
    const link = new URL(box.querySelector(".live-about a").href);
    return { faults, search: decodeURIComponent(link.search), hash: link.hash };"""
BY_HAND = """
    const mask = [1, 0, 0, 1, 1, 0, 0, 1, 1];
    const reach = (layers) => LIVE.reach(mask, 3, layers).map((set) => [...set].sort());
    const chances = (k, p) => Array.from(LIVE.chances(Float64Array.of(2, 1, 0), { temperature: 1, k, p }));
    return {
      online: LIVE.onlineSoftmax([4, 6, 6], [1, 2, 3], 1), reach: reach(1), twice: reach(2),
      outside: [[0.2, 0.2], [3, 0], [0.5, -1]].map((at) => LIVE.outside(at, [[0, 0], [1, 0], [0, 1]])),
      gradient: LIVE.scoreGradients([0, 0], [[1, 0], [-1, 0]], [1, 0]),
      unshrunk: LIVE.onlineSoftmax([4, 6, 6], [1, 2, 3], 1, false),
      plane: LIVE.attendInPlane([1, 0], [[1, 0], [0, 2]], [[1, 0], [0, 1]], "dot", 1),
      hull: LIVE.hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]),
      chances: chances(2, 1), cut: chances(0, 0.5), hands: [1, 2].map((hands) => LIVE.scoreOfHands(14, -60, hands)),
      leader: [LIVE.weightOfLeader(Math.log(3), 4), LIVE.weightOfLeader(1, 24 ** 2, LIVE.lengthFactor(24 ** 2))],
      learner: [2, 1e4, 1e-6].map((beta) => LIVE.attendByDistance([[0, 1], [1, 3], [3, 2]], 1.4, beta).answer),
      line: LIVE.leastSquares([[0, 1], [1, 3], [3, 2]], 3), upright: LIVE.leastSquares([[1, 0], [1, 4]], 9),
      logits: Array.from(LIVE.allLogits({ size: 6, named: [["a", 9], ["b", 8]], others: [[2, 7], [5, 1]] })),
    };"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """What each figure shows, and what went wrong when every control was moved."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    packs = list(live_weights.PACKS)
    return answer(tmp_path_factory.mktemp("figures"), ROBOT + TRIED, packs, {"names": FIGURES}, FIGURES)


@pytest.mark.slow
def test_each_starts_and_none_fails_whatever_is_moved(tried):
    assert tried["faults"] == []
    assert {name: seen["state"] for name, seen in tried["found"].items()} == dict.fromkeys(FIGURES, "running")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["todo", "learned", "about", "said", "after"])
def test_each_says_what_to_do_what_is_seen_and_which_model_it_is(tried, part):
    assert {name for name, seen in tried["found"].items() if len(seen[part].split()) < 6} == set()


@pytest.mark.slow
def test_the_printed_figure_is_folded_and_its_caption_stays(tried):
    assert {name for name, seen in tried["found"].items() if not (seen["caption"] and seen["folded"])} == set()


@pytest.mark.slow
def test_every_control_has_a_name(tried):
    assert {name: seen["unnamed"] for name, seen in tried["found"].items() if seen["unnamed"]} == {}


@pytest.mark.slow
def test_no_number_is_written_with_an_exponent_wherever_a_slider_stands(tried):
    assert {name: seen["powers"] for name, seen in tried["found"].items() if seen["powers"]} == {}


@pytest.mark.slow
def test_what_a_figure_cannot_take_is_said_in_a_sentence(tried):
    fields = {name: seen for name, seen in tried["found"].items() if "refused" in seen}
    assert fields
    assert {name for name, seen in fields.items() if not re.fullmatch(r"Please write .+\.", seen["refused"])} == set()
    assert {name for name, seen in fields.items() if not seen["strange"]} == set()


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_the_focus_stays_where_a_key_was_pressed(tmp_path):
    found = answer(tmp_path, ROBOT + FOCUS, list(live_weights.PACKS), {"names": FIGURES}, FIGURES)
    assert found["faults"] == []
    assert {name: lost for name, lost in found["lost"].items() if lost} == {}


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_what_changes_is_read_aloud_and_what_nobody_asked_for_is_not(tmp_path):
    found = answer(tmp_path, ROBOT + ALOUD, list(live_weights.PACKS), {"names": FIGURES}, FIGURES)
    assert found["faults"] == []
    assert {name: heard for name, heard in found["heard"].items() if heard != ["", True, True, True]} == {}


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_of_points_that_lie_close_together_the_nearest_is_moved(tmp_path):
    found = answer(tmp_path, ROBOT + PRESSED, ["hull", "tour"], figures=["pointers"])
    assert found["faults"] == []
    assert found["two"] == [[0.5, 0.2], [0.53, 0.2]]
    assert found["moved"] == [[0.4, 0.2], [0.53, 0.2]]


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_a_grid_is_one_tab_stop_with_arrow_keys(tmp_path):
    down, up, left, right = "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"
    keys = [right, down, left, left, up, up, "End", right, "Home"]
    found = answer(tmp_path, ROBOT + GRID, given={"keys": keys}, figures=["masks"])
    assert found["faults"] == []
    assert found["seen"] == ["0,0", "0,1", "1,1", "1,0", "1,0", "0,0", "0,0", "0,5", "0,5", "0,0"]
    assert (found["stops"], found["after"], found["pressed"]) == (1, "1,1", "false")


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_a_canvas_is_drawn_on_with_keys_and_nothing_is_removed_unasked(tmp_path):
    found = answer(tmp_path, ROBOT + CANVAS, ["soft", "hard"], {"start": "2,7,6,6,10,18,8,19,17"}, ["captioner"])
    assert found["faults"] == []
    assert (found["added"], found["removed"], found["most"]) == (4, 3, 6)
    assert found["full"] == "There are six digits on the canvas, which is the most. Please take one away first."
    assert "The canvas is empty" in found["empty"]
    assert found["draw"] == 0  # only where positions are drawn, there is something to draw again


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_a_link_keeps_the_state(tmp_path):
    found = answer(tmp_path, ROBOT + LINKED, figures=["masks"])
    assert found["faults"] == []
    assert "layers:4" in found["search"]
    assert found["hash"] == "#fig-masks"


def test_each_figure_stands_on_a_page_and_each_page_asks_for_a_known_one():
    assert {name for page in PAGES for name, _ in asked(page)} == set(FIGURES)


def test_no_figure_sends_its_reader_to_the_chapter_where_it_stands():
    here = {}
    for page in PAGES:
        number = re.match(r"(\d\d)_", page.name)
        for name, _ in asked(page) if number else ():
            texts = re.findall(
                r'(?:todo|learned):\s*"([^"]*)"', (ROOT / f"book/live/figures/{name}.js").read_text("utf-8")
            )
            assert texts
            here[page.name, name] = [text for text in texts if re.search(rf"Chapter {int(number[1])}\b", text)]
    assert {where: texts for where, texts in here.items() if texts} == {}


def test_the_scripts_of_a_page_are_small():
    live, sizes = ROOT / "book/live", {}
    everywhere = [ROOT / f"book/_static/{name}.js" for name in ("hover", "progress")]  # beside the figures' own
    for page in PAGES:
        names = sorted({name for name, _ in asked(page)})
        files = [*scripts(), *files_of(names)]
        loaded = [*(live / file for file in files if names), *everywhere]
        sizes[page.name] = len(gzip.compress(b"".join(path.read_bytes() for path in loaded), 9))
    assert {page: size for page, size in sizes.items() if size > 30_000} == {}
    moving = {page.name for page in PAGES if asked(page)}
    still = max(size for page, size in sizes.items() if page not in moving)  # the book's own scripts
    assert {page: size for page, size in sizes.items() if page in moving and size < 2 * still} == {}


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_by_hand_online_softmax_masks_and_gradients(tmp_path):
    figures = ["online_softmax", "masks", "gradient", "query", "pointers", "sampling", "positions"]
    figures += ["sharpness", "learner"]
    found = answer(tmp_path, BY_HAND, figures=figures)
    last = found["online"][-1]
    assert (last["largest"], last["total"]) == (6, pytest.approx(2.1353, abs=1e-4))
    assert last["summed"] == pytest.approx(0.1353 + 2 + 3, abs=1e-4)
    assert (found["unshrunk"][-1]["total"], found["unshrunk"][-1]["summed"]) == (3, 6)
    assert found["reach"] == [[0], [0, 1], [1, 2]]
    assert found["twice"] == [[0], [0, 1], [0, 1, 2]]
    assert found["gradient"]["gradients"] == [-0.5, 0.5]  # α = ½ each, v − c = ±1, target − c = 1
    assert found["outside"] == [0, 2, 1]  # within the triangle, from a corner, from an edge
    assert found["plane"]["weights"] == pytest.approx([0.7311, 0.2689], abs=1e-4)
    assert sorted(found["hull"]) == [0, 1, 2, 3]
    assert found["chances"] == pytest.approx([0.7311, 0.2689, 0], abs=1e-4)
    assert found["cut"] == [1, 0, 0]
    assert found["hands"] == pytest.approx([6, 3])
    assert found["logits"] == [9, 8, 7, 5, 3, 1]
    assert found["leader"] == pytest.approx([1 / 2, 1 / (1 + 575 * 2.718281828**-2)])
    assert found["learner"] == pytest.approx([2.664, 3, 2], abs=1e-3)
    assert (found["line"], found["upright"]) == (pytest.approx(2 + 5 / 3 * 3 / 14), 2)


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_an_output_depends_on_an_input_where_the_gradient_of_the_books_blocks_is_not_zero(tmp_path):
    size, deep, rng = 7, 3, torch.Generator().manual_seed(0)
    masks = [torch.ones(size, size, dtype=torch.bool).tril(-1), torch.rand(size, size, generator=rng) < 0.3]
    script = """
        const lists = (reach) => reach.map((set) => [...set].sort());
        return GIVEN.masks.map((mask) => [1, 2, 3].map((layers) => lists(LIVE.reach(mask, 7, layers))));"""
    given = {"masks": [mask.int().flatten().tolist() for mask in masks]}
    found = answer(tmp_path, script, given=given, figures=["masks"])
    blocks = Stack(TransformerConfig(d_model=8, heads=2, layers=deep, d_ff=16, positions="none")).double().eval().layers

    def read(x, layers, mask):
        for block in blocks[:layers]:
            x = block(x, mask).x
        return x

    for mask, by_layers in zip(masks, found, strict=True):
        for layers, reach in enumerate(by_layers, start=1):
            x = torch.randn(1, size, 8, dtype=torch.float64, generator=rng)
            slopes = torch.autograd.functional.jacobian(lambda x, at=(layers, mask): read(x, *at), x)
            depends = slopes[0, :, :, 0].abs().amax(dim=(1, 3)) > 0  # (T, T): outputs by inputs
            assert reach == [row.nonzero().flatten().tolist() for row in depends]
