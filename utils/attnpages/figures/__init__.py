"""Figures of the book, one call each; how they look stands in :mod:`attnpages.figures.style` alone.

What belongs to one chapter lies in :mod:`attnpages.figures.chapters`; what its diagrams are made of, in
:mod:`attnpages.figures.boxes`; every colour, in :mod:`attnpages.figures.palette`.
"""

from attnpages.figures.alignments import plot_alignment
from attnpages.figures.bars import plot_bars
from attnpages.figures.curves import plot_by_length, plot_gradient_by_distance, plot_losses
from attnpages.figures.heat import plot_heat, plot_side_by_side
from attnpages.figures.series import by_length, by_model
from attnpages.figures.style import COLOURS, styles_for, use_book_style

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
