"""The checks of lab 6: Say what you see, and point at it."""

from misread.lab import Lab

from .locations import SAMPLE_LOCATION
from .pictures import DOUBLY_STOCHASTIC_PENALTY, IMAGE_TO_ANNOTATIONS
from .pointing import POINTING_ACCURACY
from .reinforce import REINFORCE_LOSS

EXERCISES = (IMAGE_TO_ANNOTATIONS, DOUBLY_STOCHASTIC_PENALTY, POINTING_ACCURACY, SAMPLE_LOCATION, REINFORCE_LOSS)
check = Lab("lab06", EXERCISES, chapter="06_captioning")
