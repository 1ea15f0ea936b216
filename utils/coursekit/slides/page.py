"""`coursekit slides`: one HTML page per chapter, which needs no network; MathJax lies beside it."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from coursekit import CourseError
from coursekit.notebooks import read, write_bytes
from coursekit.project import Project, files_in
from coursekit.slides.choose import Chooser
from coursekit.slides.deck import Slide
from coursekit.slides.labels import Labels

TEMPLATES = files("coursekit") / "templates" / "slides"
MATHJAX = Path("book/_static/mathjax")
STYLE = "a11y-high-contrast-light"  # colours of code, as in the book


def write_slides(project: Project, chapter: Path, folder: Path) -> Path:
    """Write the slides of a chapter to `folder`, with MathJax beside them; returns the page's path."""
    path = folder / f"{chapter.stem}.html"
    write_bytes(slides_page(project, chapter).encode(), path)
    mathjax = project.root / MATHJAX
    if not mathjax.is_dir():
        raise CourseError(f"{MATHJAX.as_posix()} is missing in {project.root}: slides need it for their formulas")
    for name in files_in(mathjax):
        write_bytes((mathjax / name).read_bytes(), folder / "mathjax" / name)
    return path


def slides_page(project: Project, chapter: Path) -> str:
    """The page with all slides of a chapter."""
    slides = Chooser(Labels(project.root), chapter.parent).slides(read(chapter))
    if not slides:
        raise CourseError(f"{project.relative(chapter)} has nothing to show on slides")
    title = re.sub(r"<[^>]+>", "", slides[0].title)
    shown = "\n".join(section(slide, number, len(slides)) for number, slide in enumerate(slides, start=1))
    parts = {"style": style(), "script": _template("slides.js"), "title": escape(title, quote=False)}
    return Template(_template("page.html")).substitute(parts | {"slides": shown})


def section(slide: Slide, number: int, of: int) -> str:
    """One slide with its notes."""
    tag = "h1" if slide.level == 1 else "h2"
    notes = "\n".join(slide.notes) or "<p>Nothing to add.</p>"
    return (
        f'<section class="slide level{min(slide.level, 3)}" id="s{number}" aria-label="Slide {number} of {of}">\n'
        f"<{tag}>{slide.title}</{tag}>\n"
        f'<div class="body">\n{chr(10).join(slide.parts)}\n</div>\n'
        f'<p class="number">{number} / {of}</p>\n</section>\n'
        f'<aside class="notes" aria-label="Notes on slide {number}">\n{notes}\n</aside>'
    )


def style() -> str:
    """The page's own style, and the colours of code."""
    from pygments.formatters import HtmlFormatter

    return _template("slides.css") + HtmlFormatter(style=STYLE).get_style_defs(".code")


def choose_chapter(project: Project, name: str) -> Path:
    """The chapter called for, by ``02``, ``2``, ``02_bahdanau`` or a path. Raises CourseError where it isn't there."""
    wanted = Path(name).stem if name.endswith(".ipynb") else Path(name).name
    for path in project.chapters:
        if wanted in (path.stem, path.stem[:2], path.stem[:2].lstrip("0") or "0"):
            return path
    known = ", ".join(path.stem for path in project.chapters) or "none"
    raise CourseError(f"there is no chapter {name!r}; chapters: {known}")


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
