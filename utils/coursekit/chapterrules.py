"""What a notebook must carry to be shown in the book: outputs, captions, alt text, a modest size.

What holds of evidence, of chapters in the form of the third edition, and of models in one file, stands in `evidence`,
`edition` and `standalone`.
"""

import re
from collections import Counter
from pathlib import Path

from nbformat import NotebookNode

from coursekit.edition import edition_problems, is_third
from coursekit.evidence import chapter_of, link_problems, section_problems
from coursekit.notebooks import code_cells, images, normalise, prose, read, to_text
from coursekit.project import is_evidence
from coursekit.standalone import standalone_problems

LARGEST = 2_000_000  # bytes
UNSTABLE = re.compile(r" at 0x[0-9a-f]{6,}|0x[0-9a-f]{10,}")  # an object's address: another one in each run
LEFT_OVER = re.compile(r"<[^<>]*>")  # such as <All keys matched successfully>, which load_state_dict returns
BARE_IMAGE = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=)[^>]*>")


def chapter_problems(path: Path) -> list[str]:
    """What is wrong with a chapter as it is stored."""
    notebook = read(path)
    problems = stored_problems(path) + about_problems(notebook, "title")
    if BARE_IMAGE.search(prose(notebook)):
        problems.append("a picture in the prose has no alt text")
    if not is_evidence(path):
        return problems + edition_problems(notebook) + link_problems(path, notebook) + standalone_problems(notebook)
    chapter = chapter_of(path)
    return problems + (section_problems(path, notebook) if chapter.is_file() and is_third(read(chapter)) else [])


def about_problems(notebook: NotebookNode, *keys: str) -> list[str]:
    """What of `keys` the notebook fails to say of itself, for the status page."""
    about = notebook.metadata.get("attnbook", {})
    missing = [key for key in keys if not about.get(key)]
    return [f"the notebook's metadata lack attnbook.{key}" for key in missing]


def stored_problems(path: Path) -> list[str]:
    """What is wrong with stored outputs, in a chapter or in a solved lab."""
    notebook = read(path)
    problems = []
    if path.stat().st_size > LARGEST:
        problems.append(f"{path.stat().st_size / 1e6:.1f} MB stored; the limit is {LARGEST / 1e6:.0f} MB")
    not_run = [c.id for c in code_cells(notebook) if c.source.strip() and c.execution_count is None]
    if not_run:
        problems.append(f"cells without a run, from {not_run[0]} on: run `coursekit execute` on it")
    elif to_text(normalise(notebook)) != path.read_text(encoding="utf-8"):
        problems.append("not stored in the course's form: run `coursekit execute` on it")
    for cell in code_cells(notebook):
        problems += [f"cell {cell.id}: {problem}" for problem in _output_problems(cell) + _figure_problems(cell)]
    return problems


def repeated_figure_names(paths: list[Path]) -> list[str]:
    """Figure names that stand on more than one cell of the book."""
    cells = (cell for path in paths for cell in code_cells(read(path)))
    names = Counter(name for cell in cells if (name := figure(cell).get("name")))
    return [f"figure name {name} stands {count} times" for name, count in sorted(names.items()) if count > 1]


def figure(cell: NotebookNode) -> dict:
    """The cell's caption and name, as the book reads them."""
    return cell.metadata.get("mystnb", {}).get("figure", {})


def _output_problems(cell: NotebookNode) -> list[str]:
    problems = []
    for output in cell.outputs:
        if output.output_type == "error":
            problems.append(f"a stored error: {output.ename}")
        shown = output.get("text", "") + str(output.get("data", {}).get("text/plain", ""))
        if address := UNSTABLE.search(shown):
            problems.append(f"shows an address that changes with each run: {address[0].strip()}")
        elif LEFT_OVER.fullmatch(shown) and set(output.get("data", {})) == {"text/plain"}:
            problems.append(f"shows what its last line returned, {shown}: end this line with ;")
    return problems


def _figure_problems(cell: NotebookNode) -> list[str]:
    if not images(cell):
        return ["has a figure's caption, but stored no picture"] if figure(cell) else []
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
    parts = {"caption": figure(cell).get("caption"), "name": figure(cell).get("name"), "alt text": alt}
    problems = [f"a picture without {what}" for what, value in parts.items() if not str(value or "").strip()]
    if images(cell) > 1:
        problems.append(f"{images(cell)} pictures in one cell: give each a cell and a caption of its own")
    return problems
