"""What is known of one submission: who handed it in, where it lies, its grade, and whether that still holds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import attnbook
from coursekit import CourseError
from coursekit.grading.isolation import PACKAGES
from coursekit.grading.names import submissions
from coursekit.grading.submission import notebooks_in
from coursekit.notebooks import write_bytes
from coursekit.project import folders

FAULT = "the grader itself failed; the next run tries again:"
NOT_RUN = "it is new or changed, and was not run yet"
SHARED = ("magics", "notebooks", "unsolved", "work")  # modules of coursekit that tell what of a notebook is run
VERSION = 1  # of what is written about a submission; another one is graded again


@dataclass(frozen=True)
class Job:
    """One submission to be graded: the student's name, their folder, the lab's source, and where its grade goes."""

    student: str
    folder: Path
    source: Path
    grade: Path

    @property
    def lab(self) -> str:
        """The lab's name."""
        return self.source.stem

    @property
    def checks(self) -> str:
        """The name of the lab's checks, "lab02"."""
        return self.lab.split("_", 1)[0]


@dataclass(frozen=True)
class Grade:
    """What is known about one submission. `refused`: why it could not be graded; then there are no marks."""

    student: str
    lab: str
    digest: str = ""
    refused: str = ""
    notes: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    late: dict[str, Any] | None = None  # what `deadlines.lateness` found; None until it was marked
    text: dict[str, Any] | None = None  # points (None: not read), of and comment of the text question, if it is used
    version: int = VERSION

    @property
    def earned(self) -> float | None:
        """The points of all exercises, or None for a submission that could not be graded."""
        return None if self.refused else sum(mark["points"] for mark in self.marks)

    @property
    def earned_with_text(self) -> float:
        """The points of exercises and text question, as far as they are known, before anything is taken off."""
        read = self.text["points"] if self.text else None
        return (self.earned or 0.0) + (read or 0.0)

    @property
    def points(self) -> float | None:
        """What is left of those of the exercises if it was handed in late."""
        return self._kept(self.earned)

    @property
    def text_points(self) -> float | None:
        """What is left of the points of the text question; None where nobody has read the answer, or asked for one."""
        return self._kept(self.text["points"]) if self.text else None

    @property
    def total(self) -> float | None:
        """The sum of both, or None as long as one of them is not known."""
        points, text = self.points, self.text_points
        return None if points is None or text is None else round(points + text, 2)

    def _kept(self, points: float | None) -> float | None:
        share = self.late["kept"] if self.late else 1.0
        return None if points is None else round(share * points, 2)

    @property
    def possible(self) -> float | None:
        """The points that the lab has, or None where that is not known."""
        return sum(mark["of"] for mark in self.marks) if self.marks else None


def jobs_of(term: Path, lab: str) -> list[Job]:
    """All submissions of a lab in the folder of a term. Raises CourseError where there is no such lab, or none."""
    source = term / "source" / lab / f"{lab}.ipynb"
    if not source.is_file():
        known = ", ".join(folder.name for folder in folders(term / "source")) or "none"
        raise CourseError(f"{term} has no source of {lab!r}; sources there: {known}. `coursekit term` makes them")
    found = submissions(term, lab)
    if not found:
        raise CourseError(
            f"nobody has handed in {lab}: in {term}, there is nothing in downloaded/{lab}/ and no folder "
            f"submitted/NAME/{lab}/"
        )
    return [Job(name, place, source, term / "graded" / name / f"{lab}.json") for name, place in found.items()]


def current(job: Job) -> Grade | None:
    """What an earlier run found, or None if there was none or something has changed since."""
    known = stored(job)
    return known if known is not None and known.digest == digest(job) else None


def grades_so_far(jobs: list[Job]) -> list[Grade]:
    """What is known about each submission; one that must be run first is refused, with this reason."""
    return [_so_far(job, stored(job)) for job in jobs]


def _so_far(job: Job, known: Grade | None) -> Grade:
    if known is not None and (known.digest == digest(job) or known.refused.startswith(FAULT)):
        return known
    return Grade(job.student, job.lab, refused=NOT_RUN)


def store(job: Job, grade: Grade) -> None:
    """Keep a grade for the next step, and for the next run."""
    write_bytes(json.dumps(asdict(grade), indent=1).encode(), job.grade)


def stored(job: Job) -> Grade | None:
    """What an earlier run found, or None."""
    try:
        found = Grade(**json.loads(job.grade.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.version == VERSION else None


def digest(job: Job) -> str:
    """Changes when the submission, the lab's source, its checks or the grader does."""
    found = hashlib.sha256(job.source.read_bytes())
    found.update(what_judges(job.checks).encode())
    for path in notebooks_in(job.folder):
        found.update(path.name.encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()


@cache
def what_judges(lab: str) -> str:
    """A hash of all that a verdict depends on but the submission: the lab's checks, the engine and the grader."""
    labs, kit = PACKAGES / "attnlabs", PACKAGES / "coursekit"
    folders = [PACKAGES / "misread", *(labs / name for name in ("families", "fakes", lab)), kit / "grading"]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml")]
    found = hashlib.sha256(attnbook.__version__.encode())
    for path in sorted([*paths, *(kit / f"{name}.py" for name in SHARED)]):
        found.update(path.relative_to(PACKAGES).as_posix().encode() + path.read_bytes())
    return found.hexdigest()
