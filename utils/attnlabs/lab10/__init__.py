"""The checks of lab 10: decoding."""

from misread.lab import Lab

from .beam import BEAM_SEARCH
from .cached import READ_CACHED
from .first_mistake import ERROR_AFTER_FIRST_MISTAKE
from .greedy import GREEDY_DECODE_CACHED
from .length import LENGTH_NORMALISED
from .mixing import MIX_WITH_OWN_OUTPUT
from .sampling import SAMPLE_WITH_TEMPERATURE

EXERCISES = (
    SAMPLE_WITH_TEMPERATURE,
    READ_CACHED,
    GREEDY_DECODE_CACHED,
    BEAM_SEARCH,
    LENGTH_NORMALISED,
    ERROR_AFTER_FIRST_MISTAKE,
    MIX_WITH_OWN_OUTPUT,
)
check = Lab("lab10", EXERCISES, chapter="10_decoding")
