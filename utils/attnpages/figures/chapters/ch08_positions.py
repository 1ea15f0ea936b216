"""Figures of chapter 08: positions as hands of clocks, sinusoids, and rotation of queries and keys."""

from collections.abc import Mapping, Sequence
from math import atan2, cos, degrees, hypot, pi, radians, sin
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from attnbook.attention.positions import relative_shift, sinusoidal_positions
from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, say
from attnpages.figures.palette import BLUE, FAINT, INK, OKABE_BLUE, PALE, RUST, SAND, VERMILION
from attnpages.figures.style import HEAT_MAP, STYLES, Look, new_axes, with_minus


def draw_clocks(
    speeds: Sequence[float], positions: Sequence[int], shift: int, starts: Sequence[int] = (0,)
) -> list[Axes]:
    """Draw pairs of features, (sine, cosine), as hands of clocks, and the rotation that leads to a later position.

    Args:
        speeds: radians per position, one clock each. positions: which to draw.
        shift: how many positions each arc spans. starts: the positions at which the arcs begin.

    Raises:
        ValueError: if there is no clock, no position or no arc.
    """
    if not len(speeds) or not len(positions) or not len(starts):
        raise ValueError("speeds, positions and starts must not be empty; give at least one of each")
    _, axes = plt.subplots(1, len(speeds), figsize=(6.5, 6.5 / len(speeds) + 0.4), squeeze=False)
    for ax, speed in zip(axes[0], speeds, strict=True):
        ax.set(xlim=(-1.45, 1.8), ylim=(-1.5, 1.75), aspect="equal")
        ax.axis("off")
        ax.set_title(f"{degrees(speed):.3g}° per position")
        ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FAINT, linewidth=1))
        _name_directions(ax, "sine", "cosine")
        for position in positions:
            x, y = sin(speed * position), cos(speed * position)  # as on a clock: clockwise from the top
            ax.plot([0, x], [0, y], color=STYLES[0].colour, linestyle="-", marker="", linewidth=1.8)
            patch: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # a number may stand on an axis
            ax.text(1.17 * x, 1.17 * y, str(position), ha="center", va="center", fontsize=12, bbox=patch)
        for start in starts:
            _arc(ax, speed * start, speed * (start + shift), 0.6, STYLES[1].colour)
        ax.text(0, -1.45, f"arcs: rotations by {shift} positions", ha="center", fontsize=11, color=INK)
    return list(axes[0])


def draw_search(step: float, back: int, queries: Sequence[int], keys: int = 6) -> list[Axes]:
    """Draw how a rotation of the query's hand finds the key some positions back: one dial per position of the query.

    Args:
        step: degrees per position. back: how many positions before the query the wanted key stands.
        queries: positions of the query. keys: how many are drawn, the last one at the position of the query.

    Raises:
        ValueError: if there is no query, or the wanted key is not among those drawn.
    """
    if not queries or not 0 < back < keys:
        raise ValueError(f"give at least one query, and a shift from 1 to {keys - 1} positions; got {queries}, {back}")
    _, axes = plt.subplots(1, len(queries), figsize=(6.5, 6.5 / len(queries) + 0.45), squeeze=False)
    for ax, at in zip(axes[0], queries, strict=True):
        ax.set(xlim=(-1.6, 1.6), ylim=(-1.85, 1.6), aspect="equal")
        ax.axis("off")
        ax.set_title(f"query at position {at}", fontsize=12)
        ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FAINT, linewidth=1))
        own, turned = step * at, step * (at - back)
        for key in range(at - keys + 1, at + 1):
            _hand(ax, step * key, 0.75, VERMILION, 4.5)
            x, y = sin(radians(step * key)), cos(radians(step * key))
            score = f"{cos(radians(step * key - turned)):.2f}"
            say(ax, 1.34 * x, 1.29 * y, f"key {key}\n{score}", size=11, weight="bold" if key == at - back else "normal")
        _hand(ax, own, 1.0, OKABE_BLUE, 2.2, "--")
        _hand(ax, turned, 1.0, OKABE_BLUE, 2.2)
        _arc(ax, radians(own), radians(turned), 0.45)
        say(ax, 0, -1.75, f"query: {own:.0f}° − {own - turned:.0f}° = {turned:.0f}°", size=11, colour=BLUE)
    return list(axes[0])


