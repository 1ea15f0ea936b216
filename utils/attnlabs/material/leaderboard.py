"""Lab 17: entries of a competition beyond the trained lengths, beside what the record "lengths" holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from attnlabs.material.longer_strings import FULL
from attnpages.figures import by_length
from attnruns.results import load_result

SEEDS = 3
NOTHING, ABSOLUTE = "nothing", "absolute positions"
RECORD = {
    "plain": ("one vector", NOTHING),
    "content": ("content attention", NOTHING),
    "location_aware": ("location-aware", "earlier weights"),
    "location_aware_by_length": ("location-aware, by length", "earlier weights, length"),
    "none": ("Transformer, no positions", NOTHING),
    "learned": ("Transformer, learned", ABSOLUTE),
    "sinusoidal": ("Transformer, sinusoidal", ABSOLUTE),
    "rotary": ("Transformer, rotary", "distances"),
    "linear_bias": ("Transformer, linear bias", "distances"),
    "linear_window_4": ("Transformer, bias, window 4", "distances, a window"),
}

Score = Callable[[Mapping[int, float], int], float]


class Entry(NamedTuple):
    """A model in the competition.

    Fields:
        name: of the model. given: what it is given besides the letters.
        trained: letters of the longest string in training.
        runs: one per seed, ``{letters: exact match}``; with ``2 * trained`` and ``4 * trained`` among them.
    """

    name: str
    given: str
    trained: int
    runs: Sequence[Mapping[int, float]]


def record_entries() -> list[Entry]:
    """The ten models of chapter 17 as the record "lengths" measured them, at the lengths that are judged."""
    curves = by_length(load_result("lengths"), models=list(RECORD))
    lengths = (FULL.trained, *FULL.judged)
    return [
        Entry(name, given, FULL.trained, [{n: curves[model][n][seed] for n in lengths} for seed in range(SEEDS)])
        for model, (name, given) in RECORD.items()
    ]


def check_entry(entry: Entry) -> None:
    """Raise a ValueError unless an entry has runs at the same lengths, twice and four times ``trained`` among them."""
    if not entry.runs:
        raise ValueError(f"{entry.name!r} has no runs; give one {{length: exact match}} per seed")
    lengths = set(entry.runs[0])
    if any(set(run) != lengths for run in entry.runs):
        raise ValueError(f"the runs of {entry.name!r} were measured at different lengths")
    missing = {2 * entry.trained, 4 * entry.trained} - lengths
    if missing:
        raise ValueError(f"{entry.name!r} was not measured at {', '.join(map(str, sorted(missing)))}")


def leaderboard(entries: Sequence[Entry], score: Score) -> list[str]:
    """Print entries by the score of their worst seed, and return their names in this order.

    Columns: exact match at twice and at four times the trained length, and the score, each as the mean over the seeds
    with the worst seed in brackets. An entry with fewer than three seeds is listed below the others, without a rank.

    Args:
        score: ``score({length: exact match}, trained)`` of one run.

    Raises:
        ValueError: as :func:`check_entry`.
    """
    rows = []
    for entry in entries:
        check_entry(entry)
        columns = [[run[times * entry.trained] for run in entry.runs] for times in (2, 4)]
        columns.append([float(score(run, entry.trained)) for run in entry.runs])
        rows.append((len(entry.runs) < SEEDS, -min(columns[-1]), -_mean(columns[-1]), entry, columns))
    rows.sort(key=lambda row: row[:3])
    print(f"{'':4}{'model':29}{'given':26}{'trained':>7}{'seeds':>6}{'2 ×':>12}{'4 ×':>12}{'score':>12}")
    for rank, (few, _, _, entry, columns) in enumerate(rows, start=1):
        place = "-" if few else str(rank)
        cells = "".join(f"{f'{_mean(values):.2f} ({min(values):.2f})':>12}" for values in columns)
        print(f"{place:>2}  {entry.name[:28]:29}{entry.given[:25]:26}{entry.trained:7}{len(entry.runs):6}{cells}")
    return [row[3].name for row in rows]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def by_multiple(entries: Sequence[Entry]) -> dict[str, dict[float, list[float]]]:
    """``{model: {length as a multiple of the longest trained: [one value per seed]}}``, to be drawn as curves."""
    return {
        entry.name: {n / entry.trained: [run[n] for run in entry.runs] for n in sorted(entry.runs[0])}
        for entry in entries
    }
