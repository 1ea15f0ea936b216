"""A new chapter, evidence, or lab: the files that it is made of, filled in far enough to run and to be tested at once.

What is laid down lies in ``templates/``; which template goes where stands here and nowhere else.
"""

import json
import re
from pathlib import Path

from nbformat import NotebookNode, v4

from coursekit import CourseError
from coursekit.exercises import filled
from coursekit.newexercise import CHECKS, RIGHT, TEXT, exercise_words, fill, load, template
from coursekit.notebooks import normalise, read, to_text, write, write_bytes
from coursekit.project import Lab, Project
from misread.exercise import About

FIRST = "mean_over_words"  # the exercise that a new lab begins with
CHAPTER, EVIDENCE = "chapters/@NUMBER@_@TOPIC@.ipynb", "chapters/@NUMBER@_@TOPIC@_evidence.ipynb"
# template -> where it goes; a template that ends in .md becomes a notebook
FILES = {
    "chapter": {"chapter.md": CHAPTER, "evidence.md": EVIDENCE},
    "evidence": {"evidence.md": EVIDENCE},
    "lab": {
        "lab.md": "solutions/lab@NUMBER@_@TOPIC@/lab@NUMBER@_@TOPIC@.ipynb",
        "lab/checks.py.template": "utils/attnlabs/lab@NUMBER@/__init__.py",
        CHECKS: f"utils/attnlabs/lab@NUMBER@/{FIRST}.py",
        "lab/right.py.template": "tests/attnlabs/lab@NUMBER@/right.py",
        "lab/adversarial.py.template": "tests/attnlabs/lab@NUMBER@/adversarial.py",
        "lab/test.py.template": "tests/attnlabs/lab@NUMBER@/test_lab@NUMBER@.py",
    },
}
# what of a number must not be there yet
TAKEN = {
    "chapter": ("chapters/@NUMBER@_*",),
    "evidence": ("chapters/@NUMBER@_*_evidence.ipynb",),
    "lab": ("solutions/lab@NUMBER@_*", "utils/attnlabs/lab@NUMBER@*", "tests/attnlabs/lab@NUMBER@*"),
}
CELL = re.compile(r"^%% (markdown|code) (\S+)(?: (\{.*\}))?$", re.MULTILINE)
TOPIC = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def lay_down(project: Project, kind: str, number: int, topic: str, title: str | None = None) -> list[Path]:
    """Writes the files of a new ``"chapter"``, ``"evidence"`` or ``"lab"``, and returns them, the notebook first.

    `topic` becomes part of the names, such as bert_gpt; `title` is what people read, made of the topic when left out.
    Raises CourseError, and writes nothing, for a number or a topic that is none, where that number is taken, and for
    evidence for a chapter that isn't there."""
    words = _words(number, topic, title)
    if kind == "evidence" and not (project.root / fill(CHAPTER, words)).is_file():
        raise CourseError(f"evidence is for a chapter, and there is no {fill(CHAPTER, words)}; nothing was written")
    if found := taken(project, kind, number, topic):
        raise CourseError(f"{kind} {number} is there already: {', '.join(found)}; nothing was written")
    files = {project.root / fill(place, words): _content(name, words) for name, place in FILES[kind].items()}
    for path, text in files.items():
        write_bytes(text.encode(), path)
    notebook, *others = files
    if kind == "lab":
        write(filled(read(notebook), notebook.stem[:5], {FIRST: load(others[1])}), notebook)
    return list(files)


def next_steps(kind: str, number: int, topic: str) -> str:
    """What is to be done with a new chapter or lab, step by step, with the commands."""
    words = _words(number, topic, None)
    places = [fill(place, words) for place in FILES[kind].values()]
    named = {"@chapter@": places[0], "@lab@": places[0], "@evidence@": places[-1]}
    if kind == "lab":
        named |= {"@checks@": places[2], "@test@": str(Path(places[-1]).parent.as_posix())}
    return template(f"{kind}_next.txt", words | named)


def run_and_release(project: Project, kind: str, notebook: Path) -> None:
    """Runs the new notebook, so that it is stored as the course stores notebooks, and makes the lab's released copy.

    Raises CourseError where a cell fails."""
    from coursekit.execute import execute
    from coursekit.release import release

    execute(notebook, timeout=600)
    if kind == "lab":
        name = notebook.stem
        release(Lab(name, notebook, project.root / "labs" / name / notebook.name))


def notebook_from(text: str) -> NotebookNode:
    """The notebook of a template: each cell begins with a line ``%% markdown NAME`` or ``%% code NAME {metadata}``."""
    parts = CELL.split(text)[1:]
    cells = []
    for kind, name, metadata, source in zip(*[iter(parts)] * 4, strict=True):
        make = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
        cells.append(make(source.strip("\n"), id=name, metadata=json.loads(metadata or "{}")))
    return normalise(v4.new_notebook(cells=cells))


def _words(number: int, topic: str, title: str | None) -> dict[str, str]:
    if not 1 <= number <= 99:
        raise CourseError(f"a number from 1 to 99 is wanted, not {number}")
    if not TOPIC.fullmatch(topic):
        raise CourseError(f"a topic is called like bert_gpt, in small letters, not {topic!r}")
    title = title or topic.replace("_", " ").capitalize()
    return {"@NUMBER@": f"{number:02d}", "@CHAPTER@": str(number), "@TOPIC@": topic, "@TITLE@": title}


def taken(project: Project, kind: str, number: int, topic: str) -> list[str]:
    """What is there already of a chapter or lab with this number, whatever its topic."""
    words = _words(number, topic, None)
    found = [path for pattern in TAKEN[kind] for path in project.root.glob(fill(pattern, words))]
    return sorted(project.relative(path) for path in found)


def _content(name: str, words: dict[str, str]) -> str:
    if name not in FILES["chapter"]:
        first = exercise_words(f"lab{words['@NUMBER@']}", FIRST, About(points=2, minutes=10), None)
        words = first | words | {"@EXERCISE@": template(TEXT, first), "@RIGHT@": template(RIGHT, first)}
    text = template(name, words)
    if not name.endswith(".md"):
        return text
    notebook = notebook_from(text)
    notebook.metadata["attnbook"] = _about(name, words)
    return to_text(notebook)


def _about(name: str, words: dict[str, str]) -> dict[str, str | int]:
    """What the metadata of a new notebook say of it."""
    about: dict[str, str | int] = {"title": words["@TITLE@"], "machine_seconds": 10}
    if name == "chapter.md":
        return about | {"edition": 3}
    if name == "evidence.md":
        return about | {"title": f"Evidence for Chapter {words['@CHAPTER@']}"}
    return about | {"minutes": 45}  # `coursekit release` computes them from the exercises
