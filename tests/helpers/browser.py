"""Chromium, asked what a reader would trip over on the pages of a folder: it opens each in a frame and reports back."""

import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from axe_core_python.base import AXE_SCRIPT

from coursekit.printing.chromium import NAMES, QUIET, VARIABLE

HARNESS = (Path(__file__).parent / "browser.html").read_text(encoding="utf-8")


def chromium() -> str | None:
    """The browser's program: the one that ATTNBOOK_CHROMIUM names, or one on the path; ``None`` without."""
    named = os.environ.get(VARIABLE)
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Pages(SimpleHTTPRequestHandler):
    """Serves the folder, the harness and axe, and takes what the harness found."""

    def do_GET(self) -> None:
        """Answer with the harness, axe, or a file."""
        path = self.path.split("?")[0]
        made = {"/__harness__.html": HARNESS, "/__axe__.js": AXE_SCRIPT}.get(path)
        if path.endswith("/mathjax/tex-chtml.js"):
            made = ""  # drawing formulas takes most of a page's time, and nothing here asks for them
        if made is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if path.endswith(".js") else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(made.encode("utf-8"))

    def do_POST(self) -> None:
        """Keep what was found on a page, or that the last page was looked at."""
        found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if found:
            self.server.found.update(found)
        else:
            self.server.finished.set()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Keeps what was found; a browser that hangs up early is no error."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(Pages, directory=str(folder)))
        self.found: dict[str, dict] = {}
        self.finished = threading.Event()

    def handle_error(self, *_: object) -> None:
        """Pass over a connection that was closed while a file was sent."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            raise


def look_at(folder: Path, pages: Sequence[str], profile: Path, seconds: float) -> dict[str, dict]:
    """What Chromium finds on each page: faults of accessibility by theme, boxes wider than their column, errors.

    Args:
        folder: of the built book. pages: paths in it. profile: an empty folder for the browser's files.
        seconds: until the browser is stopped, and TimeoutError raised.
    """
    server = Server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/__harness__.html?{','.join(pages)}"
    browser = subprocess.Popen(
        [chromium() or "chromium", *QUIET, "--window-size=1400,1000", f"--user-data-dir={profile}", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if not server.finished.wait(seconds):
            raise TimeoutError(f"after {seconds} s Chromium had looked at {len(server.found)} of {len(pages)} pages")
    finally:
        browser.kill()
        browser.wait()
        server.shutdown()
        server.server_close()
    return server.found
