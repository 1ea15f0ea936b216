"""The checks of lab 8: heads and positions."""

from misread.lab import Lab

from .adding import ADD_POSITIONS
from .attention import MULTI_HEAD_ATTENTION
from .heads import MERGE_HEADS, SPLIT_HEADS
from .positions import SINUSOIDAL_POSITIONS
from .shift import RELATIVE_SHIFT

EXERCISES = (SPLIT_HEADS, MERGE_HEADS, MULTI_HEAD_ATTENTION, SINUSOIDAL_POSITIONS, ADD_POSITIONS, RELATIVE_SHIFT)
check = Lab("lab08", EXERCISES, chapter="08_heads_positions")
