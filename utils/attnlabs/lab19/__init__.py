"""The checks of lab 19: A real language model in your own Block."""

from misread.lab import Lab

from .blocks import DEQUANTISE_Q4_1
from .induction import PREFIX_MATCHING_SCORE
from .loading import LOAD_GPT2
from .names import MAP_NAMES
from .rotary import ROTARY_WITH_BASE
from .window import WINDOW_WITH_SINKS

EXERCISES = (DEQUANTISE_Q4_1, ROTARY_WITH_BASE, MAP_NAMES, LOAD_GPT2, PREFIX_MATCHING_SCORE, WINDOW_WITH_SINKS)
check = Lab("lab19", EXERCISES, chapter="19_real_model")
