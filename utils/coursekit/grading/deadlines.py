"""When a lab is due, what a late submission costs, and when it was handed in: `deadlines.csv` in a term's folder."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from coursekit import CourseError
from coursekit.grading.csv_text import csv_text
from coursekit.project import folders

FILE = "deadlines.csv"
COLUMNS = ("lab", "due", "zone", "grace minutes", "percent per day", "at least percent", "student")
TEMPLATE = f"""\
# When each lab is due, and what lateness costs; lines that begin with # are not read. For example:
#   lab02,2026-10-19 23:59,Europe/Berlin,15,10,50,
# Who is at most 15 minutes late loses nothing. Then each started day costs 10 percent of the points that were earned,
# and at least 50 percent of them are kept. A day goes from 23:59 to 23:59 on the clocks of the zone.
# A student's name at the end of a line makes it an extension for them alone:
#   lab02,2026-10-26 23:59,Europe/Berlin,15,10,50,ann
{",".join(COLUMNS)}
"""
WRITTEN_AT = "timestamp.txt"  # nbgrader's exchange puts it beside what it collects


@dataclass(frozen=True)
class Deadline:
    """One line of the file. `percent` of the points is lost per started day, and at least `floor` percent is kept."""

    due: datetime
    grace: timedelta = timedelta()
    percent: float = 0.0
    floor: float = 0.0

    def days_late(self, handed_in: datetime) -> int:
        """The days that have begun since it was due; 0 within the grace period.

        A day ends when the clocks in the deadline's zone show the time of the deadline again, also where it has 23 or
        25 hours because they are changed."""
        if handed_in.astimezone(UTC) - self.due.astimezone(UTC) <= self.grace:
            return 0
        over = handed_in.astimezone(self.due.tzinfo).replace(tzinfo=None) - self.due.replace(tzinfo=None)
        return max(1, math.ceil(over / timedelta(days=1)))  # over is below 0 where an hour is shown twice

    def kept(self, days: int) -> float:
        """The share of the points that is left after so many days."""
        return max(100 - days * self.percent, self.floor) / 100


def deadlines(term: Path) -> dict[tuple[str, str], Deadline]:
    """All lines of the file, by lab and student ("" for everybody).

    Raises CourseError, which names the line and shows a right one, for what cannot be understood."""
    if not (term / FILE).exists():
        return {}
    labs = {name: folder.name for folder in folders(term / "source") for name in (folder.name, folder.name[:5])}
    found: dict[tuple[str, str], Deadline] = {}
    for number, row in _rows(term / FILE):
        try:
            key = _lab(row["lab"], labs), row["student"]
            if key in found:
                raise ValueError(f"there is a line for {row['lab']} {row['student']} before it; keep one of them")
            found[key] = _deadline(row)
        except ValueError as error:
            raise CourseError(f"{FILE}, line {number}: {error}") from None
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(number of the line, its cells by column) of each line that holds a deadline."""
    lines = csv_text(path).splitlines()
    written = [(i, line) for i, line in enumerate(lines, 1) if line.strip(" ,;\t") and not line.startswith(("#", '"#'))]
    names: list[str] = []
    for number, line in written:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=";" if ";" in line else ","))]
        if any(cells[len(names) :]) and names:
            raise CourseError(f"{FILE}, line {number}: more cells than in the first line; quote a name with a comma")
        if names:
            yield number, dict.fromkeys(COLUMNS, "") | dict(zip(names, cells, strict=False))
            continue
        names = [cell.lower() for cell in cells if cell]
        if set(names) - set(COLUMNS) or not {"lab", "due", "zone"} <= set(names):
            raise CourseError(f"{FILE}, line {number}: the first line names the columns, like {','.join(COLUMNS)}")


def _lab(name: str, labs: dict[str, str]) -> str:
    if name not in labs:
        known = ", ".join(sorted(set(labs.values()))) or "none"
        raise ValueError(f"lab is {name!r}; it must be one that has a source in the term's folder: {known}")
    return labs[name]


