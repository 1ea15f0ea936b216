"""What a chapter's page may cost: bytes of the first load, the processor's seconds, and no text that moves away.

The seconds are those that the thread which draws the page has used, by Chromium's own count, so that a busy machine
fails no test. On a machine that does nothing else, first text and formulas take about as long on the clock.
"""

import functools
import gzip
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import chromium
from devtools import tab

pytestmark = [pytest.mark.book, pytest.mark.slow]

MOST_BYTES, FIRST_TEXT, FORMULAS, MOST_SHIFT = 2_500_000, 0.5, 1.5, 0.05
LARGEST = 2  # so many chapters, those with the longest pages, are opened
SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((one) => { window.shifted += one.value; }))
        .observe({ type: "layout-shift", buffered: true });"""

WIDTHS = """
    const root = document.documentElement, full = root.clientWidth;
    document.body.replaceChildren();
    return [full, root.clientWidth];"""

# Three formulas, put onto the page: of half a line, a little too wide, and three times too wide.
FITTED = """
    const column = document.querySelector(".bd-article p").parentElement, drawn = [];
    for (const letters of [10, 24, 90]) {
      const box = document.createElement("div");
      box.className = "math notranslate nohighlight";
      box.textContent = String.raw`\\[` + "x + ".repeat(letters / 2) + String.raw`x\\]`;
      column.append(box);
      await MathJax.typesetPromise([box]);
      drawn.push(box.querySelector("mjx-container"));
    }
    dispatchEvent(new Event("resize"));
    return drawn.map((one) => parseFloat(one.style.fontSize) / parseFloat(one.dataset.size));"""


class Host(SimpleHTTPRequestHandler):
    """Serves files as hosts of static pages do: texts are compressed."""

    def do_GET(self) -> None:
        """Answer with a file."""
        path = Path(self.translate_path(self.path))
        if path.suffix not in (".html", ".css", ".js") or not path.is_file():
            return super().do_GET()
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def largest(html, toc_files):
    """The chapters with the longest pages."""
    chapters = [f"{name}.html" for name in toc_files if name.startswith("chapters/")]
    return sorted(chapters, key=lambda name: (html / name).stat().st_size)[-LARGEST:]


@pytest.fixture(scope="module")
def costs(html, largest, tmp_path_factory):
    """By chapter and width: bytes, seconds of the processor with and without scripts, and how far things moved."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Host, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = {}
    with tab(tmp_path_factory.mktemp("profile")) as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=SHIFTS)
        page.send("Network.setCacheDisabled", cacheDisabled=True)
        for width, height in ((1400, 1000), (390, 800)):
            page.size(width, height)
            for name in largest:
                found[name, width] = cost(page, f"http://127.0.0.1:{server.server_port}/{name}")
    server.shutdown()
    server.server_close()
    return found


def cost(page, address):
    """What one page costs."""
    page.send("Network.setBlockedURLs", urls=["*.js*"])
    text = seconds(page, address)
    page.send("Network.setBlockedURLs", urls=[])
    formulas = seconds(page, address, "await MathJax.startup.promise;")
    drawn = page.run("return document.querySelectorAll('mjx-container').length")
    finished = [one["params"] for one in page.events if one["method"] == "Network.loadingFinished"]
    fitted = page.run(FITTED)
    shifted = min(moved(page, address) for _ in range(2))  # a busy machine can only add: text that waits for a style
    size = sum(one["encodedDataLength"] for one in finished)
    full, empty = page.run(WIDTHS)
    found = {"bytes": size, "text": text, "formulas": formulas, "drawn": drawn, "shifted": shifted, "fitted": fitted}
    return {**found, "narrower": empty - full}


def moved(page, address):
    """How far things moved while a page loaded, by Chromium's measure."""
    page.open(address)
    return page.run("await MathJax.startup.promise; await new Promise((done) => setTimeout(done, 200)); return shifted")


def seconds(page, address, wait=""):
    """The seconds for which the thread that draws a page was busy, from a blank page until it is drawn."""
    page.open("about:blank")
    page.send("Performance.disable")
    page.send("Performance.enable", timeDomain="threadTicks")
    before = busy(page)
    page.open(address)
    page.run(f"{wait} await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));")
    return busy(page) - before


def busy(page):
    """The seconds that Chromium counts as spent on tasks."""
    metrics = page.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def over(costs, kind, most):
    return {where: found[kind] for where, found in costs.items() if found[kind] > most}


def test_a_chapters_first_load_has_few_bytes(costs, largest):
    assert {name for name, _ in costs} == set(largest)
    assert over(costs, "bytes", MOST_BYTES) == {}
    assert min(found["bytes"] for found in costs.values()) > 500_000


def test_its_text_is_there_at_once(costs):
    assert over(costs, "text", FIRST_TEXT) == {}


def test_its_formulas_are_drawn_soon(costs):
    assert all(found["drawn"] for found in costs.values())
    assert over(costs, "formulas", FORMULAS) == {}


def test_nothing_moves_while_it_loads(costs):
    assert over(costs, "shifted", MOST_SHIFT) == {}


def test_lines_are_as_wide_before_the_text_has_come(costs):
    assert over(costs, "narrower", 0) == {}


def test_a_formula_a_little_too_wide_is_drawn_smaller_and_a_much_wider_one_scrolls(costs):
    for (_, width), found in costs.items():
        fits, little, much = found["fitted"]
        assert (fits, much) == (1, 1)
        assert 0.68 < little < 1 or width > 1000
