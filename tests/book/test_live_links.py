"""The link of a live figure, opened, gives the same picture and words, whatever was moved before."""

import shutil

import pytest
from browser import chromium
from live_pages import PAGES, ROOT, answer, asked, packs_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
STARTS = sorted({found for page in PAGES for found in asked(page)})
DRAWN = {"sampling", "captioner"}  # whose buttons draw by chance: they aren't pressed here, as no link keeps what came
HELPERS = "\n".join((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "links"))
LINKED = "\nreturn { different: await linked(GIVEN.name, GIVEN.start || undefined), faults };"


@pytest.mark.parametrize(("name", "start"), STARTS, ids=[f"{name}-{start[:12]}" for name, start in STARTS])
def test_a_link_gives_back_what_was_moved(name, start, tmp_path):
    given = {"name": name, "start": start, "drawn": name in DRAWN}
    found = answer(tmp_path, HELPERS + LINKED, packs_of(name), given, [name])
    assert found == {"different": [], "faults": []}


def test_a_figure_that_keeps_less_than_it_shows_is_found(tmp_path):
    live = tmp_path / "live"
    shutil.copytree(ROOT / "book/live", live)
    script = live / "figures/query.js"
    text = script.read_text(encoding="utf-8")
    assert text.count("kept({ beta:") == 1
    script.write_text(text.replace("kept({ beta:", "Object.assign(state, { beta:"), encoding="utf-8")
    found = answer(
        tmp_path, HELPERS + LINKED, (), {"name": "query", "start": "task:sharpness", "drawn": False}, ["query"], live
    )
    assert "sliders" in [kind for kind, *_ in found["different"]]
