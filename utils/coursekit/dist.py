"""`coursekit dist`: all that a release of the book holds, in one folder, with the sums by which it is checked."""

from __future__ import annotations

import argparse
import hashlib
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from attnbook.files import write_whole
from coursekit import CourseError
from coursekit.printing.commands import book_arguments, built, version_of
from coursekit.project import Project

FOLDER = Path("dist")
SUMS, README = "SHA256SUMS", "README.txt"
OF_SYSTEMS = (".DS_Store", "Thumbs.db", "desktop.ini")  # what a file manager leaves in a folder that one looks into
STRANGERS = "{folder} holds what this command does not make: {names}. Move it away, or name another folder with --to"
ABOUT = """\
Paying Attention {version}
{line}

{files}
  {sums}
      a sum for each file. To check them: sha256sum --check {sums} (on macOS: shasum --algorithm 256 --check {sums})
"""


@dataclass(frozen=True)
class Part:
    """One file of a release: its name, what it is, and what writes it and returns remarks."""

    name: str
    about: str
    write: Callable[[Path], list[str]]


@dataclass
class Release:
    """What a release is made of: the course, and the pages of its built book."""

    project: Project
    html: Path

    @property
    def version(self) -> str:
        """As pyproject.toml has it."""
        return version_of(self.project)

    @cached_property
    def wheel(self) -> tuple[str, bytes]:
        """The whole book's wheel, which is handed out by itself and with the labs."""
        from coursekit.teaching.wheel import build_wheel

        return build_wheel(self.project.root)

    def parts(self) -> list[Part]:
        """All files but the README and the sums, in the order of the README."""
        return [*self._book(), *self._wheels(), self._labs(), self._lock()]

    def _book(self) -> Iterator[Part]:
        from coursekit.printing.contents import EPUB, PDFS
        from coursekit.printing.epub import make_epub
        from coursekit.printing.offline import NAME, offline_zip
        from coursekit.printing.pdf import make_pdf

        root, html = self.project.root, self.html
        yield _whole(NAME, "the book's pages: unzip, and open index.html", lambda: offline_zip(html))
        for volume in PDFS:
            write = partial(self._print, partial(make_pdf, root, html, volume))
            yield Part(f"{volume.name}.pdf", f"to print: {volume.title}", write)
        epub = f"{EPUB.name}.epub"
        yield _whole(epub, "chapters and their evidence for e-readers", lambda: make_epub(root, html, self.version)[0])

    def _wheels(self) -> Iterator[Part]:
        from coursekit.teaching.wheel import ALONE

        def file_of(package: str) -> str:
            return f"{package}-{self.version}-py3-none-any.whl"

        whole = "all packages with records and weights, for labs without a copy of the project"
        yield _whole(file_of("paying_attention"), whole, lambda: self.wheel[1])
        abouts = {"attnbook": "the book's attention and models alone", "misread": "the engine of the checks alone"}
        for package in ALONE:
            name = file_of(package)
            yield _whole(name, f"{abouts[package]}: pip install {name}", partial(self._alone, package))

    def _alone(self, package: str) -> bytes:
        from coursekit.teaching.wheel import build_wheel

        return build_wheel(self.project.root, package)[1]

    def _print(self, make: Callable[[Path, str], list[str]], path: Path) -> list[str]:
        return make(path, self.version)[1:]  # the first remark is its size

    def _labs(self) -> Part:
        from coursekit.teaching.handout import ALL, all_handouts

        return _whole(
            f"{ALL}.zip",
            "all labs, without answers, with what they need",
            lambda: all_handouts(self.project, self.wheel),
        )

    def _lock(self) -> Part:
        lock = self.project.root / "requirements.lock"
        return _whole(lock.name, "the versions with which the book was tested", lock.read_bytes)


def run_dist(project: Project, options: argparse.Namespace) -> int:
    """Makes all that a release of the book holds, in one folder: the pages as a zip file, PDFs, the ePub, the wheel of
    all packages and those of attnbook and misread alone, the students' labs with what they need, the tested versions,
    and SHA256SUMS, which is written last, so that a folder with it is whole. It needs Chromium, and takes some minutes.
    Nothing is uploaded."""
    from coursekit.printing.chromium import find_chromium

    find_chromium()  # before the book is built, which takes a minute
    folder = (options.to or project.root / FOLDER).resolve()
    release = Release(project, (options.pages or project.root).resolve())
    refuse_strangers(folder, [part.name for part in release.parts()])
    status, release.html, folder = built(project, options, FOLDER)
    if status:
        return status
    for line in write_release(release, folder):
        print(line, flush=True)
    return 0


def refuse_strangers(folder: Path, names: list[str]) -> None:
    """Raises CourseError where a file in the folder is none of a release: its sum would be missing."""
    there = [path.name for path in folder.iterdir() if path.name not in OF_SYSTEMS] if folder.is_dir() else []
    if strangers := sorted(set(there) - {*names, README, SUMS}):
        raise CourseError(STRANGERS.format(folder=folder, names=", ".join(strangers)))


def write_release(release: Release, folder: Path) -> Iterator[str]:
    """Writes all files to the folder, the sums last, and yields what is to be said of each."""
    (folder / SUMS).unlink(missing_ok=True)  # an interrupted run leaves a folder that does not say it is whole
    parts = release.parts()
    for part in parts:
        remarks = part.write(folder / part.name)
        yield "\n".join([_said(folder / part.name), *remarks])
    write_whole(folder / README, about(release.version, parts).encode())
    names = sorted([README, *(part.name for part in parts)])
    sums = "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    write_whole(folder / SUMS, sums.encode())
    yield f"{folder / SUMS}: written; the release of {release.version} is whole, {len(names)} files"


def about(version: str, parts: list[Part]) -> str:
    """The README.txt of a release: what each file is."""
    files = "\n".join(f"  {part.name}\n{textwrap.indent(part.about, ' ' * 6)}" for part in parts)
    return ABOUT.format(version=version, line="=" * len(f"Paying Attention {version}"), files=files, sums=SUMS)


def _whole(name: str, about: str, make: Callable[[], bytes]) -> Part:
    """A part whose content is made in memory."""

    def write(path: Path) -> list[str]:
        write_whole(path, make())
        return []

    return Part(name, about, write)


def _said(path: Path) -> str:
    return f"{path}: written, {path.stat().st_size / 1e6:.1f} MB"


def _arguments(command: argparse.ArgumentParser) -> None:
    book_arguments(command, FOLDER)


DIST = {"dist": (run_dist, "make all that a release of the book holds", _arguments)}
