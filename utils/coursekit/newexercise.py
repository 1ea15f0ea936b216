"""A new exercise in a lab: its checks, right answers and cells, filled in far enough to pass all tests at once."""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

from nbformat import v4

from coursekit import CourseError
from coursekit.exercises import exercises_of, filled
from coursekit.notebooks import read, write, write_bytes
from coursekit.project import Lab, Project
from misread.exercise import About, Exercise

TEMPLATES = Path(__file__).parent / "templates"
CHECKS, RIGHT, TEXT = (f"exercise/{name}" for name in ("checks.py.template", "right.py.template", "text.md"))
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LISTED = re.compile(r"^EXERCISES = \((.*?)\)$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"^(\w+ = Exercise)\(\n((?:    .+,\n)+)\)$", re.MULTILINE)
IMPORT = re.compile(r"^from \.\w+ import .+\n", re.MULTILINE)
WIDTH = 120  # of a line


def lay_down_exercise(project: Project, lab: Lab, name: str, about: About, title: str | None = None) -> list[Path]:
    """Writes a new exercise behind the lab's last one, and returns the files that it wrote, its own module first.

    Where `about` names no section to read again, that of the last exercise is taken. Raises CourseError, and writes
    nothing, for a name that no function of this course has or that is taken, and for a lab of another course."""
    known = exercises_of(lab)
    package = project.root / "utils" / "attnlabs" / lab.number
    module, right = package / f"{name}.py", project.root / "tests" / "attnlabs" / lab.number / "right.py"
    if not known:
        raise CourseError(f"{lab.name} belongs to another course than the packages that run: install those of this one")
    if not NAME.fullmatch(name):
        raise CourseError(f"an exercise is called like its function, such as mean_over_words, not {name!r}")
    if name in known or module.exists():
        raise CourseError(f"{project.relative(package)} has {name} already; nothing was written")
    words = exercise_words(lab.number, name, about, title, *list(known.values())[-1:])
    notebook, listing = read(lab.source), package / "__init__.py"
    last = [cell.id for cell in notebook.cells].index(f"{lab.number}-{list(known)[-1]}-check")
    notebook.cells.insert(last + 1, v4.new_markdown_cell(template(TEXT, words).strip(), id=f"{lab.number}-{name}-text"))
    texts = {
        module: laid_out(template(CHECKS, words)),
        listing: listed(listing.read_text(encoding="utf-8"), name),
        right: right.read_text(encoding="utf-8").rstrip() + "\n\n\n" + template(RIGHT, words),
    }
    for path, text in texts.items():
        write_bytes(text.encode(), path)
    write(filled(notebook, lab.number, {**known, name: load(module)}), lab.source)
    return [*texts, lab.source]


def exercise_words(number: str, name: str, about: About, title: str | None, *before: Exercise) -> dict[str, str]:
    """What stands in the templates of an exercise; what `about` leaves open is taken from the exercise before it."""
    section = about.read_again or (before[0].about.read_again if before else "What to remember")
    return {
        "@NAME@": name,
        "@CONSTANT@": name.upper(),
        "@TITLE@": title or name.replace("_", " ").capitalize(),
        "@CHAPTER@": str(int(number.removeprefix("lab"))),
        "@POINTS@": f"{about.points:g}",
        "@MINUTES@": str(about.minutes),
        "@DIFFICULTY@": str(about.difficulty),
        '"@READ@"': repr(section).replace("'", '"') if isinstance(section, tuple) else f'"{section}"',
    }


def exercise_steps(project: Project, lab: Lab, name: str) -> str:
    """What is to be done with a new exercise, step by step, with the commands."""
    tests = f"tests/attnlabs/{lab.number}"
    places = {"@lab@": project.relative(lab.source), "@module@": f"utils/attnlabs/{lab.number}/{name}.py"}
    places |= {"@right@": f"{tests}/right.py", "@tests@": tests, "@NUMBER@": lab.number, "@NAME@": name}
    return template("exercise_next.txt", places)


def template(name: str, words: Mapping[str, str]) -> str:
    """A template's text, filled in."""
    return fill((TEMPLATES / name).read_text(encoding="utf-8"), words)


def fill(text: str, words: Mapping[str, str]) -> str:
    """A text in which each word has given way to what it stands for."""
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


def listed(text: str, name: str) -> str:
    """The text of a lab's `__init__.py` with one exercise more, as `ruff format` lays it out."""
    imports = sorted([*IMPORT.findall(text), f"from .{name} import {name.upper()}\n"])
    text = IMPORT.sub("", text).replace("\n\n\nEXERCISES", f"\n\n{''.join(imports)}\nEXERCISES", 1)
    names = [*(found for found in re.split(r"[,\s]+", LISTED.findall(text)[0]) if found), name.upper()]
    line = f"EXERCISES = ({', '.join(names)})"
    if len(line) > WIDTH:
        line = "EXERCISES = (\n" + "".join(f"    {one},\n" for one in names) + ")"
    return LISTED.sub(lambda _: line, text)


def laid_out(text: str) -> str:
    """The checks of a new exercise as `ruff format` lays out their call, in as few lines as there is room for."""

    def call(found: re.Match[str]) -> str:
        *lines, about = found[2].splitlines()  # one argument in each
        parts = about.strip().removeprefix("about=About(").removesuffix("),")
        whole = " ".join(line.strip() for line in (*lines, about)).removesuffix(",")
        inside = (parts, re.sub(r", (?=\w+=)", ",\n        ", parts) + ",")
        broken = ("\n".join([*lines, f"    about=About(\n        {of}\n    ),"]) for of in inside)
        ways = [f"({whole})", *(f"(\n{of}\n)" for of in ("    " + whole, found[2].rstrip(), *broken))]
        short = (way for way in ways if max(map(len, (found[1] + way).splitlines())) <= WIDTH)
        return found[1] + next(short, ways[-1])

    return CALL.sub(call, text)


def load(module: Path) -> Exercise:
    """The exercise of a module that was just written, which is called like the module, in capitals."""
    spec = importlib.util.spec_from_file_location(module.stem, module)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return getattr(loaded, module.stem.upper())
