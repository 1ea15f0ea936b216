"""Each live figure in Chromium, from the disk: it starts, says what it shows, keeps its state in a link, and survives every control."""

import gzip
import re

import pytest
from browser import chromium
from live_pages import ROOT, answer, live_weights, scripts

FIGURES = sorted(path.stem for path in (ROOT / "book/live/figures").glob("*.js"))
PAGES = [*(ROOT / "chapters").glob("*.ipynb"), *(ROOT / "book").glob("*.md")]
ASKED = re.compile(r'"live": "(\w+)"|:::\{live\} (\w+)')

# Starts all figures one after the other, each in an element as the book has it.
START = """
    const faults = [], wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    window.addEventListener("error", (event) => faults.push(event.message));
    window.addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
    const started = async (name) => {
      const box = LIVE.make("div", { class: "live", id: "live-" + name, "data-live": name, "data-weights": "", "data-size": "1 MB" });
      box.innerHTML = '<figure id="fig-' + name + '"><img alt="static"><figcaption>caption</figcaption></figure>';
      document.body.append(box);
      LIVE.start();
      box.querySelector(".live-start button").click();
      for (let i = 0; i < 400 && !box.dataset.state; i++) { await wait(25); }
      return box;
    };
"""
TRIED = (
    START
    + """
    const found = {};
    for (const name of GIVEN.names) {
      const box = await started(name), seen = { state: box.dataset.state };
      const text = (selector) => (box.querySelector(selector) || { textContent: "" }).textContent.trim();
      Object.assign(seen, { todo: text(".live-todo"), learned: text(".live-learned p"), about: text(".live-about"), said: text(".live-said"),
        caption: box.querySelector("figure > figcaption") !== null, folded: box.querySelector(".live-printed img") !== null,
        unnamed: Array.from(box.querySelectorAll("button, input, [role=slider], [role=button]")).filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.closest("label"))).length });
      for (const input of box.querySelectorAll("input[type=range]")) {
        for (const value of [input.min, input.max]) { input.value = value; input.dispatchEvent(new Event("input", { bubbles: true })); }
      }
      for (const input of Array.from(box.querySelectorAll("input[type=radio]"))) { input.click(); }
      for (const slider of Array.from(box.querySelectorAll("[role=slider], [data-point], .live-words button"))) {
        ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"].forEach((key) => slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
      }
      for (const button of Array.from(box.querySelectorAll(".live-room button")).slice(0, 60)) { button.click(); }
      for (const field of Array.from(box.querySelectorAll("input[type=text]"))) {
        const tell = (value) => { field.value = value; field.form.requestSubmit(); return box.querySelector(".live-fault").textContent; };
        seen.refused = tell("");
        seen.strange = tell("中");
      }
      seen.after = text(".live-said");
      found[name] = seen;
      box.remove();
    }
    return { found, faults };
"""
)


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """What each figure shows, and what went wrong when every control was moved."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    packs = list(live_weights.PACKS)
    return answer(tmp_path_factory.mktemp("figures"), TRIED, packs, {"names": FIGURES}, FIGURES)


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
def test_what_a_figure_cannot_take_is_said_in_a_sentence(tried):
    asked = {name: seen for name, seen in tried["found"].items() if "refused" in seen}
    assert asked
    assert {name for name, seen in asked.items() if not re.fullmatch(r"Please write .+\.", seen["refused"])} == set()
    assert {name for name, seen in asked.items() if not seen["strange"] and name != "beam"} == set()


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_a_link_keeps_the_state(tmp_path):
    script = (
        START
        + """
        const box = await started("masks"), slider = box.querySelector("input[type=range]");
        slider.value = 4;
        slider.dispatchEvent(new Event("input"));
        const link = box.querySelector(".live-about a");
        return { faults, search: decodeURIComponent(new URL(link.href).search), hash: new URL(link.href).hash };"""
    )
    found = answer(tmp_path, script, figures=["masks"])
    assert found["faults"] == []
    assert "layers:4" in found["search"]
    assert found["hash"] == "#fig-masks"


def test_each_figure_stands_on_a_page_and_each_page_asks_for_a_known_one():
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    asked = {name for text in texts for found in ASKED.findall(text) for name in found if name}
    assert asked == set(FIGURES)


def test_the_scripts_of_a_page_are_small():
    live, sizes = ROOT / "book/live", {}
    for page in PAGES:
        names = sorted(set(ASKED.findall(page.read_text(encoding="utf-8"))))
        files = [*scripts(), *(f"figures/{one or other}.js" for one, other in names)]
        sizes[page.name] = len(gzip.compress(b"".join((live / file).read_bytes() for file in files), 9)) if names else 0
    assert {page: size for page, size in sizes.items() if size > 30_000} == {}
    assert max(sizes.values()) > 0


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_by_hand_online_softmax_masks_and_gradients(tmp_path):
    script = """return {
        online: LIVE.onlineSoftmax([4, 6, 6], [1, 2, 3], 1), reach: LIVE.reach([1, 0, 0, 1, 1, 0, 0, 1, 1], 3, 1).map((set) => [...set].sort()),
        twice: LIVE.reach([1, 0, 0, 1, 1, 0, 0, 1, 1], 3, 2).map((set) => [...set].sort()), gradient: LIVE.scoreGradients([0, 0], [[1, 0], [-1, 0]], [1, 0]),
        plane: LIVE.attendInPlane([1, 0], [[1, 0], [0, 2]], [[1, 0], [0, 1]], "dot", 1), hull: LIVE.hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]),
        chances: Array.from(LIVE.chances(Float64Array.of(2, 1, 0), { temperature: 1, k: 2, p: 1 })), cut: Array.from(LIVE.chances(Float64Array.of(2, 1, 0), { temperature: 1, k: 0, p: 0.5 })),
        frequencies: LIVE.frequencies(100, 2), logits: Array.from(LIVE.allLogits({ size: 6, named: [["a", 9], ["b", 8]], others: [[2, 7], [5, 1]] })) };"""
    figures = ["online_softmax", "masks", "gradient", "query", "pointers", "sampling", "positions"]
    found = answer(tmp_path, script, figures=figures)
    last = found["online"][-1]
    assert (last["most"], last["sum"]) == (6, pytest.approx(2.1353, abs=1e-4))
    assert last["output"] == pytest.approx((0.1353 + 2 + 3) / 2.1353, abs=1e-4)
    assert found["reach"] == [[0], [0, 1], [1, 2]]
    assert found["twice"] == [[0], [0, 1], [0, 1, 2]]
    assert found["gradient"]["gradients"] == [-0.5, 0.5]  # α = ½ each, v − c = ±1, target − c = 1
    assert found["plane"]["weights"] == pytest.approx([0.7311, 0.2689], abs=1e-4)
    assert sorted(found["hull"]) == [0, 1, 2, 3]
    assert found["chances"] == pytest.approx([0.7311, 0.2689, 0], abs=1e-4)
    assert found["cut"] == [1, 0, 0]
    assert found["frequencies"] == [1, 0.1]
    assert found["logits"] == [9, 8, 7, 5, 3, 1]
