"""Which chapters no lab follows; a chapter is called by its file's name without its suffix."""

from pathlib import Path

from coursekit.project import is_evidence

COMPARED = "18_one_corpus"  # compares the models of other chapters: a chapter without a lab


def is_page(name: str) -> bool:
    """Whether a page is like a chapter, but without a number in the contents, a lab and a box on the map."""
    return is_evidence(Path(name))


def has_a_lab(name: str) -> bool:
    """Whether a lab has to follow: not the map and the comparison, which are numbered, nor pages."""
    return not name.startswith("00_") and name != COMPARED and not is_page(name)
