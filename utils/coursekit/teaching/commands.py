"""The sub-commands of `coursekit` for teachers: term, grade, exam, handout, slides, mistakes.

What they make lies in the folder of the term, or else in work/, which git ignores, unless --to says where."""

import argparse
from pathlib import Path

from coursekit.project import Project


def run_term(project: Project, options: argparse.Namespace) -> int:
    """Makes a folder for one term, in which labs are handed out and graded: the labs' sources, the settings, deadlines,
    and a README with the commands that a term needs. A folder that is there keeps its settings and its grades, and
    gets the sources of today."""
    from coursekit.term import make_term

    for name in make_term(options.folder, project.choose_labs(options.labs)):
        print(f"{options.folder / name}: written")
    return 0


def run_grade(project: Project, options: argparse.Namespace) -> int:
    """Grades what students handed in (downloaded/LAB/ or submitted/NAME/LAB/ in the folder of a term) in six steps:
    collect takes downloads to submitted/; check reads the notebooks and runs nothing; run calls each notebook's
    functions, apart from everything else, later exercises with right helpers; mark takes off what lateness costs
    (deadlines.csv), and lays out the answers to the text question (text-LAB.html; their points go into text-LAB.csv);
    feedback writes feedback/NAME/LAB.html; export writes grades-LAB.csv, with a row for everybody in students.csv.
    --only takes one of them, or one of two that are never taken unasked: likeness compares the students' answers with
    each other, and gradebook writes the points into nbgrader's gradebook. One bad notebook stops nobody; what cannot be
    graded is listed, and its grade is left blank. The same command again runs only what is new or changed, and goes on
    where it stopped."""
    from coursekit.grading.command import Order, grade_lab

    isolated = not options.without_isolation
    for lab in project.choose_labs(options.labs):
        order = Order(options.term, lab.name, options.workers, isolated, options.export, options.book)
        for line in grade_lab(order, options.only):
            print(line, flush=True)
    return 0


def run_exam(project: Project, options: argparse.Namespace) -> int:
    """Makes a mid-term (chapters 1 to 8), a final (1 to 17) or a test on real models (19, 20) from
    questions whose numbers the seed draws: exam.html to print, exam.ipynb to fill in, and solutions.html with worked
    steps and points, which is for you alone.
    The same seed gives the same exam; another one gives other numbers at the same points and minutes. Whoever guesses
    the seed can make the solutions: choose a long one, or leave it out, and one is made that nobody guesses."""
    from coursekit.exams.command import make_exam, report

    folder = options.to or project.root / "work" / f"exam-{options.kind}"
    print(report(*make_exam(options.kind, options.seed, folder)))
    return 0


def run_handout(project: Project, options: argparse.Namespace) -> int:
    """Makes one zip file of a lab, which a student opens without a copy of the project: the notebook, the wheel of the
    book's package, the tested versions, and README.txt with the three commands that open it. Links lead to the built
    book at the address that --book gives; without it, chapters are named by their titles. Made twice, the file is
    the same byte for byte."""
    from coursekit.teaching.handout import write_handout

    (lab,) = project.choose_labs([options.lab])
    path = options.to or project.root / "work" / "handouts" / f"{lab.name}.zip"
    write_handout(project, lab, path, options.book)
    print(f"{path}: written")
    return 0


def run_slides(project: Project, options: argparse.Namespace) -> int:
    """Makes slides of a chapter from its own cells: one HTML page, which needs no network. A heading begins a slide;
    figures, the beginning of a section's first paragraph, displayed formulas, lists, tables and short code stay, and
    all prose is in the speaker's notes. A cell's tags overrule this: slide shows the whole cell, slide-notes puts it
    into the notes, slide-skip leaves it out. Keys: arrows, N for notes, S for a speaker's window, P to print."""
    from coursekit.slides.page import choose_chapter, write_slides

    folder = options.to or project.root / "work" / "slides"
    for chapter in [choose_chapter(project, name) for name in options.chapters] or project.chapters:
        print(f"{write_slides(project, chapter, folder)}: written")
    return 0


def run_mistakes(project: Project, options: argparse.Namespace) -> int:
    """Tells which mistakes a class made, from what `coursekit grade` stored in the folder of the term: a table by
    exercise with the number of students and their share, and a page mistakes.html with a figure and with what to say
    in the next lecture: the check's own words, and the section to read again. No names of students appear."""
    from coursekit.mistakes.report import lines, write_report
    from coursekit.mistakes.tally import graded_labs, tally

    names = [lab.name for lab in project.choose_labs(options.labs)] if options.labs else graded_labs(options.term)
    tallies = [tally(options.term, name) for name in names]
    for one in tallies:
        print("\n".join(lines(one)))
    print(f"{write_report(options.term, tallies, options.book)}: written")
    return 0


def lab_argument(command: argparse.ArgumentParser) -> None:
    """The labs that a command is for."""
    command.add_argument("labs", nargs="*", metavar="LAB", help="such as lab01 (default: all)")


def _term_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="FOLDER", help="where it shall be, such as ../autumn")
    lab_argument(command)


def _grade_arguments(command: argparse.ArgumentParser) -> None:
    steps = ("collect", "check", "run", "mark", "feedback", "export", "likeness", "gradebook")
    command.add_argument("term", type=Path, metavar="FOLDER", help="of the term, made by `coursekit term`")
    command.add_argument("labs", nargs="+", metavar="LAB", help="such as lab01")
    command.add_argument("--only", choices=steps, help="one step alone (default: the first six)")
    command.add_argument("--workers", type=int, default=2, help="notebooks run side by side (default 2)")
    command.add_argument("--export", choices=("csv", "moodle", "canvas"), default="csv", help="columns of the table")
    command.add_argument("--book", default="", metavar="URL", help="the built book, so that feedback can link to it")
    command.add_argument(
        "--without-isolation", action="store_true", help="no bubblewrap: only on a machine with nothing on it"
    )


def _exam_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--kind", choices=("midterm", "final", "models"), default="midterm", help="which exam (default midterm)"
    )
    command.add_argument("--seed", help="any text: the longer, the better (default: a new one, which is printed)")
    command.add_argument("--to", type=Path, metavar="FOLDER", help="default: work/exam-KIND/")


def _handout_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("lab", metavar="LAB", help="such as lab02")
    command.add_argument("--to", type=Path, metavar="FILE.zip", help="default: work/handouts/, by the lab's name")
    command.add_argument(
        "--book", metavar="URL", help="the address of the built book, such as https://example.org/book"
    )


def _slides_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("chapters", nargs="*", metavar="CHAPTER", help="such as 02 (default: all)")
    command.add_argument("--to", type=Path, metavar="FOLDER", help="default: work/slides/")


def _mistakes_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("term", type=Path, metavar="FOLDER", help="of the term, made by `coursekit term`")
    command.add_argument("labs", nargs="*", metavar="LAB", help="such as lab02 (default: all that are graded)")
    command.add_argument("--book", metavar="URL", help="the address of the built book, for links to its sections")


TEACHING = {
    "term": (run_term, "make a folder for a term, to hand out and grade", _term_arguments),
    "grade": (run_grade, "grade a lab's submissions, safely and in parallel", _grade_arguments),
    "exam": (run_exam, "make an exam or a short test, and its solutions", _exam_arguments),
    "handout": (run_handout, "one file with a lab and all that it needs", _handout_arguments),
    "slides": (run_slides, "slides of a chapter, for a lecture", _slides_arguments),
    "mistakes": (run_mistakes, "which mistakes a class made", _mistakes_arguments),
}
