"""A long English text that nobody has to fetch: paragraphs of this book (CC BY 4.0) as they stood when it was stored.

It was written after the models that are measured on it, so none of them can know it by heart. Paragraphs with
formulas, code or links are left out. The file stays as it is when chapters change, so that a measurement can be
repeated.
"""

from pathlib import Path

_FILE = Path(__file__).parent / "book_prose.txt"


def book_prose() -> str:
    """Paragraphs of chapters 1 and later, with an empty line between them."""
    return _FILE.read_text(encoding="utf-8")