def _deadline(row: dict[str, str]) -> Deadline:
    zone = _zone(row["zone"])
    numbers = {name: _number(name, row[name]) for name in COLUMNS[3:6]}
    grace = timedelta(minutes=numbers["grace minutes"])
    return Deadline(_due(row["due"], zone), grace, numbers["percent per day"], numbers["at least percent"])


def _due(text: str, zone: tzinfo) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=zone)
    except ValueError:
        raise ValueError(f"due is {text!r}; write day and time like 2026-10-19 23:59") from None


def _zone(text: str) -> tzinfo:
    """A zone by name, as Europe/Berlin, or by its distance from UTC, as +02:00."""
    try:
        if text[:1] in ("+", "-"):
            return datetime.fromisoformat(f"2026-01-01T00:00{text}").tzinfo or UTC
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):  # a name that is no file of the zones' data, or that leads out of it
        raise ValueError(f"zone is {text!r}; write it like Europe/Berlin, UTC or +02:00") from None


def _number(name: str, text: str) -> float:
    try:
        found = float(text.removesuffix("%") or 0)
    except ValueError:
        found = math.nan
    most = math.inf if name == "grace minutes" else 100.0
    if not 0 <= found <= most or math.isinf(found):
        raise ValueError(f"{name} is {text!r}; write a number {'' if math.isinf(most) else 'up to 100 '}like 10")
    return found


def handed_in(folder: Path, notebook: Path) -> tuple[datetime, str]:
    """When a submission was handed in, and how that is known: nbgrader's timestamp, else the time of the file."""
    try:
        with (folder / WRITTEN_AT).open(encoding="utf-8") as file:
            return _timestamp(file.read(200).strip()), f"by nbgrader's {WRITTEN_AT}"
    except OSError:
        known = "by the time that the file bears"
    except ValueError:
        known = f"by the time that the file bears, since {WRITTEN_AT} cannot be understood"
    return datetime.fromtimestamp(int(notebook.stat().st_mtime), UTC), known


def _timestamp(text: str) -> datetime:
    """As nbgrader writes it: day, time, and zone ("2026-10-19 21:59:03.123456 UTC"); without a zone it is UTC."""
    day, time, *zone = text.split()
    found = datetime.fromisoformat(f"{day}T{time}").replace(microsecond=0)
    return found if found.tzinfo else found.replace(tzinfo=_zone(zone[0] if zone else "UTC"))


def lateness(deadline: Deadline | None, when: datetime, known: str) -> dict[str, Any]:
    """What is stored about the time of a submission: `kept` is the share of its points that is left."""
    found = {"handed_in": when.isoformat(), "known": known, "due": "", "days": 0, "kept": 1.0}
    if deadline is None:
        return found
    days = deadline.days_late(when)
    found |= {"handed_in": when.astimezone(deadline.due.tzinfo).isoformat(), "due": deadline.due.isoformat()}
    return found | {"days": days, "kept": deadline.kept(days)}


def sentence(late: dict[str, Any] | None, earned: float | None) -> str:
    """What a student reads about it: when it was handed in, when it was due, and what that costs."""
    if not late:
        return ""
    text = f"Handed in at {_plain(late['handed_in'])} ({late['known']})"
    if not late["due"]:
        return f"{text}."
    if not late["days"]:
        return f"{text}; due at {_plain(late['due'])}: in time."
    days = f"{late['days']} started day" + ("s" if late["days"] > 1 else "")
    return (
        f"{text}; due at {_plain(late['due'])}: {days} late, so {100 * late['kept']:g} % of the {earned or 0:g} points "
        "that were earned are kept."
    )


def _plain(stamp: str) -> str:
    moment = datetime.fromisoformat(stamp)
    return f"{moment:%Y-%m-%d %H:%M} (UTC{moment:%z})" if moment.utcoffset() else f"{moment:%Y-%m-%d %H:%M} (UTC)"
