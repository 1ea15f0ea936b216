"""The checks of lab 2: Bahdanau's attention."""

from misread.lab import Lab

from .additive import ADDITIVE_SCORE, WEIGHT_SUM
from .backward import ATTENTION_BACKWARD
from .decoder import DECODER_STEP
from .error_rate import ALIGNMENT_ERROR_RATE
from .softmax import MASKED_SOFTMAX

EXERCISES = (MASKED_SOFTMAX, ADDITIVE_SCORE, WEIGHT_SUM, ATTENTION_BACKWARD, DECODER_STEP, ALIGNMENT_ERROR_RATE)
check = Lab("lab02", EXERCISES, chapter="02_bahdanau")
