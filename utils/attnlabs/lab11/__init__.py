"""The checks of lab 11: a small model of your own text."""

from misread.lab import Lab

from .groups import GROUPED_QUERY_ATTENTION
from .hidden import MASK_FOR_BERT
from .nucleus import TOP_P_FILTER
from .perplexity import PERPLEXITY
from .pieces import MERGE_MOST_FREQUENT_PAIR
from .targets import LANGUAGE_MODEL_TARGETS

EXERCISES = (
    MERGE_MOST_FREQUENT_PAIR,
    LANGUAGE_MODEL_TARGETS,
    GROUPED_QUERY_ATTENTION,
    PERPLEXITY,
    MASK_FOR_BERT,
    TOP_P_FILTER,
)
check = Lab("lab11", EXERCISES, chapter="11_bert_gpt")
