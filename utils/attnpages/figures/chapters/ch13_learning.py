"""A figure of chapter 13: how the staircases of two heads appear during training, and how far they reach."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.arrays import as_array
from attnpages.figures.palette import INK
from attnpages.figures.style import HEAT_MAP, STYLES

_HEADS = {"write head": 1, "read head": 0}  # their places in the weights
_SURE = 0.5  # the long list shows where a head has more weight than this


def draw_learning(stages: Mapping[str, object], title: str, far: object) -> np.ndarray:
    """Draw both heads on one list at stages of a training, as cells; beside them a long list, as dots.

    A dashed line runs in front of the end mark. The dots are where a head has over half of its weight on one row.

    Args:
        stages: ``{title: (T, 2, N)}``, the weights of the read head and the write head, from left to right.
        title, far: of the long list, ``(T', 2, N')``.

    Returns:
        the axes, ``(2, stages + 1)``: the write head above the read head.

    Raises:
        ValueError: if there is no stage, or weights are not those of two heads over an even number of steps.
    """
    weights = {name: as_array(one) for name, one in {**stages, title: far}.items()}
    if len(weights) < 2 or any(one.ndim != 3 or one.shape[1] != 2 or len(one) % 2 for one in weights.values()):
        raise ValueError(f"give weights (T, 2, N), got {[one.shape for one in weights.values()]}")
    ratios = [1.0] * (len(weights) - 1) + [1.7]
    _, axes = plt.subplots(2, len(weights), figsize=(6.5, 3.9), width_ratios=ratios, layout="constrained")
    for column, (name, one) in zip(axes.T, weights.items(), strict=True):
        for ax, head in zip(column, _HEADS.values(), strict=True):
            (_dots if name == title else _cells)(ax, one[:, head])
            ax.axvline(len(one) / 2 - 0.5, color=INK, linestyle="--", linewidth=1)
        column[0].set_title(name, fontsize=11)
    for ax, name in zip(axes[:, 0], _HEADS, strict=True):
        ax.set_ylabel(f"{name}:\nrow of memory", fontsize=11)
    for ax in axes[1]:
        ax.set_xlabel("time step", fontsize=11)
    return axes


def _cells(ax: Axes, weights: np.ndarray) -> None:
    """Show the weight of each row at each step; row 0 is at the top."""
    steps, rows = weights.shape
    ax.imshow(weights.T, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    _marked(ax, steps, rows)


def _dots(ax: Axes, weights: np.ndarray) -> None:
    """Show the steps in which one row has most of the weight, and which."""
    steps, rows = np.nonzero(weights > _SURE)
    ax.plot(steps, rows, ".", markersize=2.5, color=STYLES[0].colour)
    _marked(ax, len(weights), len(weights) // 2 + 8)


def _marked(ax: Axes, steps: int, rows: int) -> None:
    """Name the first and the last step and row."""
    ax.set(xlim=(-0.5, steps - 0.5), ylim=(rows - 0.5, -0.5))
    ax.set_xticks([0, steps - 1])
    ax.set_yticks([0, rows - 1])
    ax.tick_params(labelsize=10, length=2)
    ax.grid(visible=False)
