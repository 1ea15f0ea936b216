"""Each live figure in Chromium, from the disk: it starts, says what it shows, and survives every control."""

import gzip
import re

import pytest
from browser import chromium
from live_pages import PAGES, ROOT, answer, asked, live_weights, scripts

FIGURES = sorted(path.stem for path in (ROOT / "book/live/figures").glob("*.js"))

ROBOT = (ROOT / "tests/helpers/live_robot.js").read_text(encoding="utf-8")
TRIED = """
    const found = {};
    for (const name of GIVEN.names) { found[name] = await tried(name); }
    return { found, faults };"""
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
      gradient: LIVE.scoreGradients([0, 0], [[1, 0], [-1, 0]], [1, 0]),
      unshrunk: LIVE.onlineSoftmax([4, 6, 6], [1, 2, 3], 1, false),
      plane: LIVE.attendInPlane([1, 0], [[1, 0], [0, 2]], [[1, 0], [0, 1]], "dot", 1),
      hull: LIVE.hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]),
      chances: chances(2, 1), cut: chances(0, 0.5), frequencies: LIVE.frequencies(100, 2),
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
def test_what_a_figure_cannot_take_is_said_in_a_sentence(tried):
    fields = {name: seen for name, seen in tried["found"].items() if "refused" in seen}
    assert fields
    assert {name for name, seen in fields.items() if not re.fullmatch(r"Please write .+\.", seen["refused"])} == set()
    assert {name for name, seen in fields.items() if not seen["strange"] and name != "beam"} == set()


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_a_link_keeps_the_state(tmp_path):
    found = answer(tmp_path, ROBOT + LINKED, figures=["masks"])
    assert found["faults"] == []
    assert "layers:4" in found["search"]
    assert found["hash"] == "#fig-masks"


def test_each_figure_stands_on_a_page_and_each_page_asks_for_a_known_one():
    assert {name for page in PAGES for name, _ in asked(page)} == set(FIGURES)


def test_the_scripts_of_a_page_are_small():
    live, sizes = ROOT / "book/live", {}
    for page in PAGES:
        names = sorted({name for name, _ in asked(page)})
        files = [*scripts(), *(f"figures/{name}.js" for name in names)]
        sizes[page.name] = len(gzip.compress(b"".join((live / file).read_bytes() for file in files), 9)) if names else 0
    assert {page: size for page, size in sizes.items() if size > 30_000} == {}
    assert max(sizes.values()) > 0


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
def test_by_hand_online_softmax_masks_and_gradients(tmp_path):
    figures = ["online_softmax", "masks", "gradient", "query", "pointers", "sampling", "positions"]
    found = answer(tmp_path, BY_HAND, figures=figures)
    last = found["online"][-1]
    assert (last["largest"], last["total"]) == (6, pytest.approx(2.1353, abs=1e-4))
    assert last["summed"] == pytest.approx(0.1353 + 2 + 3, abs=1e-4)
    assert (found["unshrunk"][-1]["total"], found["unshrunk"][-1]["summed"]) == (3, 6)
    assert found["reach"] == [[0], [0, 1], [1, 2]]
    assert found["twice"] == [[0], [0, 1], [0, 1, 2]]
    assert found["gradient"]["gradients"] == [-0.5, 0.5]  # α = ½ each, v − c = ±1, target − c = 1
    assert found["plane"]["weights"] == pytest.approx([0.7311, 0.2689], abs=1e-4)
    assert sorted(found["hull"]) == [0, 1, 2, 3]
    assert found["chances"] == pytest.approx([0.7311, 0.2689, 0], abs=1e-4)
    assert found["cut"] == [1, 0, 0]
    assert found["frequencies"] == [1, 0.1]
    assert found["logits"] == [9, 8, 7, 5, 3, 1]
