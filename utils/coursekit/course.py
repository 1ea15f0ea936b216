"""A folder in which a teacher runs the labs as a course, with nbgrader."""

from pathlib import Path

from coursekit.notebooks import CHECK_OUTPUT, read, to_text, without_tag, write_bytes
from coursekit.project import Lab
from coursekit.release import data_files, released_files

SETTINGS = """\
c = get_config()  # noqa: F821 (nbgrader brings it)
c.CourseDirectory.course_id = "paying_attention"
c.Execute.timeout = 300  # seconds that one cell of a submission may take
c.Execute.interrupt_on_timeout = True  # a cell that hangs counts as failed; the rest is still graded
"""

README = """\
# One run of the course

The labs' sources, with solutions and hidden tests, are in `source/`. In the environment of the book (`.venv`
activated, or `conda activate paying-attention`), from this folder, for each lab:

1. `nbgrader generate_assignment {lab}` makes `release/{lab}/`: give that to the students.
2. Put what they hand in at `submitted/NAME/{lab}/{lab}.ipynb`, a folder for each student.
3. `nbgrader autograde {lab}` runs and grades all of them.
4. `nbgrader generate_feedback {lab}` makes a page for each student in `feedback/`.
5. `nbgrader export` writes `grades.csv`.

Graded cells and hidden tests are put back before grading, so it does no harm when a student changed them.
nbgrader runs submissions unprotected: use it only on a machine where foreign code may do no damage, such as a
container, or one with nothing on it.

Steps 3 to 5 in one command, with each submission kept apart by bubblewrap (Linux), and without a gradebook: from
the book's folder, `coursekit grade FOLDER {lab}`, where FOLDER is this one. It writes `feedback/NAME/{lab}.html`
and `grades-{lab}.csv`, and grades only what is new or changed when it runs again.
"""


def make_course(folder: Path, labs: list[Lab]) -> list[str]:
    """Writes the sources of `labs`, and settings and README where there are none; returns what it wrote.

    Raises CourseError for a lab that could not be released."""
    files = {f"source/{lab.name}/{name}": content for lab in labs for name, content in _sources(lab).items()}
    example = labs[0].name if labs else "lab01_topic"
    about = {"nbgrader_config.py": SETTINGS, "README.md": README.format(lab=example)}
    files |= {name: text.encode() for name, text in about.items() if not (folder / name).exists()}
    for name, content in files.items():
        write_bytes(content, folder / name)
    return sorted(files)


def _sources(lab: Lab) -> dict[str, bytes]:
    released_files(lab)  # refuses what could not be handed out
    source = read(lab.source)
    files = {name: (lab.source.parent / name).read_bytes() for name in data_files(lab, source)}
    # without the tag that release takes out too, so that nbgrader hands out what release would
    return {lab.source.name: to_text(without_tag(source, CHECK_OUTPUT)).encode(), **files}
