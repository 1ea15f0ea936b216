"""Tables that people fill in: read as text, with whatever sign their spreadsheet puts between two cells."""

from pathlib import Path

from coursekit import CourseError
from coursekit.grading.names import spelt


def csv_text(path: Path) -> str:
    """The text of a table, each name in the spelling of `names.spelt`.

    Raises CourseError, which says how to store it, for one that cannot be read."""
    try:
        return spelt(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path.name} cannot be read ({error}); store it as CSV in UTF-8") from None


def separator(line: str) -> str:
    """The sign between the cells of a line: a semicolon or a tab if there is one, else a comma."""
    return next((sign for sign in (";", "\t") if sign in line), ",")