def _hand(ax: Axes, angle: float, reach: float, colour: str, width: float, line: str = "-") -> None:
    """A hand from the middle of a dial, at an angle in degrees from the top, clockwise."""
    x, y = reach * sin(radians(angle)), reach * cos(radians(angle))
    ax.plot([0, x], [0, y], color=colour, linestyle=line, marker="", linewidth=width)


def _name_directions(ax: Axes, right: str, up: str) -> None:
    """Two faint axes through the middle of a clock, with the names of what is drawn to the right and upwards."""
    for end, label, shift, sides in (((1.4, 0), right, (3, 0), ("left", "center")),
                                     ((0, 1.4), up, (0, 2), ("center", "bottom"))):  # fmt: skip
        arrow(ax, (-end[0] * 0.72, -end[1] * 0.72), end, colour=FAINT, width=0.8)
        ax.annotate(label, end, shift, textcoords="offset points", ha=sides[0], va=sides[1], fontsize=11, color=INK)


def draw_rotary(
    query: tuple[float, float], key: tuple[float, float], step: float, sentences: Sequence[str], verb: str,
    nouns: Sequence[str],
) -> list[Axes]:  # fmt: skip
    """Draw one pair of features of a query and a key as hands, before and after each is rotated by its position.

    One row per noun, whose key it is; one column per sentence. All nouns have the same key, so the column before the
    rotation has one dial, and below it stands how features are drawn: the first upwards and the second to the right,
    so that all angles begin at the top and turn clockwise.

    Args:
        query: of the verb. key: of each noun, before the rotation. step: degrees per position.
        sentences: words and their order. verb: the word that attends. nouns: the words that are attended to.

    Raises:
        ValueError: if there is no sentence or no noun, or one of the words is missing in a sentence.
    """
    missing = [word for sentence in sentences for word in (verb, *nouns) if word not in sentence.split()]
    if not sentences or not nouns or missing:
        raise ValueError(
            f"each sentence must contain the verb and all nouns, and there must be some; missing {missing}"
        )
    columns = 1 + len(sentences)
    _, grid = plt.subplots(len(nouns), columns, figsize=(6.5, 2.6 * len(nouns) + 0.5), squeeze=False)
    for number, (row, noun) in enumerate(zip(grid, nouns, strict=True)):
        for ax, sentence in zip(row, ("", *sentences), strict=True):
            if not sentence and number:
                continue  # the same dial as above it
            at = {word: sentence.split().index(word) for word in (verb, noun)} if sentence else {}
            first, second = (_clockwise(*pair) + step * at.get(word, 0) for pair, word in ((query, verb), (key, noun)))
            _dial(ax, first, second)
            starts = (verb, _clockwise(*query), first, BLUE), (noun if at else "nouns", _clockwise(*key), second, RUST)
            for y, (word, start, angle, colour) in zip((-1.45, -1.85), starts, strict=True):
                turned = f"{word} at {at[word]}: {start:.0f}°+{angle - start:.0f}° = {angle:.0f}°" if at else ""
                say(ax, 0, y, turned or f"{word}: {angle:.0f}°", size=10, colour=colour)
            score = hypot(*query) * hypot(*key) * cos(radians(second - first))
            result = f"score {round(score, 1) + 0.0:.0f}" if at else "not yet rotated"
            say(ax, 0, -2.3, result, size=11, weight="bold" if at else "normal")
    for row in grid[1:]:
        row[0].axis("off")
    if len(grid) > 1:
        grid[1, 0].set(xlim=(-1.6, 1.6), ylim=(-1.8, 2.2), aspect="equal")
        _name_directions(grid[1, 0], "", "first coordinate: up")
        say(grid[1, 0], 0.75, -0.28, "second: right", size=10)
    for ax, sentence in zip(grid[0], ("before rotation", *sentences), strict=True):
        ax.set_title(fill(sentence, 13), fontsize=11)
    return list(grid.flat)


