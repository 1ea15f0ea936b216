"""The built pages as one zip file, which is read from the disk without a network."""

from __future__ import annotations

from pathlib import Path

from coursekit.teaching.wheel import archive

FOLDER = "paying-attention"
NAME = "paying-attention-offline.zip"
LEFT_OUT = {".buildinfo", "objects.inv"}  # for Sphinx alone
README = """\
Paying Attention
================

Open index.html in a browser. Everything is in this folder: the pages need no network, and no program beside the
browser. The search works as well, and figures that run compute in the page.

A button under the title of a chapter or lab opens its notebook. To run it, you need the whole project.
"""


def offline_zip(html: Path) -> bytes:
    """The pages in `html`, with a README.txt, in a folder of their own; the same bytes for the same pages."""
    paths = [path for path in html.rglob("*") if path.is_file() and path.name not in LEFT_OUT]
    files = {f"{FOLDER}/{path.relative_to(html).as_posix()}": path.read_bytes() for path in paths}
    return archive(files | {f"{FOLDER}/README.txt": README.encode()})
