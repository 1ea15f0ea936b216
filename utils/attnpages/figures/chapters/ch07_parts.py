"""A figure of chapter 07: the two parts of learned scores, from the kind of a word and from its position."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnpages.figures.palette import DARK_GREY, SAND
from attnpages.figures.style import STYLES


def draw_two_parts(
    kinds: Mapping[str, Sequence[float]], places: Sequence[Sequence[float]], seen: tuple[int, int]
) -> list[Axes]:
    """Draw the word part of each kind of word as dots, and the position part as curves, one of each per model.

    Args:
        kinds: ``{kind of word: one value per model}``. places: per model, a value for each position, from 1 on.
        seen: the first and last position of the subject in training, which are shaded.

    Raises:
        ValueError: if a kind has another number of values than there are models.
    """
    for kind, values in kinds.items():
        if len(values) != len(places):
            raise ValueError(f"{kind} has {len(values)} values for {len(places)} models")
    _, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3.0), sharey=True, width_ratios=(1, 1.35), layout="constrained")
    right.axvspan(seen[0] - 0.5, seen[1] + 0.5, color=SAND, zorder=0)
    right.text(sum(seen) / 2, 0.02, "subject\nin training", ha="center", va="bottom", color=DARK_GREY, fontsize=10,
               transform=right.get_xaxis_transform())  # fmt: skip
    for number, (place, style) in enumerate(zip(places, STYLES, strict=False)):
        look = {"color": style.colour, "marker": style.marker, "markersize": 5}
        across = [at + 0.18 * (number - (len(places) - 1) / 2) for at in range(len(kinds))]
        left.plot(across, [values[number] for values in kinds.values()], linestyle="", **look)
        right.plot(range(1, len(place) + 1), place, linestyle=style.line, linewidth=1.4, **look)
    names = [kind.replace(" ", "\n") for kind in kinds]
    left.set_xticks(range(len(kinds)), names, rotation=35, ha="right", fontsize=10)
    left.set(xlim=(-0.6, len(kinds) - 0.4), xlabel="kind of word", ylabel="part of the score")
    left.set_title("word part (nouns = 0)", fontsize=12)
    longest = max(map(len, places))
    right.set(xlabel="position of the word", xticks=range(1, longest + 1, 2), xlim=(0.4, longest + 0.6))
    right.set_title("position part (word 1 = 0)", fontsize=12)
    return [left, right]
