"""The checks of lab 13: the neural Turing machine."""

from misread.lab import Lab

from .content import CONTENT_WEIGHTS
from .moving import CIRCULAR_SHIFT, INTERPOLATE
from .sharpening import SHARPEN
from .step import NTM_STEP
from .tape import ERASE_AND_ADD, READ

EXERCISES = (CONTENT_WEIGHTS, INTERPOLATE, CIRCULAR_SHIFT, SHARPEN, ERASE_AND_ADD, READ, NTM_STEP)
check = Lab("lab13", EXERCISES, chapter="13_ntm")
