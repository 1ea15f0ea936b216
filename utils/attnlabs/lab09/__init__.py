"""The checks of lab 9: the Transformer."""

from misread.lab import Lab

from .decoder import DECODER_LAYER
from .encoder import ENCODER_LAYER
from .loss import LABEL_SMOOTHING_LOSS
from .mask import DECODER_MASK
from .parts import FEED_FORWARD, LAYER_NORM
from .residual import RESIDUAL_POST_NORM, RESIDUAL_PRE_NORM
from .warmup import WARMUP_RATE

EXERCISES = (
    FEED_FORWARD,
    LAYER_NORM,
    RESIDUAL_POST_NORM,
    RESIDUAL_PRE_NORM,
    DECODER_MASK,
    ENCODER_LAYER,
    DECODER_LAYER,
    LABEL_SMOOTHING_LOSS,
    WARMUP_RATE,
)
check = Lab("lab09", EXERCISES, chapter="09_transformer")
