"""The checks of lab 17: beyond the trained lengths."""

from misread.lab import Lab

from .bias import RELATIVE_BIAS
from .factor import SHARPENING_FACTOR
from .positions import RANDOMISED_POSITIONS
from .score import EXTRAPOLATION_SCORE
from .split import LENGTH_SPLIT

EXERCISES = (LENGTH_SPLIT, EXTRAPOLATION_SCORE, SHARPENING_FACTOR, RELATIVE_BIAS, RANDOMISED_POSITIONS)
check = Lab("lab17", EXERCISES, chapter="17_beyond_lengths")
