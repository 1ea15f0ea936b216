"""The checks of lab 15: SNAIL: a network that learns from five examples."""

from misread.lab import Lab

from .attention import CAUSAL_ATTENTION_BLOCK
from .convolution import CAUSAL_CONVOLUTION, DENSE_BLOCK
from .episode import FEW_SHOT_EPISODE
from .reach import RECEPTIVE_FIELD
from .reward import REGRET

EXERCISES = (CAUSAL_CONVOLUTION, DENSE_BLOCK, RECEPTIVE_FIELD, CAUSAL_ATTENTION_BLOCK, FEW_SHOT_EPISODE, REGRET)
check = Lab("lab15", EXERCISES, chapter="15_snail")