def draw_found_hand(
    ahead: float, step: float, distances: Sequence[int], scores: Mapping[str, Sequence[float]]
) -> list[Axes]:
    """Draw the angle between one hand of a query and of a key at several distances, and below it whole scores.

    Each dial is turned so that the query points to the top; of the scores, the last one belongs to the distance 0.

    Args:
        ahead: degrees from query to key before rotation. step: degrees per position.
        distances: position of the key minus position of the query, one dial each.
        scores: ``{name: [one score per distance]}``, for distances up to 0 in order; one or two curves.

    Raises:
        ValueError: if there is no distance, or there are not one or two curves of scores.
    """
    if not distances or not 1 <= len(scores) <= 2:
        raise ValueError(f"give at least one distance and one or two curves, got {distances} and {list(scores)}")
    figure = plt.figure(figsize=(6.5, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, len(distances), height_ratios=(1.15, 1))
    dials = [figure.add_subplot(grid[0, column]) for column in range(len(distances))]
    for ax, distance in zip(dials, distances, strict=True):
        _dial(ax, 0, ahead + step * distance)
        ax.set(ylim=(-1.75, 1.5))
        ax.set_title(with_minus(f"distance {distance}"), fontsize=12)
        moved = with_minus(f" − {-step * distance:.0f}° = {ahead + step * distance:.0f}°") if distance else ""
        say(ax, 0, -1.5, f"key: {ahead:.0f}°{moved}", size=11, colour=RUST)
    below = figure.add_subplot(grid[1, :])
    for (name, values), line, colour in zip(scores.items(), ("-", "--"), (INK, FAINT), strict=False):
        at = range(1 - len(values), 1)
        below.plot(at, as_array(values), color=colour, linestyle=line, marker=".", label=name)
    below.set(xlabel="position of the key minus position of the query", ylabel="score")
    below.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(scores))
    return [*dials, below]


def plot_come_round(
    curves: Mapping[str, Mapping[str, Sequence[float]]], distances: Sequence[int], trained: tuple[int, int],
    places: Mapping[str, int],
) -> list[Axes]:  # fmt: skip
    """Draw the score of one query with some keys over all distances, one panel per key; a dot where the key stands.

    Args:
        curves: ``{word of the key: {which hands: [one score per distance]}}``, one or two curves per panel; the dot is
            on the first. trained: smallest and largest distance of training. places: the distance of each key.

    Raises:
        ValueError: if there is no panel, one hasn't one or two curves, or a key stands at a distance that isn't drawn.
    """
    if not curves or any(not 1 <= len(of) <= 2 or places.get(word) not in distances for word, of in curves.items()):
        raise ValueError("give one or two curves for each key, and the distance at which it stands, one of those drawn")
    figure, grid = plt.subplots(
        len(curves), 1, figsize=(6.5, 2.0 * len(curves) + 0.9), squeeze=False, sharex=True, sharey=True
    )
    for ax, (word, of) in zip(grid[:, 0], curves.items(), strict=True):
        ax.axvspan(*trained, zorder=0, facecolor=SAND, edgecolor="none", label="distances of training")
        for at in places.values():
            ax.axvline(at, color=FAINT, linestyle=":", linewidth=1, zorder=0.5)
        for (name, values), line, colour in zip(of.items(), ("-", "--"), (OKABE_BLUE, VERMILION), strict=False):
            ax.plot(as_array(distances), as_array(values), color=colour, linestyle=line, marker="", label=name)
        place, score = places[word], float(as_array(next(iter(of.values())))[list(distances).index(places[word])])
        ax.plot([place], [score], linestyle="", marker="o", color=INK, markersize=6)
        shift, side = ((8, 7), "left") if place < (distances[0] + distances[-1]) / 2 else ((-8, 7), "right")
        ax.annotate(
            with_minus(f"{word} at {place}: {score:.1f}"), (place, score), shift, textcoords="offset points", ha=side
        )
        ax.set_ylabel(f"score of {word}")
        ax.margins(x=0.02, y=0.13)
    grid[-1, 0].set_xlabel("position of the key minus position of the query")
    figure.set_layout_engine("constrained")
    grid[0, 0].legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, columnspacing=1.2)
    return list(grid[:, 0])


