"""The checks of lab 20: Attention today."""

from misread.lab import Lab

from .cache import GROUPED_CACHE_BYTES
from .delta import DELTA_RULE_STEP
from .latent import LATENT_ATTENTION
from .linear import LINEAR_ATTENTION
from .recurrent import LINEAR_ATTENTION_STEP
from .speculative import SPECULATIVE_ACCEPT
from .stretched import YARN_FREQUENCIES

EXERCISES = (
    GROUPED_CACHE_BYTES,
    LATENT_ATTENTION,
    LINEAR_ATTENTION,
    LINEAR_ATTENTION_STEP,
    DELTA_RULE_STEP,
    YARN_FREQUENCIES,
    SPECULATIVE_ACCEPT,
)
check = Lab("lab20", EXERCISES, chapter="20_attention_today")
