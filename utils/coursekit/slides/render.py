"""Parts of a slide as HTML, each with an estimate of the height that it takes, in pixels."""

from __future__ import annotations

import base64
import mimetypes
import re
import struct
from html import escape
from math import ceil
from pathlib import Path

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.slides.blocks import Block, items
from coursekit.slides.labels import Labels
from coursekit.teaching.sentences import first_sentences

LETTERS, LINE, CODE_LINE, ROW = 88, 38, 26, 46  # a line's letters, and heights
SEE = re.compile(r"^(.*?)\s*\*\*What to see\*\*:\s*(.*)$", re.DOTALL)
DISPLAYED = re.compile(r"\$\$(?P<inside>.*?)\$\$(?:\s*\((?P<label>[\w-]+)\))?", re.DOTALL)
Part = tuple[str, float]
Picture = tuple[str, str, float]  # the picture, its caption, and its width by its height


def markdown(text: str, labels: Labels) -> str:
    """Markdown of the book as HTML; formulas stay as they are, for MathJax."""
    from nbconvert.filters import markdown2html

    return markdown2html(labels.plain(text)).strip()


def inline(text: str, labels: Labels) -> str:
    """A line of Markdown as HTML, without a paragraph around it."""
    return re.sub(r"^<p>(.*)</p>$", r"\1", markdown(text, labels), flags=re.DOTALL)


def paragraph(text: str, labels: Labels) -> Part:
    """A paragraph."""
    return markdown(text, labels), _lines(text) * LINE + 16


def bullets(text: str, words: int, labels: Labels) -> Part:
    """A list, of each item its first sentences."""
    tag = "ol" if re.match(r"\d", text) else "ul"
    shown = [_item(item, words, labels) for item in items(text)]
    return f"<{tag}>{''.join(html for html, _ in shown)}</{tag}>", sum(height for _, height in shown) + 10


def _item(text: str, words: int, labels: Labels) -> Part:
    """An item of a list: its first sentences, and its displayed formulas."""
    said = first_sentences(DISPLAYED.split(text)[0].strip(), words)
    html, height = inline(said, labels), _lines(said) * LINE + 10.0
    for found in DISPLAYED.finditer(text):
        shown, more = formula(Block("formula", found["inside"].strip(), label=found["label"] or ""), labels)
        html, height = html + shown, height + more
    return f"<li>{html}</li>", height


def formula(block: Block, labels: Labels) -> Part:
    """A displayed formula, with its number in the book."""
    number = labels.places.get(block.label, "").strip("()") if block.label else ""
    tag = f"\\tag{{{number}}}" if number else ""
    inside = block.text
    rows = inside.count("\\\\") + 1
    return f'<div class="formula">$$\n{escape(inside)}{tag}\n$$</div>', rows * 62 + 30


def table(text: str, labels: Labels) -> Part:
    """A table."""
    rows = text.splitlines()
    height = sum(max(1, ceil(len(labels.plain(row)) / 110)) * ROW for row in rows) - ROW
    return f'<div class="table">{markdown(text, labels)}</div>', height


def code(source: str, printed: str) -> Part:
    """Code, and what it prints."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    html = highlight(source, PythonLexer(), HtmlFormatter(cssclass="code")) if source else ""
    html += f'<pre class="printed">{escape(printed)}</pre>' if printed else ""
    return html, (len(source.splitlines()) + len(printed.splitlines())) * CODE_LINE + 40


def figure_of_cell(cell: NotebookNode, about: dict, labels: Labels) -> Picture:
    """A stored figure, with what to see in it."""
    caption, alt = about.get("caption", ""), cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    parts = SEE.match(caption)
    see = parts[2] if parts else caption
    number = labels.places.get(about.get("name", ""), "")
    kind, data = _stored(cell)
    return _picture(kind, data, alt, f"**{number}.** {see[:1].upper()}{see[1:]}" if number else see, labels)


def caption_in_full(about: dict, labels: Labels) -> str:
    """A figure's whole caption, for the notes."""
    number, caption = labels.places.get(about.get("name", ""), ""), about.get("caption", "")
    return markdown(f"{number}. {caption}" if number else caption, labels)


def picture_of_file(block: Block, labels: Labels, folder: Path) -> Picture:
    """A picture that the text names: its file becomes a part of the page."""
    path = folder / block.title
    if not path.is_file():
        raise CourseError(f"{folder.name}/: there is no picture {block.title}")
    kind = mimetypes.guess_type(path.name)[0] or "image/png"
    return _picture(kind, path.read_bytes(), block.options.get("alt", ""), block.text, labels)


def whole(block: Block, labels: Labels, folder: Path) -> Part:
    """A block as it stands: for the notes, and for cells that are to be shown in full."""
    if block.kind == "formula":
        return formula(block, labels)
    if block.kind == "table":
        return table(block.text, labels)
    if block.kind == "box" and block.name == "figure":
        image, caption, _ = picture_of_file(block, labels, folder)
        return f"<figure>{image}{caption}</figure>", 500
    return markdown(block.text, labels), _lines(block.text) * LINE + 16


def _picture(kind: str, data: bytes, alt: str, caption: str, labels: Labels) -> Picture:
    address = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    shown = f"<figcaption>{inline(caption, labels)}</figcaption>"
    return f'<img src="{address}" alt="{escape(alt)}">', shown, aspect(kind, data)


def aspect(kind: str, data: bytes) -> float:
    """A picture's width by its height, from a PNG's first bytes or an SVG's view box; 2 where it cannot be told."""
    if kind == "image/png" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width / height
    box = re.search(rb'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', data)
    return float(box[1]) / float(box[2]) if box else 2.0


def _stored(cell: NotebookNode) -> tuple[str, bytes]:
    """The kind and the bytes of the cell's first picture."""
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            return "image/png", base64.b64decode("".join(data["image/png"]))
        if "image/svg+xml" in data:
            return "image/svg+xml", "".join(data["image/svg+xml"]).encode()
    raise CourseError(f"cell {cell.id} has no stored picture: run `coursekit execute`")


def _lines(text: str) -> int:
    bare = re.sub(r"\$[^$]*\$", lambda formula: "x" * (len(formula[0]) // 2), text)
    return ceil(len(re.sub(r"\{[\w:-]+\}|[*`]", "", bare)) / LETTERS)
