"""The checks of lab 14: pointers."""

from misread.lab import Lab

from .decoding import GREEDY_POINTER_DECODE
from .hull import IS_CONVEX_HULL
from .pointing import POINTER_LOG_PROBS
from .tour import OPTIMALITY_GAP, TOUR_LENGTH
from .visited import MASK_VISITED

EXERCISES = (TOUR_LENGTH, OPTIMALITY_GAP, IS_CONVEX_HULL, MASK_VISITED, POINTER_LOG_PROBS, GREEDY_POINTER_DECODE)
check = Lab("lab14", EXERCISES, chapter="14_pointer_networks")
