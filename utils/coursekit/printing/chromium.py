"""Chromium, which prints a page as a PDF: it draws formulas and figures as the book's readers see them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from coursekit import CourseError

VARIABLE = "ATTNBOOK_CHROMIUM"  # the tests of the built book read it, too
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
MISSING = (
    "no Chromium was found, and the PDF is printed by it. Install Chromium or Chrome (131 or newer), or name the "
    f"program in the environment variable {VARIABLE}; `coursekit epub` and `coursekit offline` do without it"
)
SNAP = (
    "; this Chromium is a snap, which sees nothing outside your home folder and no hidden folder in it: keep the book "
    f"where it sees it, or name another Chromium or Chrome in {VARIABLE}"
)
# Time that its page believes to pass: it flies while nothing is computed, so this is a limit and no wait.
BUDGET = 600_000
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--mute-audio",
)  # fmt: skip
SETTINGS = (
    *QUIET, "--allow-file-access-from-files", "--no-pdf-header-footer", "--generate-pdf-document-outline",
    f"--virtual-time-budget={BUDGET}",
)  # fmt: skip


def find_chromium() -> str:
    """The browser's program: the one that ATTNBOOK_CHROMIUM names, or one of the usual places.

    Raises CourseError where there is none, or where the named one is not there."""
    named = os.environ.get(VARIABLE)
    if named:
        if shutil.which(named) is None:
            raise CourseError(f"{VARIABLE} names {named!r}, and there is no such program")
        return named
    found = next(filter(None, map(shutil.which, (*NAMES, *ELSEWHERE))), None)
    if found is None:
        raise CourseError(MISSING)
    return found


def folder_for(program: str) -> str | None:
    """Where a browser reads and writes its files: None for the system's own place.

    A snap, as Ubuntu's Chromium is, has a /tmp of its own and sees no hidden folders, but it has a folder at home."""
    path = Path(shutil.which(program) or program)
    if not _is_snap(path):
        return None
    folder = Path.home() / "snap" / "chromium" / "common"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _is_snap(path: Path) -> bool:
    """Whether a program is a snap, or a small script that begins one."""
    if "snap" in (*path.parts, path.resolve().name):
        return True
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return start.startswith(b"#!") and b"/snap/bin/" in start


def print_pdf(page: Path, pdf: Path, seconds: float = 900) -> None:
    """Prints a page of the disk to `pdf`, with bookmarks made of its headings.

    Args:
        page: an HTML file; its style sheet says the size of the paper.
        seconds: after which the browser is ended.

    Raises:
        CourseError: where there is no Chromium, or it has not written the file."""
    program = find_chromium()
    own = folder_for(program)
    with TemporaryDirectory(ignore_cleanup_errors=True, dir=own) as profile:  # Windows may still hold its files
        command = [program, *SETTINGS, f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise CourseError(f"{program} was ended: it had not printed {page.name} after {seconds:.0f} s") from error
    if not pdf.is_file():
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines() or ["nothing"]
        raise CourseError(
            f"{program} wrote no {pdf.name} (status {done.returncode}); it said: {said[-1]}{SNAP if own else ''}"
        )
