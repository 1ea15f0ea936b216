"""The sub-commands of `coursekit` for teachers: handout, slides, mistakes."""

import argparse
from pathlib import Path

from coursekit.project import Project


def run_handout(project: Project, options: argparse.Namespace) -> int:
    """Makes one zip file of a lab, which a student opens without a copy of the project: the notebook, the wheel of the
    book's package, the tested versions, and README.txt with the three commands that open it. Links lead to the built
    book at the address that --book gives; without it, chapters are named by their titles. Made twice, the file is
    the same byte for byte."""
    from coursekit.teaching.handout import write_handout

    (lab,) = project.choose_labs([options.lab])
    path = options.to or Path(f"{lab.name}.zip")
    write_handout(project, lab, path, options.book)
    print(f"{path}: written")
    return 0


def run_slides(project: Project, options: argparse.Namespace) -> int:
    """Makes slides of a chapter from its own cells: one HTML page, which needs no network. A heading begins a slide;
    figures, the beginning of a section's first paragraph, displayed formulas, lists, tables and short code stay, and
    all prose is in the speaker's notes. A cell's tags overrule this: slide shows the whole cell, slide-notes puts it
    into the notes, slide-skip leaves it out. Keys: arrows, N for notes, S for a speaker's window, P to print."""
    from coursekit.slides.page import choose_chapter, write_slides

    for chapter in [choose_chapter(project, name) for name in options.chapters] or project.chapters:
        print(f"{write_slides(project, chapter, options.to)}: written")
    return 0


def run_mistakes(project: Project, options: argparse.Namespace) -> int:
    """Tells which mistakes a class made, from what `coursekit grade` stored in the folder of the course: a table by
    exercise with the number of students and their share, and a page mistakes.html with a figure and with what to say
    in the next lecture: the check's own words, and the section to read again. No names of students appear."""
    from coursekit.mistakes.report import lines, write_report
    from coursekit.mistakes.tally import graded_labs, tally

    names = [lab.name for lab in project.choose_labs(options.labs)] if options.labs else graded_labs(options.course)
    tallies = [tally(options.course, name) for name in names]
    for one in tallies:
        print("\n".join(lines(one)))
    print(f"{write_report(options.course, tallies, options.book)}: written")
    return 0


def _handout_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("lab", metavar="LAB", help="such as lab02")
    command.add_argument("--to", type=Path, metavar="FILE.zip", help="where it goes (default: the lab's name, here)")
    command.add_argument(
        "--book", metavar="URL", help="the address of the built book, such as https://example.org/book"
    )


def _slides_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("chapters", nargs="*", metavar="CHAPTER", help="such as 02 (default: all)")
    command.add_argument("--to", type=Path, default=Path("slides"), metavar="FOLDER", help="default: slides/, here")


def _mistakes_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("course", type=Path, metavar="FOLDER", help="of the course, made by `coursekit course`")
    command.add_argument("labs", nargs="*", metavar="LAB", help="such as lab02 (default: all that are graded)")
    command.add_argument("--book", metavar="URL", help="the address of the built book, for links to its sections")


TEACHING = {
    "handout": (run_handout, "one file with a lab and all that it needs", _handout_arguments),
    "slides": (run_slides, "slides of a chapter, for a lecture", _slides_arguments),
    "mistakes": (run_mistakes, "which mistakes a class made", _mistakes_arguments),
}
