"""Points in the unit square and what can be drawn through them: hulls, polygons, areas, the symmetries of the square.

A polygon is a row of positions, ``(B, T)`` long: which of the N points comes first, second, …, and N (no
point's number) wherever the polygon has ended.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.device import on_cpu

SYMMETRIES = 8  # of a square: mirrored left to right or not, top to bottom or not, about the diagonal or not


def random_points(size: int, count: int, generator: torch.Generator) -> Tensor:
    """Draw ``count`` times ``size`` points from the unit square, evenly: ``(count, size, 2)``.

    Raises:
        ValueError: if ``count`` or ``size`` is not positive.
    """
    if count < 1 or size < 1:
        raise ValueError(f"count and size must be at least 1, got {count} and {size}")
    return torch.rand(count, size, 2, generator=generator)


def check_points(points: Tensor) -> None:
    """Raise a ValueError unless ``points`` is ``(B, N, 2)`` with B, N > 0, and on the CPU finite."""
    if points.ndim != 3 or points.shape[-1] != 2 or 0 in points.shape:
        raise ValueError(f"points must have shape (B, N, 2) with B, N > 0, got {tuple(points.shape)}")
    if on_cpu(points) and not points.isfinite().all():
        raise ValueError("points must be finite numbers; there is an infinity or a NaN among them")


def check_positions(name: str, positions: Tensor, points: Tensor, most: int) -> None:
    """Raise a ValueError unless ``positions`` is ``(B, T)``, T > 0, whole numbers, and on the CPU 0 to ``most``."""
    check_points(points)
    if positions.ndim != 2 or len(positions) != len(points) or positions.shape[1] == 0 or positions.is_floating_point():
        given = f"{positions.dtype} {tuple(positions.shape)}"
        raise ValueError(f"{name} must be whole numbers ({len(points)}, T), got {given}")
    if on_cpu(positions) and not 0 <= int(positions.min()) <= int(positions.max()) <= most:
        given = f"{int(positions.min())} to {int(positions.max())}"
        raise ValueError(f"{name} must hold positions from 0 to {most}, got {given}")


def corners(points: Tensor, positions: Tensor) -> Tensor:
    """Look up the points ``(B, N, 2)`` at ``positions (B, T)``: ``(B, T, 2)``."""
    return points.gather(1, positions[..., None].expand(*positions.shape, 2))


def turn(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Which way the path a → b → c bends: above 0 left, below 0 right, 0 straight on. ``(…, 2)`` thrice -> ``(…)``.

    It is twice the signed area of the triangle. Reckoned in float64, where this is exact for points that
    ``torch.rand`` draws in float32 (whole multiples of 2⁻²⁴): the sign can be relied on. The result is on the CPU,
    wherever the points are, because not every device has float64 (mps has none).
    """
    a, b, c = (point.cpu().double() for point in (a, b, c))
    (dx, dy), (ex, ey) = (b - a).unbind(-1), (c - a).unbind(-1)
    return dx * ey - dy * ex


def convex_hull(points: Tensor) -> Tensor:
    """Walk around each set of points on the outermost ones: the hull, from the leftmost point, counter-clockwise.

    Gift wrapping: from a corner of the hull the next is the point that has all the others to the left of the way to it.
    Points in the middle of an edge are no corners.

    Args:
        points: ``(B, N, 2)``.

    Returns:
        ``(B, T)`` long, the corners' positions and then N at least once, so T ≤ N + 1. Of leftmost points the lowest is
        first, of equal points the one with the lowest number.

    Raises:
        ValueError: if ``points`` is not ``(B, N, 2)``.

    Source: Jarvis 1973. The fixed start and direction are after Vinyals et al. 2015, section 4.1 (theirs starts at the
    lowest number, which a reader without positions can't know).
    """
    check_points(points)
    device, points = points.device, points.cpu()  # for `turn`
    start = _leftmost(points)  # (B,)
    home = corners(points, start[:, None])  # (B, 1, 2)
    positions, ended = [start], torch.zeros_like(start, dtype=torch.bool)
    for _ in range(points.shape[1]):
        here = corners(points, positions[-1][:, None].clamp_max(points.shape[1] - 1))  # (B, 1, 2)
        following = _next_corner(points, here)  # (B,)
        # Coordinates are compared, not numbers: the walk may come home to a twin of the first point.
        ended = ended | (corners(points, following[:, None]) == home).flatten(1).all(dim=-1)
        positions.append(following.masked_fill(ended, points.shape[1]))
        if ended.all():
            break
    return torch.stack(positions, dim=1).to(device)  # (B, T)


def _leftmost(points: Tensor) -> Tensor:
    x, y = points.unbind(-1)  # (B, N) each
    left = x == x.amin(dim=-1, keepdim=True)
    lowest = y.masked_fill(~left, float("inf")).amin(dim=-1, keepdim=True)
    return _first(left & (y == lowest))


def _first(candidates: Tensor) -> Tensor:
    """The first ``True`` of each row: ``(B, N)`` bool -> ``(B,)`` long; 0 where there is none."""
    return candidates.int().argmax(dim=-1)  # of equal values torch takes the first


def _next_corner(points: Tensor, here: Tensor) -> Tensor:
    """The farthest of the points ``(B, N, 2)`` that have no other to the right of the way from ``here (B, 1, 2)``."""
    bends = turn(here[:, :, None], points[:, :, None], points[:, None])  # (B, N, N): here → candidate → any other
    distance = (points - here).double().square().sum(dim=-1)  # (B, N)
    distance = distance.masked_fill((bends < 0).any(dim=-1), -1.0)
    return _first(distance == distance.amax(dim=-1, keepdim=True))


