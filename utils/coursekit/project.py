"""Where the course's files are: chapters, solutions and labs under one root."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from coursekit import CourseError

LAB_NAME = re.compile(r"lab\d\d_\w+", re.ASCII)  # other letters may be stored in two ways
IGNORED = {".ipynb_checkpoints", "__pycache__", ".DS_Store"}  # what editors leave behind; never released


@dataclass(frozen=True)
class Lab:
    """One lab: its source with the solutions, and the copy made for students."""

    name: str
    source: Path
    released: Path

    @property
    def number(self) -> str:
        """`lab01` of `lab01_bottleneck`."""
        return self.name.split("_", 1)[0]


def is_evidence(path: PurePath) -> bool:
    """Whether a page of chapters/ is the evidence for a chapter: a page without a number, a lab and a limit."""
    return path.stem.endswith("_evidence")


@dataclass(frozen=True)
class Project:
    """The course's folder."""

    root: Path

    @property
    def chapters(self) -> list[Path]:
        """All chapters, in reading order."""
        return sorted((self.root / "chapters").glob("*.ipynb"))

    @property
    def labs(self) -> list[Lab]:
        """All labs that have a source in solutions/. Raises CourseError for a folder that is none."""
        return [self._lab(folder) for folder in folders(self.root / "solutions")]

    def orphans(self) -> list[Path]:
        """Things in labs/ that no source in solutions/ made."""
        ours = {lab.name for lab in self.labs}
        labs = self.root / "labs"
        return sorted(p for p in labs.glob("*") if p.name not in ours | IGNORED) if labs.is_dir() else []

    def choose_labs(self, names: list[str]) -> list[Lab]:
        """The labs called for, by `lab01`, `lab01_bottleneck` or a path; all when none is called for.

        Raises CourseError for a lab that isn't there."""
        labs = self.labs
        return [_choose(name, labs) for name in names] if names else labs

    def relative(self, path: Path) -> str:
        """The path as it is shown to people: from the root, with forward slashes."""
        return path.resolve().relative_to(self.root.resolve()).as_posix()

    def _lab(self, folder: Path) -> Lab:
        source = folder / f"{folder.name}.ipynb"
        if not LAB_NAME.fullmatch(folder.name):
            raise CourseError(f"solutions/{folder.name}: a lab's folder is called like lab01_bottleneck")
        if not source.is_file():
            raise CourseError(f"solutions/{folder.name}/{source.name} is missing: it bears the folder's name")
        return Lab(folder.name, source, self.root / "labs" / folder.name / source.name)


def find_project(start: Path | None = None) -> Project:
    """The course that `start` (else the working folder) lies in. Raises CourseError outside of one."""
    start = (start or Path.cwd()).resolve()
    for folder in [start, *start.parents]:
        if (folder / "chapters").is_dir() or (folder / "solutions").is_dir():
            return Project(folder)
    raise CourseError(f"{start} is in no course: no folder above it holds chapters/ or solutions/")


def folders(parent: Path) -> list[Path]:
    """The folders in `parent`, without what editors leave behind; none where there is no `parent`."""
    if not parent.is_dir():
        return []
    return sorted(p for p in parent.iterdir() if p.is_dir() and p.name not in IGNORED)


def files_in(folder: Path) -> list[str]:
    """All files below `folder`, as paths relative to it, without what editors leave behind."""
    if not folder.is_dir():
        return []
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in paths if not IGNORED & set(path.parts))


def _choose(name: str, labs: list[Lab]) -> Lab:
    wanted = Path(name).stem if name.endswith(".ipynb") else Path(name).name
    for lab in labs:
        if wanted in (lab.name, lab.number):
            return lab
    known = ", ".join(lab.name for lab in labs) or "none"
    raise CourseError(f"there is no lab {name!r}; labs with a source in solutions/: {known}")
