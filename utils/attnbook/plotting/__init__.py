"""Figures of the book, one call each; how they look stands in :mod:`attnbook.plotting.style` alone.

What belongs to one chapter lies in :mod:`attnbook.plotting.chapters`; what its diagrams are made of, in
:mod:`attnbook.plotting.boxes`; every colour, in :mod:`attnbook.plotting.palette`.
"""

from attnbook.plotting.alignments import plot_alignment
from attnbook.plotting.bars import plot_bars
from attnbook.plotting.curves import plot_by_length, plot_gradient_by_distance, plot_losses
from attnbook.plotting.heat import plot_heat, plot_side_by_side
from attnbook.plotting.series import by_length, by_model
from attnbook.plotting.style import COLOURS, styles_for, use_book_style

__all__ = [
    "COLOURS",
    "by_length",
    "by_model",
    "plot_alignment",
    "plot_bars",
    "plot_by_length",
    "plot_gradient_by_distance",
    "plot_heat",
    "plot_losses",
    "plot_side_by_side",
    "styles_for",
    "use_book_style",
]
