"""A deck that fills slide after slide: what no longer fits goes on the next one, under the same heading."""

from __future__ import annotations

from dataclasses import dataclass, field

ROOM = 540  # pixels below the heading, of the 720 that a slide has
HIGH = 1.75  # the width of a picture by its height, from which on it is a wide one
BESIDE = 260  # pixels of words that have space beside a picture


@dataclass
class Slide:
    """One slide. `title`, `parts` and `notes` are HTML; `height` is an estimate of what the parts take."""

    title: str
    level: int
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    height: float = 0
    closed: bool = False  # nothing more is put on it

    @property
    def empty(self) -> bool:
        """Whether there is nothing but the heading."""
        return not self.parts


class Deck:
    """The slides so far."""

    def __init__(self) -> None:
        self.slides: list[Slide] = []

    def begin(self, title: str, level: int) -> None:
        """A slide with a new heading; it takes the place of one that is still empty."""
        if self.slides and self.slides[-1].empty and self.slides[-1].level > 1:
            self.slides[-1].title, self.slides[-1].level = title, level
        else:
            self.slides.append(Slide(title, level))

    def add(self, html: str, height: float) -> None:
        """Put a part on the slide, or on the next one if it is full. An empty part changes nothing."""
        if not html:
            return
        slide = self.current()
        if slide.closed or (slide.parts and slide.height + height > ROOM):
            slide = self.go_on()
        slide.parts.append(html)
        slide.height += height

    def alone(self, html: str, height: float) -> None:
        """A part that has its slide for itself."""
        slide = self.current()
        if not slide.empty:
            slide = self.go_on()
        slide.parts, slide.height, slide.closed = [html], height, True

    def picture(self, image: str, caption: str, aspect: float) -> None:
        """A picture and its caption. A wide one lies above its caption; beside a high one there is space for the
        words that the slide begins with, if they are few. Under the chapter's large title is no space for one."""
        slide = self.current()
        if slide.level == 1 and slide.title:
            slide = self.go_on()
        narrow = not any(wide in part for part in slide.parts for wide in ("<div", "<pre", "<table"))
        beside = narrow and not slide.closed and slide.height <= BESIDE
        if aspect >= HIGH:
            self.alone(f"<figure>{image}{caption}</figure>", ROOM)
        else:
            words = "".join(slide.parts) if beside else ""
            if beside:
                slide.parts = []
            self.alone(
                f'<div class="side"><div class="words">{words}</div><figure>{image}{caption}</figure></div>', ROOM
            )

    def note(self, html: str) -> None:
        """What is to be said with the slide."""
        if html:
            self.current().notes.append(html)

    def current(self) -> Slide:
        """The last slide; a first one without a heading where there is none."""
        if not self.slides:
            self.slides.append(Slide("", 1))
        return self.slides[-1]

    def go_on(self) -> Slide:
        """One more slide under the same heading."""
        self.slides.append(Slide(self.current().title, max(self.current().level, 2)))
        return self.slides[-1]

    def finished(self) -> list[Slide]:
        """The slides that show something; the notes of an empty one go to the slide before."""
        done: list[Slide] = []
        for slide in self.slides:
            if slide.empty and slide.level > 1 and done:
                done[-1].notes += slide.notes
            else:
                done.append(slide)
        return done
