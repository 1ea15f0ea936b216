"""The checks of lab 3: scores."""

from misread.lab import Lab

from .attention import SCALED_DOT_ATTENTION
from .concat import CONCAT_SCORE
from .cosine import COSINE_SCORE
from .masks import ATTENTION_ENTROPY, PADDING_MASK
from .scores import DOT_SCORE, GENERAL_SCORE

EXERCISES = (
    DOT_SCORE,
    GENERAL_SCORE,
    COSINE_SCORE,
    CONCAT_SCORE,
    PADDING_MASK,
    SCALED_DOT_ATTENTION,
    ATTENTION_ENTROPY,
)
check = Lab("lab03", EXERCISES, chapter="03_scores")
