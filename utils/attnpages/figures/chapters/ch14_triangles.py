"""Figures of chapter 14: triangulations beside the correct ones."""

from collections.abc import Mapping
from itertools import combinations

from matplotlib.axes import Axes
from torch import Tensor

from attnbook.data.points.triangulation import triangles_named
from attnpages.figures.chapters.ch14 import _BEST, _OFF, _POINT, _WAY, _panels, _square

_CORNERS = {"facecolor": _WAY["color"], "alpha": 0.18, "edgecolor": "none", "zorder": 0}


def plot_triangulations(panels: Mapping[str, tuple[Tensor, Tensor, Tensor]], columns: int = 3) -> list[Axes]:
    """Draw answers to Delaunay triangulations side by side.

    Correct triangles are filled; edges of others are dashed; edges that an answer lacks are dotted.

    Args:
        panels: by title, points ``(N, 2)``, the positions of an answer ``(T,)``, and those of the right one ``(T',)``.
        columns: panels per row.

    Raises:
        ValueError: if there is no panel, or ``columns`` is not positive.
    """
    if not panels or columns < 1:
        raise ValueError(f"panels and columns must be at least one, got {len(panels)} and {columns}")
    axes = _panels(len(panels), columns)
    for ax, (title, (points, answer, target)) in zip(axes, panels.items(), strict=True):
        _draw_triangles(ax, points.tolist(), _triangles(answer, len(points)), _triangles(target, len(points)))
        _square(ax, title)
    return axes


def _triangles(positions: Tensor, size: int) -> set[tuple[int, ...]]:
    """The triples of positions that a row names."""
    named = triangles_named(positions[None], size)[0].tolist()
    return {triple for triple, there in zip(combinations(range(size), 3), named, strict=True) if there}


def _edges(triangles: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {edge for triangle in triangles for edge in combinations(triangle, 2)}


def _draw_triangles(ax: Axes, points: list, answer: set[tuple[int, ...]], target: set[tuple[int, ...]]) -> None:
    for triangle in sorted(answer & target):
        ax.fill(*zip(*(points[corner] for corner in triangle), strict=True), **_CORNERS)
    right = _edges(answer & target)
    looks = [(right, _WAY), (_edges(answer - target) - right, _OFF), (_edges(target) - _edges(answer), _BEST)]
    for edges, look in looks:
        for a, b in sorted(edges):
            ax.plot(*zip(points[a], points[b], strict=True), **look)
    ax.plot(*zip(*points, strict=True), **_POINT)
