"""The checks of lab 16: SAGAN: two corners that agree."""

from misread.lab import Lab

from .agreement import AGREEMENT_AND_CHANCE
from .gate import GATED_RESIDUAL
from .hinge import HINGE_LOSSES
from .maps import FEATURE_MAP_ATTENTION
from .patches import PATCHES_TO_TOKENS
from .spectral import SPECTRAL_NORM_STEP

EXERCISES = (
    FEATURE_MAP_ATTENTION,
    GATED_RESIDUAL,
    SPECTRAL_NORM_STEP,
    HINGE_LOSSES,
    AGREEMENT_AND_CHANCE,
    PATCHES_TO_TOKENS,
)
check = Lab("lab16", EXERCISES, chapter="16_sagan")
