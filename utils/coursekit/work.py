"""Students' work: which notebooks hold some, and the folder work/, where labs are solved."""

import hashlib
import json
from pathlib import Path

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.notebooks import grader, is_answer, read, was_run, write_bytes
from coursekit.project import Lab, files_in, folders
from coursekit.textquestion import STUB as TEXT_STUB

WORK = "work"
RECORD = ".copied.json"  # in work/: file of labs/ -> the hash of what was copied
STUB = "raise NotImplementedError()"  # what nbgrader leaves of a solution; of a written one `textquestion.STUB`


def work_problem(lab: Lab) -> str | None:
    """Why the lab's folder in labs/ must not be written over, in a sentence, or None.

    `release` and `verify` both ask this function, so that they always agree."""
    if not lab.released.is_file() or not holds_work(lab.released):
        return None
    return (
        f"labs/{lab.name}/{lab.released.name} holds somebody's work (it was run, or an answer was changed): move "
        f"it to {WORK}/{lab.name}/, or write over it with `coursekit release --overwrite {lab.number}`"
    )


def holds_work(path: Path) -> bool:
    """Whether a released notebook was run, or one of its answer cells was changed since it was released.

    Raises CourseError for a file that is no notebook."""
    notebook = read(path)
    return was_run(notebook) or any(map(_was_changed, filter(is_answer, notebook.cells)))


def copy_labs(root: Path) -> list[str]:
    """Copies to work/ what is in labs/ and not yet there, and writes over nothing; returns what to tell.

    Raises CourseError when there is no lab, or when work/ cannot be written."""
    labs = folders(root / "labs")
    if not labs:
        raise CourseError("labs/ holds no lab: run `coursekit release`, which makes them from solutions/")
    try:
        record = _read_record(root / WORK / RECORD)
        told = [line for lab in labs for line in _copy(lab, root / WORK, record)]
        write_bytes(f"{json.dumps(record, indent=1, sort_keys=True)}\n".encode(), root / WORK / RECORD)
    except OSError as error:
        raise CourseError(f"the labs cannot be copied to {root / WORK}: {error}") from error
    return told


def _was_changed(cell: NotebookNode) -> bool:
    """By nbgrader's checksum, which was taken when the cell was released: the source may have changed since."""
    from nbgrader.utils import compute_checksum

    released_as = grader(cell).get("checksum")
    if released_as is None:  # some editors drop metadata that they don't know
        return STUB not in cell.source and TEXT_STUB not in cell.source
    return compute_checksum(cell) != released_as


def _copy(lab: Path, work: Path, record: dict[str, str]) -> list[str]:
    """Copies one lab's files, and notes their hashes in `record`."""
    told, newer = [], False
    for name in (f"{lab.name}/{file}" for file in files_in(lab)):
        content = (lab.parent / name).read_bytes()
        now = hashlib.sha256(content).hexdigest()
        if not (work / name).exists():
            write_bytes(content, work / name)
            told.append(f"{WORK}/{name}: copied from labs/")
            record[name] = now
        # a file that nobody recorded counts as today's: only what changes from now on is told
        newer |= record.setdefault(name, now) != now and (work / name).read_bytes() != content
    if newer:
        told.append(
            f"{WORK}/{lab.name}: the lab has changed since it was copied, and your copy stays as it is; to get "
            "the new lab beside it, rename your folder and run `coursekit lab` again"
        )
    return told


def _read_record(path: Path) -> dict[str, str]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}  # the first time; or somebody edited it, and then we start anew rather than stop a student
    return record if isinstance(record, dict) else {}
