"""What the book makes of roles and labels, as plain words: numbers of figures, names of papers, terms."""

import json
import re
import unicodedata
from functools import cached_property
from pathlib import Path

from coursekit.project import is_evidence
from coursekit.slides.blocks import blocks

ROLE = re.compile(r"\{([\w:-]+)\}`([^`]*)`")
NAMED = re.compile(r"^(.*?)\s*<([^>]+)>$", re.DOTALL)
NEAR_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![a-zA-Z][\w+.-]*:)[^)\s]*\)")  # to another file of the course
FORMULA_LABEL = re.compile(r"\$\$ *\([a-z][\w-]*\) *$", re.MULTILINE)
ENTRY = re.compile(r"^@\w+\{([\w:-]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c"}


class Labels:
    """The labels of all chapters below `root`, and the papers of the bibliography, read when first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def plain(self, text: str) -> str:
        """Markdown without roles and without links into the course; formulas and other markup stay."""
        text = FORMULA_LABEL.sub("$$", text)
        return NEAR_LINK.sub(r"\1", ROLE.sub(lambda found: self.words(found[1], found[2]), text))

    def words(self, role: str, content: str) -> str:
        """What a reader of the built book sees in place of a role."""
        named = NAMED.match(content)
        text, label = (named[1], named[2]) if named else ("", content)
        if role.startswith("cite"):
            return self.cited(content, role == "cite:p")
        if role in ("ref", "numref", "eq"):
            return text or self.places.get(label, content)
        return text or content

    def cited(self, keys: str, in_parentheses: bool) -> str:
        """*Luong et al. (2015)* and the like; several papers are joined by commas."""
        found = [self.papers.get(key.strip(), (key.strip(), "")) for key in keys.split(",")]
        if in_parentheses:
            return "(" + "; ".join(f"{names}, {year}" for names, year in found) + ")"
        return ", ".join(f"{names} ({year})" for names, year in found)

    @cached_property
    def places(self) -> dict[str, str]:
        """Label -> *Figure 2.3*, *(2.1)*, or a section's title."""
        found: dict[str, str] = {}
        for path in sorted((self.root / "chapters").glob("*.ipynb")):
            found |= places_of(path)
        return found

    @cached_property
    def papers(self) -> dict[str, tuple[str, str]]:
        """Key -> names and year."""
        path = self.root / "book" / "references.bib"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return {key: (names_of(field(body, "author")), field(body, "year")) for key, body in ENTRY.findall(text)}


def places_of(path: Path) -> dict[str, str]:
    """The labels of one chapter. Figures, tables and formulas count from 1 behind the chapter's number.

    Evidence for a chapter has no number, in the book as here, so that no two figures are called the same.
    """
    before = "" if is_evidence(path) else f"{int(path.name[:2])}."
    counts: dict[str, int] = {"Figure": 0, "Table": 0, "": 0}
    found: dict[str, str] = {}

    def count(kind: str, label: str) -> None:
        counts[kind] += 1
        number = f"{before}{counts[kind]}"
        found[label] = f"{kind} {number}" if kind else f"({number})"

    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
            if name:
                count("Figure", name)
            continue
        for block in blocks(text):
            if block.kind == "heading" and block.label:
                found[block.label] = block.text
            elif block.kind == "box" and block.name in ("figure", "table"):
                count(block.name.capitalize(), block.options.get("name", ""))
        for label in re.findall(r"\$\$\s*\(([\w-]+)\)\s*$", text, re.MULTILINE):
            count("", label)
    return found


def names_of(authors: str) -> str:
    """*Bahdanau et al.* of an author field; two are joined by *and*."""
    families = [plain_letters(name.split(",")[0].strip()) for name in re.split(r"\s+and\s+", authors)]
    if len(families) > 2 or "others" in families:
        return f"{families[0]} et al."
    return " and ".join(families)


def plain_letters(text: str) -> str:
    """Letters in place of TeX's accents and braces: ``Lebr{\\'o}n`` becomes Lebrón."""
    accent = r"\{?\\([\'`\"^~cv])\{?(\w)\}?\}?"
    text = re.sub(accent, lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]), text)
    return re.sub(r"[{}]", "", text)


def field(body: str, name: str) -> str:
    """One field of an entry of the bibliography, or nothing."""
    found = re.search(rf"^\s*{name}\s*=\s*\{{(.*)\}},?$", body, re.MULTILINE)
    return found[1] if found else ""
