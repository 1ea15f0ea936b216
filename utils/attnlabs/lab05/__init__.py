"""The checks of lab 5: Eight layers that learn, and eight that don't."""

from misread.lab import Lab

from .both_ways import BIDIRECTIONAL_FIRST_LAYER
from .penalties import COVERAGE_PENALTY, LENGTH_PENALTY
from .residual import RESIDUAL_STACK
from .workers import AVERAGE_GRADIENTS

EXERCISES = (RESIDUAL_STACK, BIDIRECTIONAL_FIRST_LAYER, LENGTH_PENALTY, COVERAGE_PENALTY, AVERAGE_GRADIENTS)
check = Lab("lab05", EXERCISES, chapter="05_gnmt")
