"""The checks of lab 12: Longer text: the same answer in a twentieth of the memory."""

from misread.lab import Lab

from .blocks import ONLINE_SOFTMAX_SUM
from .distances import RELATIVE_SCORES
from .memory import SEGMENT_MEMORY
from .neighbours import KNN_PROBABILITIES, MIX_PROBABILITIES
from .window import WINDOW_ATTENTION

EXERCISES = (
    ONLINE_SOFTMAX_SUM,
    WINDOW_ATTENTION,
    SEGMENT_MEMORY,
    RELATIVE_SCORES,
    KNN_PROBABILITIES,
    MIX_PROBABILITIES,
)
check = Lab("lab12", EXERCISES, chapter="12_longer_text")
