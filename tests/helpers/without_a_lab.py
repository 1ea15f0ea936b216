"""Which chapters no lab follows; a chapter is called by its file's name without its suffix."""

from pathlib import Path

from coursekit.project import is_evidence


def is_page(name: str) -> bool:
    """Whether a page is like a chapter, but without a number in the contents, a lab and a box on the map."""
    return name == "18_one_corpus" or is_evidence(Path(name))


def has_a_lab(name: str) -> bool:
    """Whether a lab has to follow: not the map, which is numbered, nor pages."""
    return not name.startswith("00_") and not is_page(name)
