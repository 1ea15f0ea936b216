"""The checks of lab 5: Eight layers that learn, and eight that don't."""

from misread.lab import Lab

from .layers import BIDIRECTIONAL_FIRST_LAYER, RESIDUAL_STACK
from .penalties import COVERAGE_PENALTY, LENGTH_PENALTY
from .workers import AVERAGE_GRADIENTS

EXERCISES = (RESIDUAL_STACK, BIDIRECTIONAL_FIRST_LAYER, LENGTH_PENALTY, COVERAGE_PENALTY, AVERAGE_GRADIENTS)
check = Lab("lab05", EXERCISES, chapter="05_gnmt")
