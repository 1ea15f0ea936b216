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


def _handout_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("lab", metavar="LAB", help="such as lab02")
    command.add_argument("--to", type=Path, metavar="FILE.zip", help="where it goes (default: the lab's name, here)")
    command.add_argument(
        "--book", metavar="URL", help="the address of the built book, such as https://example.org/book"
    )


TEACHING = {"handout": (run_handout, "one file with a lab and all that it needs", _handout_arguments)}
