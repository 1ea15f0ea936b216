"""The checks of lab 4: A window that finds its place."""

from misread.lab import Lab

from .centre import LOCATION_FEATURES, PREDICTED_CENTRE
from .step import ATTENTIONAL_STATE, INPUT_FEEDING_STEP
from .window import GAUSSIAN_WINDOW, LOCAL_WINDOW_MASK

EXERCISES = (
    ATTENTIONAL_STATE,
    INPUT_FEEDING_STEP,
    LOCAL_WINDOW_MASK,
    GAUSSIAN_WINDOW,
    PREDICTED_CENTRE,
    LOCATION_FEATURES,
)
check = Lab("lab04", EXERCISES, chapter="04_luong")
