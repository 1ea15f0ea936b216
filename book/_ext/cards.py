"""The picture of a page that is passed on: a card with the chapter's title and its first figure, 1200 by 630 pixels."""

from __future__ import annotations

import base64
import io
import textwrap
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont
from sphinx.application import Sphinx

from coursekit.notebooks import read
from coursekit.project import Project, is_evidence

SIZE, FOLDER = (1200, 630), "_static/cards"
INK, BLUE, EDGE = "#1b2733", "#1f63ad", 60
BOOK = "Paying Attention"
ABOUT = "A textbook that runs: from the first translators with attention to the models of today"


def first_figure(notebook: dict) -> Image.Image | None:
    """The first picture that a notebook's cells show, or nothing."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if picture := output.get("data", {}).get("image/png"):
                return Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    return None


def shade(weight: float) -> tuple[int, ...]:
    """The book's blue, the lighter the smaller a weight is."""
    return tuple(round(255 - weight * (255 - part)) for part in ImageColor.getrgb(BLUE))


def card(above: str, title: str, figure: Image.Image | None) -> Image.Image:
    """A card: a line above, a title in large letters, and a figure at the right, or a row of weights below."""
    made = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(made)
    draw.rectangle((0, 0, 16, SIZE[1]), fill=BLUE)
    draw.text((EDGE, EDGE), above, fill=BLUE, font=ImageFont.load_default(34))
    lines = textwrap.wrap(title, 20 if figure else 38)
    draw.multiline_text((EDGE, 125), "\n".join(lines), fill=INK, font=ImageFont.load_default(54), spacing=12)
    if figure:
        figure.thumbnail((580, SIZE[1] - 2 * EDGE))
        made.paste(figure, (SIZE[0] - EDGE // 2 - figure.width, (SIZE[1] - figure.height) // 2))
    else:
        for at, weight in enumerate((0.06, 0.02, 0.62, 0.22, 0.05, 0.03)):
            draw.rectangle((EDGE + 110 * at, 430, EDGE + 110 * at + 100, 530), fill=shade(weight), outline=BLUE)
    if above != BOOK:
        draw.text((EDGE, SIZE[1] - EDGE - 30), BOOK, fill=INK, font=ImageFont.load_default(30))
    return made


def is_newer(path: Path, *sources: Path) -> bool:
    """Whether a file is there and newer than what it is made of."""
    return path.exists() and path.stat().st_mtime > max(source.stat().st_mtime for source in sources)


def write_cards(app: Sphinx, error: Exception | None) -> None:
    """Write the cards of the chapters and the book's own; those that are newer than their notebooks stay."""
    if error is not None or app.builder.format != "html":
        return
    folder, own = Path(app.outdir) / FOLDER, Path(__file__)
    folder.mkdir(parents=True, exist_ok=True)
    if not is_newer(folder / "book.png", own):
        card(BOOK, ABOUT, None).save(folder / "book.png")
    for path in Project(Path(app.srcdir)).chapters:
        target = folder / f"{path.name[:2]}.png"
        if not is_evidence(path) and not is_newer(target, own, path):
            notebook = read(path)
            title = notebook["metadata"]["attnbook"]["title"]
            card(f"Chapter {int(path.name[:2])}", title, first_figure(notebook)).save(target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call what."""
    app.connect("build-finished", write_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
