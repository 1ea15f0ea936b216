"""The mistakes that the checks know, in a file that the book reads without PyTorch: `coursekit status --write`."""

import json
from pathlib import Path
from typing import NamedTuple

from coursekit.project import Project

FILE = Path("book/mistakes.json")


class Known(NamedTuple):
    """What is known of an exercise: how many properties its check tries, and the message of each mistake by name."""

    properties: int
    mistakes: dict[str, str]


class Listed(NamedTuple):
    """How many mistakes are looked for in every exercise, and what is known of each lab's exercises by their names."""

    general: int
    labs: dict[str, dict[str, Known]]


def known_mistakes(project: Project) -> Listed:
    """What the project's file says; nothing where a course has no such file."""
    if not (project.root / FILE).is_file():
        return Listed(0, {})
    said = json.loads((project.root / FILE).read_text(encoding="utf-8"))
    labs = {lab: {name: Known(**found) for name, found in exercises.items()} for lab, exercises in said["labs"].items()}
    return Listed(said["general"], labs)


def file_text() -> str:
    """What the file should say, from the checks themselves."""
    from attnlabs import catalogue  # which brings torch along

    labs = catalogue()
    general = {name for exercises in labs.values() for one in exercises.values() for name in one.general}
    said = {
        lab: {
            name: Known(len(one.properties), {found.name: found.message for found in one.mistakes})._asdict()
            for name, one in exercises.items()
        }
        for lab, exercises in labs.items()
    }
    return json.dumps({"general": len(general), "labs": said}, indent=1, ensure_ascii=False) + "\n"


def file_problems(project: Project) -> list[str]:
    """What is wrong with the file; a course need not have it."""
    path = project.root / FILE
    if not path.is_file() or path.read_text(encoding="utf-8") == file_text():
        return []
    return [f"{FILE.as_posix()} is out of step with the checks: run `coursekit status --write`"]
