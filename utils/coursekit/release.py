"""From solutions/ to labs/: what students get, made by nbgrader's own steps, but in memory."""

from pathlib import Path

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.notebooks import CHECK_OUTPUT, normalise, read, to_text, without_tag, write_bytes
from coursekit.project import Lab, files_in
from coursekit.regions import region_problem
from coursekit.work import work_problem


def released_files(lab: Lab) -> dict[str, bytes]:
    """What students get, as file name -> content: the notebook without solutions, and its data files.

    Raises CourseError for crooked regions, for files in the source folder that nobody listed, and for
    listed ones that are missing."""
    source = read(lab.source)
    problems = [f"cell {cell.id}: {problem}" for cell in source.cells if (problem := region_problem(cell))]
    if problems:
        raise CourseError(f"{lab.source.name} cannot be released\n" + "\n".join(f"  {p}" for p in problems))
    files = {name: (lab.source.parent / name).read_bytes() for name in data_files(lab, source)}
    return {lab.source.name: to_text(normalise(convert(source))).encode(), **files}


def convert(source: NotebookNode) -> NotebookNode:
    """The student's version of a lab's source, through nbgrader's preprocessors in nbgrader's order."""
    from nbconvert.exporters import NotebookExporter
    from nbformat import reads
    from nbgrader import preprocessors as steps
    from traitlets.config import Config

    config = Config()
    config.Exporter.default_preprocessors = []
    exporter = NotebookExporter(config=config)
    # nbgrader's own list, less the steps that need a database or a kernel
    for step in (
        steps.LockCells, steps.ClearSolutions, steps.ClearOutput, steps.ClearHiddenTests,
        steps.ClearMarkScheme, steps.ComputeChecksums, steps.CheckCellMetadata,
    ):  # fmt: skip
        exporter.register_preprocessor(step, enabled=True)
    text, _ = exporter.from_notebook_node(source)
    # unsolved, a graded cell shows nothing that a test could compare
    return without_tag(reads(text, as_version=4), CHECK_OUTPUT)


def release(lab: Lab, overwrite: bool = False) -> bool:
    """Makes the lab's folder in labs/; returns whether anything changed.

    Raises CourseError, and changes nothing, when the folder holds a file that release didn't make or
    (unless `overwrite`) somebody's work."""
    files = released_files(lab)
    folder = lab.released.parent
    _refuse_strangers(folder, files)
    if not overwrite and (problem := work_problem(lab)):
        raise CourseError(problem)
    changed = [name for name, content in files.items() if _content(folder / name) != content]
    for name in changed:
        write_bytes(files[name], folder / name)
    return bool(changed)


def data_files(lab: Lab, source: NotebookNode) -> list[str]:
    """The data files that go out with the lab. Raises CourseError where they are not those that it lists."""
    listed = list(source.metadata.get("attnbook", {}).get("files", []))
    there = set(files_in(lab.source.parent)) - {lab.source.name}
    for name in sorted(there - set(listed)):
        raise CourseError(
            f"solutions/{lab.name}/{name} would reach students: move it away, or list it in the notebook's "
            "metadata as attnbook.files"
        )
    for name in sorted(set(listed) - there):
        raise CourseError(f"solutions/{lab.name}/{name} is listed in attnbook.files but isn't there")
    return listed


def _refuse_strangers(folder: Path, files: dict[str, bytes]) -> None:
    strangers = sorted(set(files_in(folder)) - set(files))
    if strangers:
        raise CourseError(
            f"labs/{folder.name}/ holds what release did not make: {', '.join(strangers)}. Move it away: "
            "labs/ is made from solutions/"
        )


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
