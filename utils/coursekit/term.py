"""A folder for one term, in which a teacher hands out and grades the labs, with nbgrader."""

from pathlib import Path

from coursekit.grading.deadlines import FILE, TEMPLATE
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
# One term

The labs' sources, with solutions and hidden tests, are in `source/`. In the environment of the book (`.venv`
activated, or `conda activate paying-attention`), for each lab:

1. Here, `nbgrader generate_assignment {lab}` makes `release/{lab}/`: give that to the students.
2. Put what they hand in into `downloaded/{lab}/`, as Moodle, Canvas or your mailbox gives it: the zip of all
   submissions, a folder or a zip per student, or notebooks called `NAME.ipynb`. What is not taken is named, with the
   reason. What nbgrader's exchange collects lies in `submitted/NAME/{lab}/` already, and you can put notebooks there
   yourself.
3. From the book's folder, `coursekit grade FOLDER {lab}`, where FOLDER is this one. It writes a page for each
   student, `feedback/NAME/{lab}.html`, and the table `grades-{lab}.csv`. The same command again runs only what is
   new or changed, and it may be interrupted at any time.

4. Read the answers to the text question in `text-{lab}.html`, write points and comments into
   `text-{lab}.csv`, and give the command of step 3 again. If you do not ask the question, leave the table as it is.

`coursekit grade` takes six steps, and `--only STEP` takes one of them alone:

| step | what it does | what it writes |
| --- | --- | --- |
| `collect` | takes each student's latest notebook from `downloaded/` | `submitted/`; `earlier/` for what it replaces |
| `check` | reads the notebooks, runs nothing, and says what is missing | nothing |
| `run` | runs and judges what is new or changed, kept apart by bubblewrap (Linux) | `graded/NAME/{lab}.json` |
| `mark` | takes off what lateness costs | the same file |
| | lays out the answers to the text question | `text-{lab}.html` and, with empty rows, `text-{lab}.csv` |
| `feedback` | makes each student's page | `feedback/` |
| `export` | makes the table of grades | `grades-{lab}.csv` |

`--only likeness` compares the students' answers with each other and writes `likeness-{lab}.html`. `--only gradebook`
writes the points into nbgrader's gradebook, so that formgrader and `nbgrader export` know them.

**Who takes part** may stand in `students.csv`: the table that Moodle or Canvas exports, or one column `student`.
Who handed in nothing then has a row in the table of grades, with blank points.

**Deadlines** stand in `deadlines.csv`, which shows in its first lines how to write one. Without a deadline nothing is
taken off. The time of a submission is that of nbgrader's `timestamp.txt`, or else that of the notebook's file.

**With nbgrader alone**, steps 2 and 3 are: put what they hand in at `submitted/NAME/{lab}/{lab}.ipynb`, then
`nbgrader autograde {lab}`, `nbgrader generate_feedback {lab}`, and `nbgrader export`, which writes `grades.csv`.
Graded cells and hidden tests are put back before grading, so it does no harm when a student changed them. But nbgrader
runs submissions unprotected: use it only on a machine where foreign code may do no damage, such as a container, or
one with nothing on it.
"""


def make_term(folder: Path, labs: list[Lab]) -> list[str]:
    """Writes the sources of `labs`, and settings, deadlines and README where there are none; returns what it wrote.

    Raises CourseError for a lab that could not be released."""
    files = {f"source/{lab.name}/{name}": content for lab in labs for name, content in _sources(lab).items()}
    example = labs[0].name if labs else "lab01_topic"
    about = {"nbgrader_config.py": SETTINGS, "README.md": README.format(lab=example), FILE: TEMPLATE}
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
