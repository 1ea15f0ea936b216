"""Evidence for a chapter: what must hold of these pages, of their place in the book, and of the links to them."""

import re
from pathlib import Path

from nbformat import NotebookNode

from coursekit.notebooks import prose, read
from coursekit.project import Project, is_evidence
from coursekit.sections import Section, anchors, sections

CONTENTS, FIRST_PAGE = Path("book/_toc.yml"), Path("book/evidence.md")
LISTED = re.compile(r"^\s*-?\s*(caption|file): *\"?(.*?)\"? *$", re.MULTILINE)
# Sections of an evidence page that report no result.
NO_RESULT = {"What this page does not show", "What to remember", "Exercises", "Further reading"}
RESULT = re.compile(r"\s*\*\*(?:(?!\*\*).)*?\d.*?\*\*")  # bold from the start, with a digit in it
TO_EVIDENCE = re.compile(r"\]\((\d\d_\w+_evidence\.ipynb)(?:#([\w-]+))?\)")
EVIDENCE_LABEL = re.compile(r"\{(?:ref|numref|eq)\}`(?:[^`<]*<)?(\w+-(\d\d)e-[\w-]+)>?`")


def chapter_of(evidence: Path) -> Path:
    """The chapter that an evidence page belongs to: 02_bahdanau.ipynb of 02_bahdanau_evidence.ipynb."""
    return evidence.with_name(evidence.name.replace("_evidence", ""))


def place_problems(project: Project) -> list[str]:
    """Pages of chapters/ that the book does not show, and evidence that stands elsewhere than among evidence."""
    if not (project.root / CONTENTS).is_file():
        return []
    listed = LISTED.findall((project.root / CONTENTS).read_text(encoding="utf-8"))
    part_of: dict[str, str] = {}
    caption = ""
    for kind, value in listed:
        caption = value if kind == "caption" else caption
        if kind == "file":
            part_of[value] = caption
    return [problem for path in project.chapters for problem in _place_problems(project, path, part_of)]


def _place_problems(project: Project, path: Path, part_of: dict[str, str]) -> list[str]:
    name, problems = f"chapters/{path.stem}", []
    if not is_evidence(path):
        return [] if name in part_of else [f"{name}.ipynb is not in {CONTENTS.as_posix()}: the book does not show it"]
    if not chapter_of(path).is_file():
        problems.append(f"{name}.ipynb is evidence for a chapter that is not there: chapters/{chapter_of(path).name}")
    first = FIRST_PAGE.with_suffix("").as_posix()
    if part_of.get(name) != part_of.get(first) or name not in part_of:
        problems.append(f"{name}.ipynb is not placed: write `- file: {name}` below `{first}` in {CONTENTS.as_posix()}")
    if f"](../{name}.ipynb)" not in (project.root / FIRST_PAGE).read_text(encoding="utf-8"):
        problems.append(f"{name}.ipynb has no sentence and no link in {FIRST_PAGE.as_posix()}")
    return problems


def section_problems(path: Path, notebook: NotebookNode) -> list[str]:
    """What the sections of an evidence page lack: a label, a result with its number in front, the way back."""
    found = []
    for one in sections(notebook):
        if one.title not in NO_RESULT:
            found += [f"section {one.title!r} {lack}" for lack in _lacks(one, path)]
    return found


def _lacks(one: Section, path: Path) -> list[str]:
    number, chapter = path.name[:2], chapter_of(path).name
    to_chapter = re.compile(rf"\]\({re.escape(chapter)}[#)]|\{{\w+\}}`[^`]*\b\w+-{number}-[\w-]+>?`")
    lacks = {
        f"has no label in front of its heading, such as (sec-{number}e-…)=": one.label.startswith(f"sec-{number}e-"),
        "does not begin with its result: one bold sentence that holds a number": RESULT.match(one.text),
        f"does not link back to {chapter}": to_chapter.search(one.text),
    }
    return [lack for lack, there in lacks.items() if not there]


def link_problems(path: Path, notebook: NotebookNode) -> list[str]:
    """Links of a chapter to evidence that lead nowhere, and evidence that its own chapter does not link to."""
    targets, problems = _targets(path, prose(notebook)), []
    for page, anchor in targets:
        if not page.is_file():
            problems.append(f"links to {anchor or page.name}, and there is no chapters/{page.name}")
        elif anchor and anchor not in anchors(read(page)):
            problems.append(f"links to {anchor}, which {page.name} does not have")
    own = path.with_name(f"{path.stem}_evidence.ipynb")
    if own.is_file() and own not in [page for page, _ in targets]:
        problems.append(f"does not link to its evidence, {own.name}")
    return problems


def _targets(path: Path, text: str) -> list[tuple[Path, str]]:
    """The evidence pages that a chapter links to, each with the label or heading there, if the link names one."""
    targets = [(path.with_name(name), anchor) for name, anchor in TO_EVIDENCE.findall(text)]
    for label, number in EVIDENCE_LABEL.findall(text):
        pages = sorted(path.parent.glob(f"{number}_*_evidence.ipynb"))
        targets.append((pages[0] if pages else path.with_name(f"{number}_…_evidence.ipynb"), label))
    return targets
