"""What an author does with notebooks by commands: `coursekit new`, `execute`, `release`, `verify` and `status`."""

import argparse
from pathlib import Path

from coursekit import CourseError
from coursekit.project import Project
from coursekit.teaching.commands import lab_argument


def run_execute(project: Project, options: argparse.Namespace) -> int:
    """Runs notebooks from top to bottom and stores their outputs, without times and warnings, so that a
    second run gives the same file. A notebook in which a cell fails stays as it was. Name the notebooks, or say
    --all, which runs and rewrites all chapters and solutions."""
    if options.paths and options.all:
        options.complain("name notebooks or say --all, but not both")
    if not options.paths and not options.all:
        options.complain("name the notebooks to run; --all runs, and rewrites, all chapters and solutions")
    from coursekit.execute import LIMIT, execute

    failed = 0
    for path in options.paths or [*project.chapters, *(lab.source for lab in project.labs)]:
        print(f"{path}: ", end="", flush=True)
        try:
            seconds = execute(path, options.timeout)
            print(f"{seconds:.0f} s" + (f", over the limit of {LIMIT} s" if seconds > LIMIT else ""))
        except CourseError as error:
            failed += 1
            print(error)
    return 1 if failed else 0


def run_new(project: Project, options: argparse.Namespace) -> int:
    """Lays down the skeleton of a chapter with its evidence, of evidence for a chapter that is there, `coursekit new
    evidence 05 gnmt`, or of a lab with its checks and their tests: one example exercise, filled in far enough to run.
    An exercise, `coursekit new exercise lab11 merge_pairs`, goes behind the lab's last one.
    Runs each notebook once, so that it is stored as the course stores notebooks, and says what to do next. Writes over
    nothing: a number or a name that is taken is refused."""
    from coursekit.new import lay_down, next_steps, run_and_release

    if options.kind == "exercise":
        return _new_exercise(project, options)
    if not options.number.isdecimal():
        options.complain(f"a {options.kind} has a number, such as 11, not {options.number!r}")
    options.number = int(options.number)
    written = lay_down(project, options.kind, options.number, options.topic, options.title)
    for path in written:
        print(f"{project.relative(path)}: written", flush=True)
    for path in [] if options.no_run else [path for path in written if path.suffix == ".ipynb"]:
        run_and_release(project, options.kind, path)
        print(f"{project.relative(path)}: run, and stored with what it shows")
    print("", next_steps(options.kind, options.number, options.topic), sep="\n", end="")
    return 0


def _new_exercise(project: Project, options: argparse.Namespace) -> int:
    from coursekit.new import run_and_release
    from coursekit.newexercise import exercise_steps, lay_down_exercise
    from misread.exercise import About

    (lab,) = project.choose_labs([options.number])
    about = About(options.points, options.minutes, options.difficulty, options.read_again)
    for path in lay_down_exercise(project, lab, options.topic, about, options.title):
        print(f"{project.relative(path)}: written", flush=True)
    if not options.no_run:
        run_and_release(project, "lab", lab.source)
        print(f"{project.relative(lab.source)}: run, and stored with what it shows")
    print("", exercise_steps(project, lab, options.topic), sep="\n", end="")
    return 0


def run_release(project: Project, options: argparse.Namespace) -> int:
    """Writes what the exercises in utils/attnlabs say into solutions/ (headings, table, answers, checks), and makes the
    students' copies in labs/ from it: solutions and hidden tests are taken out, outputs emptied. Stops, and says why,
    before it hands out a file nobody listed or loses one it did not make."""
    from coursekit.exercises import write_exercises
    from coursekit.release import release

    for lab in project.choose_labs(options.labs):
        if write_exercises(lab):
            print(f"{project.relative(lab.source)}: exercises written; run `coursekit execute` on it")
        changed = release(lab, options.overwrite)
        print(f"{project.relative(lab.released)}: {'written' if changed else 'in step already'}")
    for path in project.orphans():
        raise CourseError(f"{project.relative(path)} has no source in solutions/; move it away")
    return 0


def run_verify(project: Project, options: argparse.Namespace) -> int:
    """Checks that labs/ is byte for byte what solutions/ gives, that no solution or hidden test can be read
    in it, that each unsolved lab fails at its exercises and nowhere else, and that stored notebooks are
    complete: outputs, captions, alt text, size. Lists everything that needs mending."""
    from coursekit.verify import verify

    problems = verify(project, run=not options.no_run)
    for problem in problems:
        print(f"  {problem}")
    print(f"{len(problems)} to mend" if problems else "all in order")
    return 1 if problems else 0


def run_status(project: Project, options: argparse.Namespace) -> int:
    """Counts, for each chapter and lab: minutes (for chapters by rule), words, figures, claims, exercises and known
    mistakes. The book counts again each time it is built. It knows the checks' mistakes from book/mistakes.json, which
    --write makes anew. Whether all is in order, coursekit verify says."""
    from coursekit.mistakes.known import FILE, file_text
    from coursekit.notebooks import write_bytes
    from coursekit.status import plain, status_places

    if options.write:
        write_bytes(file_text().encode(), project.root / FILE)
        print(f"{FILE.as_posix()}: written")
    else:
        print("\n\n".join(map(plain, status_places(project).values())))
    return 0


def _execute_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK", help="what to run")
    command.add_argument("--all", action="store_true", help="run all chapters and all solutions")
    command.add_argument("--timeout", type=int, default=600, help="seconds one cell may take (default 600)")


def _new_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("kind", choices=("chapter", "evidence", "lab", "exercise"), help="what to lay down")
    command.add_argument("number", help="of the chapter, or of the lab's chapter: 11; of an exercise its lab: lab11")
    command.add_argument("topic", help="a name for files and folders, such as bert_gpt; of an exercise its function's")
    command.add_argument("--title", help='what people read, such as "BERT and GPT" (default: made of the topic)')
    command.add_argument("--points", type=float, default=1, help="of an exercise (default 1)")
    command.add_argument("--minutes", type=int, default=10, help="that an exercise takes (default 10)")
    command.add_argument("--difficulty", type=int, choices=range(1, 6), default=1, help="of an exercise (default 1)")
    command.add_argument(
        "--read-again",
        default="",
        metavar="HEADING",
        help="the section of the lab's chapter that explains an exercise (default: that of the exercise before it)",
    )
    command.add_argument("--no-run", action="store_true", help="write the files only")


def _release_arguments(command: argparse.ArgumentParser) -> None:
    lab_argument(command)
    command.add_argument("--overwrite", action="store_true", help="write over a lab that somebody has run")


def _verify_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-run", action="store_true", help="leave out running the unsolved labs")


def _status_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--write", action="store_true", help="write book/mistakes.json")


AUTHORING = {
    "new": (run_new, "lay down a new chapter, evidence, lab or exercise", _new_arguments),
    "execute": (run_execute, "run chapters and solutions and store their outputs", _execute_arguments),
    "release": (run_release, "make the students' labs from the solutions", _release_arguments),
    "verify": (run_verify, "check that labs, solutions and chapters are in order", _verify_arguments),
    "status": (run_status, "count chapters, labs, claims and known mistakes", _status_arguments),
}
