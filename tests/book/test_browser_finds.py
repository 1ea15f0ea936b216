"""What Chromium reports of a page with planted faults, so that its silence on the book's pages means something."""

import pytest
from browser import chromium, look_at

pytestmark = [pytest.mark.slow, pytest.mark.skipif(chromium() is None, reason="no Chromium on the path")]

DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head><title>A page</title><style>
    body {{ background: white; color: black }}
    [data-theme="dark"] body {{ background: black; color: white }}
    .faint {{ color: #ccc }}
    .fades {{ color: #111 }}
    .cell_output pre {{ overflow-x: auto; width: 200px }}
    figure {{ overflow-x: auto; width: 200px }}
    .text_html {{ background: {ground} }}
</style></head>
<body><main class="bd-article"><h1>A page</h1><p>Words, and <b>bold ones</b>.</p><p>Words again.</p>
<div class="highlight"><pre><span class="k">def</span> <span class="k">if</span></pre></div>
<div class="cell"><div class="cell_output"><pre tabindex="0">{line}</pre>
<div class="text_html"><p>A table</p></div></div></div>
<figure id="fig-1" tabindex="0"><img src="{dot}" alt="a square" width="{width}" height="9"></figure>
{more}</main></body></html>"""
GOOD = {"dot": DOT, "line": "a short line", "width": 20, "more": "", "ground": "none"}
BAD = {
    "light.html": {"more": '<p class="faint">Hardly to be seen by day</p>'},
    "dark.html": {"more": '<p class="fades">Gone by night, and by day like any other</p>'},
    "code.html": {
        "more": '<div class="highlight"><pre><span class="faint">x</span> <span class="faint">else</span></pre></div>'
    },
    "ground.html": {"more": '<div style="background: #111"><p><span>Words on a ground of their own</span></p></div>'},
    "image.html": {"more": f'<img src="{DOT}">'},
    "bright.html": {"ground": "#eee"},
    "wide.html": {"line": "a line that goes on and on and on and on and on and on"},
    "unsaid.html": {"width": 500},
    "vain.html": {"more": '<figure id="fig-2" data-hinted="true" tabindex="0">It fits</figure>'},
}
NOTHING = {"light": [], "dark": [], "wide": [], "unsaid": [], "errors": []}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    for name, faults in ({"good.html": {}} | BAD).items():
        (folder / name).write_text(PAGE.format(**(GOOD | faults)), encoding="utf-8")
    found = look_at(folder, ["good.html", *BAD, "missing.html"], tmp_path_factory.mktemp("browser"), seconds=120)
    return {
        page: {kind: faults for kind, faults in kinds.items() if kind != "heights"} for page, kinds in found.items()
    }


def test_a_good_page_has_no_faults(seen):
    assert seen["good.html"] == NOTHING


@pytest.mark.parametrize("page, kind, words", [
    ("light.html", "light", "color-contrast: <p class=\"faint\">"),
    ("dark.html", "dark", "color-contrast: <p class=\"fades\">"),
    ("code.html", "light", "color-contrast: <span class=\"faint\">"),
    ("ground.html", "light", "color-contrast: <span>"),
    ("image.html", "light", "image-alt: <img"),
    ("bright.html", "dark", "bright ground in the dark: A table"),
    ("wide.html", "wide", "desktop: a line that goes on"),
    ("unsaid.html", "unsaid", "phone: fig-1"),
    ("vain.html", "unsaid", "desktop: in vain: fig-2"),
])  # fmt: skip
def test_a_planted_fault_is_found(seen, page, kind, words):
    assert any(words in fault for fault in seen[page][kind])


@pytest.mark.parametrize("page, others", [
    ("light.html", ["wide", "unsaid", "errors", "dark"]), ("dark.html", ["light", "wide", "unsaid", "errors"]),
    ("image.html", ["dark", "wide", "unsaid", "errors"]), ("wide.html", ["light", "dark", "unsaid", "errors"]),
])  # fmt: skip
def test_and_nothing_else_is_said_of_the_page(seen, page, others):
    assert {kind: seen[page][kind] for kind in others} == {kind: [] for kind in others}


def test_a_page_that_does_not_open_is_an_error(seen):
    assert seen["missing.html"]["errors"] != []