def _clockwise(up: float, right: float) -> float:
    """The angle of a pair of features in degrees, from the top, clockwise."""
    return degrees(atan2(right, up))


def _dial(ax: Axes, query: float, key: float) -> None:
    """A circle with the hands of a query and a key, at angles in degrees, and the angle between them."""
    ax.set(xlim=(-1.6, 1.6), ylim=(-2.5, 1.5), aspect="equal")
    ax.axis("off")
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FAINT, linewidth=1))
    for xs, ys in (([-1, 1], [0, 0]), ([0, 0], [-1, 1])):
        ax.plot(xs, ys, color=PALE, linestyle="-", marker="", linewidth=0.8)
    _arc(ax, radians(query), radians(key), 0.45)
    for angle, reach, colour, width in ((query, 1.0, OKABE_BLUE, 2.2), (key, 0.75, VERMILION, 4.5)):
        _hand(ax, angle, reach, colour, width)
    middle = radians((query + key) / 2)
    say(ax, 1.33 * sin(middle), 1.22 * cos(middle), with_minus(f"{key - query:.0f}°"), size=12, weight="bold")


def _arc(ax: Axes, start: float, end: float, radius: float, colour: str = INK) -> None:
    steps = [start + (end - start) * i / 40 for i in range(41)]
    xs, ys = [radius * sin(a) for a in steps], [radius * cos(a) for a in steps]
    ax.plot(xs, ys, color=colour, linestyle="-", marker="", linewidth=2.5)


def plot_dot_products(dim: int, farthest: int, shift: int, ax: Axes | None = None) -> Axes:
    """Draw the dot product of two sinusoidal position vectors over their distance, and the same for a shifted query.

    Args:
        dim: features D. farthest: the largest distance, in both directions. shift: positions that the second query
            is moved by :func:`~attnbook.attention.positions.relative_shift`.

    Raises:
        ValueError: if farthest is less than 1.
    """
    if farthest < 1:
        raise ValueError(f"farthest must be at least 1 position, got {farthest}")
    keys = sinusoidal_positions(2 * farthest + 1, dim, -farthest)  # (Tk, D); the query stands in the middle
    distances = range(-farthest, farthest + 1)
    ax = new_axes(ax, (6.5, 3.4))
    queries = {"query $p(t)$": 0, f"query $R_{{{shift}}}\\,p(t)$": shift}
    for (name, offset), style in zip(queries.items(), STYLES, strict=False):
        products = keys @ (keys[farthest] @ relative_shift(dim, offset))  # (Tk,)
        ax.plot(distances, products, color=style.colour, linestyle=style.line, marker="", label=name)
    ax.set(xlabel="position of the key minus position of the query, $j - t$", ylabel="dot product")
    ax.set_ylim(0, 1.06 * dim / 2)  # D/2 is the largest that there is
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def plot_sinusoids(dim: int, length: int, ax: Axes | None = None) -> Axes:
    """Draw sinusoidal positions as cells: one row per feature, one column per position.

    Args:
        dim: features D, two rows per hand: its cosine above its sine. length: how many positions.

    Raises:
        ValueError: if the features can't be shared among hands, or there are fewer than two positions.
    """
    if dim < 2 or dim % 2 or length < 2:
        raise ValueError(f"dim must be even and length at least 2, got dim={dim} and length={length}")
    sines_first = sinusoidal_positions(length, dim).T  # (D, T)
    values = sines_first.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)  # the rows of each pair exchanged
    ax = new_axes(ax, (6.5, 0.25 * dim + 0.9))
    image = ax.imshow(as_array(values), cmap=HEAT_MAP, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    ax.grid(False)
    turns = [2 * pi * 10000 ** (2 * pair / dim) for pair in range(dim // 2)]
    ax.set_yticks([2 * pair + 0.5 for pair in range(dim // 2)], [f"{turn:,.0f}" for turn in turns])
    for pair in range(1, dim // 2):
        ax.axhline(2 * pair - 0.5, color=INK, linewidth=1)
    ax.set(xlabel="position t", ylabel="positions per turn of the hand")
    ax.figure.colorbar(image, ax=ax, label="cosine (upper row), sine (lower row)", ticks=[-1, 0, 1], pad=0.02)
    return ax
