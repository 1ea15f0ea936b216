"""Points: each answer is judged by the lab's own check, with the right helpers in place of wrong ones."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import attnlabs as checks
from coursekit import ROOMS
from coursekit.grading import wire
from coursekit.grading.remote import Remote, Session
from coursekit.grading.submission import Part, Submission
from coursekit.magics import parsed
from misread.exercise import Exercise
from misread.judge import Verdict, judge

NOT_THERE = (
    "✗ {name}: there is no such function. Its cell is gone, is no Python, gives the function another name, or stopped "
    "with an error before it was defined."
)
LEFT_OUT = (
    "✗ {name}: your cell imports this function from the book's packages, and they are not there in grading, because "
    "they hold right answers. Write the function in its cell."
)
ENDED = "✗ {name}: the process that ran your code ended before the check was done ({error}). No points could be given."
TELLING = 3  # statements of a reference whose copy is told: one or two of them may be what a hint dictates


@dataclass(frozen=True)
class Mark:
    """What one exercise earned, and why.

    Fields:
        mistake: the check's name for what is wrong, the property that does not hold, or the kind of what was seen;
            empty if all is right.
        helpers: functions of the student's that are wrong and were replaced by right ones while this one was judged.
        likeness: why the answer looks like the book's own code, or empty.
    """

    exercise: str
    points: float
    of: float
    message: str
    mistake: str = ""
    helpers: tuple[str, ...] = ()
    likeness: str = ""


def mark(lab: str, parts: list[Part], submission: Submission, session: Session) -> list[Mark]:
    """The marks of one submission; never raises for what a student's code does."""
    exercises = {exercise: checks.checks_of(lab).exercise(exercise) for exercise in (part.exercise for part in parts)}
    wrong: list[str] = []
    marks = []
    for part in parts:
        exercise, source = exercises[part.exercise], submission.answers.get(part.exercise, "")
        right = {name: exercises[name].reference for name in wrong}  # nothing is left to be earned by them
        verdict = judged(exercise, part.variants, session, right)
        helpers = tuple(name for name in wrong if name in names_in(source))
        likeness = like_the_books(exercise, source)
        what = "" if verdict.passed else in_few_words(verdict)
        points = part.points if verdict.passed else 0.0
        marks.append(Mark(part.exercise, points, part.points, verdict.message, what, helpers, likeness))
        if not verdict.passed:
            wrong.append(part.exercise)
    return marks


def in_few_words(verdict: Verdict) -> str:
    """What is wrong, in few words: a class is told how many made the same mistake."""
    if verdict.kind == "property":
        return f"not so: {verdict.about[0]}"
    if verdict.kind == "known in part":
        return f"{verdict.about[0]}, in part"
    return verdict.mistake or verdict.kind


def judged(exercise: Exercise, variants: tuple[int, ...], session: Session, helpers: dict[str, Callable]) -> Verdict:
    """The first verdict that is not right, or the first."""
    try:
        remote = Remote(session, exercise.name, helpers, exercise.by_hand)
        if remote.left_out:
            return Verdict(False, None, LEFT_OUT.format(name=exercise.name), "unwritten")
        if not remote.callable:
            return Verdict(False, None, NOT_THERE.format(name=exercise.name), "unwritten")
        verdicts = []
        for variant in variants:
            verdicts.append(judge(exercise, remote, variant))
            if not verdicts[-1].passed:
                return verdicts[-1]
        return verdicts[0]
    except wire.WireError as error:
        return Verdict(False, None, ENDED.format(name=exercise.name, error=error), "error")


def names_in(source: str) -> set[str]:
    """All names that a source uses; none where it is no Python."""
    return {node.id for node in ast.walk(parsed(source)) if isinstance(node, ast.Name)}


def like_the_books(exercise: Exercise, source: str) -> str:
    """Why an answer looks like the package's own code, or an empty text: it is imported, or is the same but for names
    of the layout (blank lines, comments, docstrings).

    Of one or two statements nothing is said: a lab's hints may dictate them, so that whole classes write the same."""
    tree = parsed(source)
    for node in ast.walk(tree):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if ours := {module.split(".")[0] for module in modules} & set(ROOMS):
            return f"imports from {min(ours)}"
    mine = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == exercise.name]
    reference = ast.parse(textwrap.dedent(inspect.getsource(exercise.reference))).body[0]
    book = _bare(reference)
    try:
        same = any(_bare(function) == book for function in mine)
    except (ValueError, RecursionError):  # a number with more digits than Python writes, or too deep: not the book's
        same = False
    long = len(book) > 400 and _statements(reference) >= TELLING
    return "is the reference of the checks, word for word" if same and long else ""


def _statements(function: ast.AST) -> int:
    """How many statements a function has, a docstring apart, those in loops and branches among them."""
    inside = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in inside)


def _bare(function: ast.AST) -> str:
    body = list(getattr(function, "body", []))
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return "\n".join(ast.dump(statement) for statement in body)
