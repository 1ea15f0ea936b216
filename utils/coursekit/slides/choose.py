"""Which cells of a chapter become slides: by rule, which a cell's tags overrule.

A heading begins a slide. On it go the first sentences of the section's first paragraph, its displayed formulas, lists
and tables, short code with what it prints, and each figure on a slide of its own. Exercises, further reading, optional
sections, long code, code that the book folds, and claims are left out; all prose is in the speaker's notes.
"""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode

from coursekit.chapterrules import figure
from coursekit.notebooks import has_tag, images
from coursekit.slides import render
from coursekit.slides.blocks import Block, blocks, inner
from coursekit.slides.deck import Deck, Slide
from coursekit.slides.labels import Labels
from coursekit.teaching.sentences import first_sentences, sentences

SHOW, NOTES, SKIP = "slide", "slide-notes", "slide-skip"  # tags of a cell, which overrule all that follows
LEFT_OUT = re.compile(r"(?i)^(exercises|further reading|ten questions before you begin)$|\(optional\)\s*$")
LEAD, ITEM = 60, 30  # words of a section's first paragraph, and of an item in a list
CODE_LINES, PRINTED_LINES, WIDEST, ROWS = 10, 14, 100, 9
FEW = 6  # words
CLAIM = "✓ claim: "
CLAIM_CALL = re.compile(r"^claim\(", re.MULTILINE)
WORD = "word"  # the class of the box that has no heading of its own on a slide
BOXES = {"goals", WORD, "slip"}  # classes of boxes that a lecture shows


def leading(text: str) -> str:
    """The last sentence of a paragraph, with the one before if it is only a few words; nothing where it is long."""
    last = sentences(text)[-2:]
    if len(last) == 2 and len(last[1].split()) > FEW:
        last = last[1:]
    lead = " ".join(last)
    return lead if len(lead.split()) <= LEAD else ""


class Chooser:
    """Goes through a chapter and fills a deck."""

    def __init__(self, labels: Labels, folder: Path) -> None:
        self.labels, self.folder = labels, folder
        self.deck = Deck()
        self.quiet = 0  # the level of the heading whose section is left out, or 0
        self.begun = False  # whether the section's first paragraph was met
        self.before = ""  # the paragraph before, while it is in the notes only

    def slides(self, notebook: NotebookNode) -> list[Slide]:
        """The chapter's slides, in order."""
        for cell in notebook.cells:
            if not has_tag(cell, SKIP):
                self.markdown(cell) if cell.cell_type == "markdown" else self.code(cell)
        return self.deck.finished()

    # --- text ---------------------------------------------------------------------------------------------------

    def markdown(self, cell: NotebookNode) -> None:
        """Puts each block of the cell on a slide or into the notes."""
        for block in blocks(cell.source):
            if block.kind == "heading":
                self.heading(block)
            elif has_tag(cell, NOTES):
                self.note(block)
            elif has_tag(cell, SHOW):
                self.note(block)
                self.deck.add(*render.whole(block, self.labels, self.folder))
            elif not self.quiet:
                self.note(block)
                self.block(block)

    def heading(self, block: Block) -> None:
        """Begins a slide, unless the section is left out."""
        if self.quiet and block.level > self.quiet:
            return
        self.quiet = block.level if LEFT_OUT.search(block.text) else 0
        self.begun, self.before = False, ""
        if not self.quiet:
            self.deck.begin(render.inline(block.text, self.labels), block.level)

    def block(self, block: Block) -> None:
        """One block by the rules."""
        if block.kind == "paragraph":
            self.paragraph(block)
        elif block.kind == "formula":
            self.formula(block)
        elif block.kind == "list":
            self.deck.add(*render.bullets(block.text, ITEM, self.labels))
        elif block.kind == "table":
            self.table(block.text)
        elif block.kind == "box":
            self.box(block)

    def paragraph(self, block: Block) -> None:
        """The first one of a section begins its slide; the others are said."""
        self.before = block.text
        if not self.begun:
            shown = first_sentences(block.text, LEAD)
            self.before = "" if shown == block.text else block.text
            self.deck.add(*render.paragraph(shown, self.labels))
        self.begun = True

    def formula(self, block: Block) -> None:
        """A formula, with the sentence that leads to it."""
        html, height = render.formula(block, self.labels)
        if lead := leading(self.before):
            text, more = render.paragraph(lead, self.labels)
            html, height = text + html, height + more
        self.before = ""
        self.deck.add(html, height)

    def table(self, text: str) -> None:
        """A table that can be read on a slide."""
        if len(text.splitlines()) - 2 <= ROWS:
            self.deck.add(*render.table(text, self.labels))

    def box(self, block: Block) -> None:
        """A box that a lecture shows: what one learns, the one sentence, mistakes; a table or a picture."""
        if block.name == "table":
            self.table(block.text)
        elif block.name == "figure":
            self.deck.picture(*render.picture_of_file(block, self.labels, self.folder))
        elif shown := BOXES & set(block.options.get("class", "").split()):
            if WORD not in shown:
                self.deck.begin(render.inline(block.title, self.labels), 2)
            for part in inner(block):
                if part.kind in ("list", "table"):
                    self.block(part)

    def note(self, block: Block) -> None:
        """The block, as it stands, in the speaker's notes; answers to exercises are left out."""
        if block.kind == "html" or block.name in ("exercise", "solution"):
            return
        for part in inner(block) if block.kind == "box" else [block]:
            self.deck.note(render.whole(part, self.labels, self.folder)[0])

    # --- code ---------------------------------------------------------------------------------------------------

    def code(self, cell: NotebookNode) -> None:
        """A figure, short code with what it prints, or nothing."""
        shown = has_tag(cell, SHOW)
        if has_tag(cell, NOTES) or (self.quiet and not shown):
            return
        if images(cell):
            self.deck.picture(*render.figure_of_cell(cell, figure(cell), self.labels))
            self.deck.note(render.caption_in_full(figure(cell), self.labels))
        elif shown or not has_tag(cell, "hide-cell"):
            self.deck.add(*render.code(self.shown_source(cell, shown), self.printed(cell, shown)))

    def shown_source(self, cell: NotebookNode, always: bool) -> str:
        """The cell's code, where it is short and not folded in the book."""
        lines = cell.source.strip().splitlines()
        folded = has_tag(cell, "hide-input") or CLAIM_CALL.search(cell.source) or len(lines) > CODE_LINES
        return "\n".join(lines) if always or not folded else ""

    def printed(self, cell: NotebookNode, always: bool) -> str:
        """What the cell prints, without claims, where it is short."""
        text = "".join(out.get("text", "") for out in cell.outputs if out.output_type == "stream")
        lines = [line.rstrip() for line in text.splitlines() if not line.startswith(CLAIM)]
        fits = len(lines) <= PRINTED_LINES and all(len(line) <= WIDEST for line in lines)
        return "\n".join(lines).strip("\n") if always or fits else ""
