"""What the tests of the book share: where it is, its configuration, its pages when built."""

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

pytest.register_assert_rewrite("seen_pages")

ROOT = Path(__file__).resolve().parents[2]
EMPTY = {"img", "link", "meta", "input", "br", "hr", "source", "embed", "track", "area", "base", "col", "wbr"}


class Page(HTMLParser):
    """One built page: its elements in order, its ids, and the text of the scripts written into it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(path.read_text(encoding="utf-8"))
        self.ids = [attributes["id"] for _, attributes in self.elements if attributes.get("id")]

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag if tag not in EMPTY else self._inside

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)

    def all(self, *tags: str) -> list[dict[str, str]]:
        """The attributes of all elements with one of these tags."""
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def config() -> dict:
    return yaml.safe_load((ROOT / "book/_config.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def toc_parts() -> list[tuple[str, list[str]]]:
    """The table of contents, the title page first: each caption, and the files below it in order, without endings."""
    toc = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        if "caption" in part:
            parts.append((part["caption"], []))
        parts[-1][1].extend(entry["file"] for entry in part["chapters"])
    return parts


@pytest.fixture(scope="session")
def toc_files(toc_parts) -> list[str]:
    """What the table of contents lists, in order, without endings."""
    return [file for _, files in toc_parts for file in files]


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book; ATTNBOOK_HTML names another than book/_build/html."""
    folder = Path(os.environ.get("ATTNBOOK_HTML", ROOT / "book/_build/html"))
    if not (folder / "book/index.html").exists():
        pytest.skip("the book has not been built: make book")
    return folder.resolve()


@pytest.fixture(scope="session")
def pages(html: Path) -> dict[str, Page]:
    """The built pages by their path under the folder of the built book."""
    names = (path.relative_to(html).as_posix() for path in sorted(html.rglob("*.html")))
    return {name: Page(html / name) for name in names if not name.startswith(("_static/", "_sources/"))}
