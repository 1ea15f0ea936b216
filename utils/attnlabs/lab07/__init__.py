"""The checks of lab 7: self-attention."""

from misread.lab import Lab

from .attention import SELF_ATTENTION
from .masks import CAUSAL_MASK, WINDOW_MASK
from .order import PERMUTE_ROWS
from .paths import PATH_LENGTH
from .work import COUNT_MULTIPLICATIONS

EXERCISES = (SELF_ATTENTION, PERMUTE_ROWS, CAUSAL_MASK, WINDOW_MASK, PATH_LENGTH, COUNT_MULTIPLICATIONS)
check = Lab("lab07", EXERCISES, chapter="07_self_attention")
