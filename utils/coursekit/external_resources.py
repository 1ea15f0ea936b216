"""The external resources of a built page: what it would fetch. A book must read well with the network off."""

import re
from html.parser import HTMLParser
from pathlib import Path

AWAY = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
# <a href> and <link rel="canonical"> only name a place; everything here is fetched by the browser itself.
FETCHING = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "embed": ("src",), "object": ("data",),
    "source": ("src", "srcset"), "video": ("src", "poster"), "audio": ("src",), "track": ("src",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"), "input": ("src",),
}  # fmt: skip
FETCHING_LINKS = {
    "stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "manifest",
    "apple-touch-icon", "mask-icon",
}  # fmt: skip
IN_CSS = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
# a script that names a file to run or a font to load; a link in a comment has no such end
IN_SCRIPT = re.compile(r"['\"`]((?:https?:)?//[^'\"`\s]+\.(?:m?js|css|woff2?|ttf|wasm))(?:[?#][^'\"`]*)?['\"`]")


def external_resources(html: Path) -> list[str]:
    """What the pages, styles and scripts of a built book would load from elsewhere, as ``file: address``."""
    found = []
    for path in sorted(html.rglob("*")):
        loads = _LOOKS.get(path.suffix)
        if loads and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{path.relative_to(html).as_posix()}: {address}" for address in loads(text)]
    return found


def loads_of_page(text: str) -> list[str]:
    """What one HTML page (or SVG picture) would load."""
    page = _Page()
    page.feed(text)
    page.close()
    return page.found


def loads_of_style(text: str) -> list[str]:
    """What one style sheet would load."""
    return IN_CSS.findall(text)


def loads_of_script(text: str) -> list[str]:
    """The addresses of code, styles and fonts that a script names."""
    return IN_SCRIPT.findall(text)


class _Page(HTMLParser):
    """Collects addresses from tags, style attributes, and what stands inside <style> and <script>."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag if tag in ("script", "style") else ""
        values = {name: value or "" for name, value in attrs}
        names = FETCHING.get(tag, ())
        if tag == "link" and FETCHING_LINKS & set(values.get("rel", "").lower().split()):
            names = ("href",)
        for name in names:
            if AWAY.match(values.get(name, "")):
                self.found.append(values[name].strip())
        self.found += loads_of_style(values.get("style", ""))

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.found += loads_of_style(data)
        elif self._inside == "script":
            self.found += loads_of_script(data)


_LOOKS = {".html": loads_of_page, ".svg": loads_of_page, ".css": loads_of_style, ".js": loads_of_script}