def _edges(points: Tensor, polygon: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Beginning and end of each edge, ``(B, T, 2)`` both, and which of them are there, ``(B, T)`` bool.

    What stands after a polygon's end is replaced by its first corner, so that those edges are single points.
    """
    check_positions("polygon", polygon, points, points.shape[1])
    there = (polygon != points.shape[1]).cumprod(dim=-1).bool()  # (B, T): up to the first end
    begins = corners(points, torch.where(there, polygon, polygon[:, :1]).clamp_max(points.shape[1] - 1))  # (B, T, 2)
    return begins, begins.roll(-1, dims=1), there


def polygon_area(points: Tensor, polygon: Tensor) -> Tensor:
    """Signed area of each polygon, positive when it runs counter-clockwise: ``(B, N, 2), (B, T)`` -> ``(B,)``.

    The shoelace formula, in float64 and on the CPU as :func:`turn`. Raises ValueError for positions that are none.
    """
    begins, ends, there = _edges(points.cpu(), polygon.cpu())
    home = begins[:, :1].expand_as(begins)
    return (turn(home, begins, ends) * there).sum(dim=-1) / 2  # triangles that share the first corner


def _has_repeats(polygon: Tensor, there: Tensor) -> Tensor:
    """Whether a position comes twice before the end: ``(B, T), (B, T)`` -> ``(B,)`` bool."""
    visits = F.one_hot(polygon) * there[..., None]  # (B, T, largest position + 1)
    return (visits.sum(dim=1) > 1).any(dim=-1)


def is_convex_hull(points: Tensor, polygon: Tensor) -> Tensor:
    """Whether a polygon is the hull of the points, by definition: nothing lies to the right of any of its edges.

    Any corner may come first; the direction must be counter-clockwise.

    Args:
        points: ``(B, N, 2)``. polygon: ``(B, T)`` positions, N from the end on.

    Returns:
        ``(B,)`` bool. ``False`` for less than three corners, and where a corner comes twice.

    Raises:
        ValueError: if the shapes don't fit or there are positions that are none.
    """
    device, points, polygon = points.device, points.cpu(), polygon.cpu()  # for `turn`
    begins, ends, there = _edges(points, polygon)
    bends = turn(begins[:, :, None], ends[:, :, None], points[:, None])  # (B, T, N)
    outside = ((bends < 0) & there[..., None]).flatten(1).any(dim=-1)
    return (~outside & (there.sum(dim=-1) >= 3) & ~_has_repeats(polygon, there)).to(device)


def is_simple(points: Tensor, polygon: Tensor) -> Tensor:
    """Whether a polygon has at least three corners, none twice, and no two of its edges cross: ``(B,)`` bool.

    Arguments and errors as :func:`is_convex_hull`. Edges that only touch don't count as crossing.
    """
    device, points, polygon = points.device, points.cpu(), polygon.cpu()  # for `turn`
    begins, ends, there = _edges(points, polygon)
    a, b, c, d = begins[:, :, None], ends[:, :, None], begins[:, None], ends[:, None]
    apart = turn(a, b, c) * turn(a, b, d) < 0  # (B, T, T): c and d lie on two sides of the edge a b
    crossing = apart & apart.mT & there[:, :, None] & there[:, None]
    return (~crossing.flatten(1).any(dim=-1) & (there.sum(dim=-1) >= 3) & ~_has_repeats(polygon, there)).to(device)


def hull_area_covered(points: Tensor, polygon: Tensor) -> Tensor:
    """Which part of the hull's area a polygon covers, 0 to 1: ``(B,)``. 0 where it is no :func:`is_simple` polygon.

    Corners are points of the set, so no polygon reaches beyond the hull. In float64 and on the CPU, as :func:`turn`.

    Raises:
        ValueError: as :func:`is_convex_hull`; or if all points of an instance lie on a line.

    Source: Vinyals et al. 2015, section 4.2 (there a polygon that crosses itself is left out).
    """
    points, polygon = points.cpu(), polygon.cpu()
    whole = polygon_area(points, convex_hull(points))
    if (whole == 0).any():
        raise ValueError("the points of an instance lie on a line: its hull has no area to be covered")
    return (polygon_area(points, polygon).abs() / whole).masked_fill(~is_simple(points, polygon), 0.0)


def turn_square(points: Tensor, symmetry: Tensor) -> Tensor:
    """Mirror and turn the unit square: each of its eight symmetries by number.

    Args:
        points: ``(B, N, 2)`` in the unit square. symmetry: ``(B,)`` long, 0 to 7; 0 changes nothing.

    Returns:
        ``(B, N, 2)``; all distances are as before.

    Raises:
        ValueError: if a symmetry is not from 0 to 7, or there is not one an instance.
    """
    check_points(points)
    if symmetry.shape != (len(points),) or not 0 <= int(symmetry.min()) <= int(symmetry.max()) < SYMMETRIES:
        raise ValueError(f"symmetry must be ({len(points)},) whole numbers from 0 to {SYMMETRIES - 1}, got {symmetry}")
    mirrored = symmetry[:, None, None] // torch.tensor([1, 2], device=points.device) % 2 == 1  # (B, 1, 2): x, y
    points = torch.where(mirrored, 1 - points, points)
    return torch.where(symmetry[:, None, None] >= 4, points.flip(-1), points)  # flip: x and y change places
