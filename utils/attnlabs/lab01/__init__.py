"""The checks of lab 1: the bottleneck."""

from misread.lab import Lab

from .decoding import GREEDY_DECODE, LAST_STATES
from .metric import EXACT_MATCH
from .training import SEQUENCE_LOSS, SHIFT_RIGHT

EXERCISES = (SHIFT_RIGHT, SEQUENCE_LOSS, LAST_STATES, GREEDY_DECODE, EXACT_MATCH)
check = Lab("lab01", EXERCISES, chapter="01_seq2seq")
