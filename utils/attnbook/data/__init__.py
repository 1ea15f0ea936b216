"""Small tasks made on the spot: nothing is downloaded, every split is fixed by its seed."""

from attnbook.data.agreement import (
    agreement_sentence,
    agreement_sentences,
    attractors,
    number_of,
    other_number,
    read_sentence,
    subject_and_verb,
)
from attnbook.data.algorithmic import reversed_string, reversed_strings
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.dates import FORMATS, dates, written_date
from attnbook.data.geometry import (
    convex_hull,
    hull_area_covered,
    is_convex_hull,
    is_simple,
    polygon_area,
    random_points,
)
from attnbook.data.numbers import (
    align_number,
    number_list,
    number_lists,
    number_words_de,
    number_words_en,
    single_numbers,
)
from attnbook.data.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.tours import (
    augment_tours,
    canonical_tour,
    held_karp,
    nearest_neighbour,
    optimality_gap,
    random_tours,
    tour_length,
    two_opt,
)
from attnbook.data.vocabulary import BOS, EOS, PAD, UnknownWord, Vocabulary

__all__ = [
    "BOS",
    "EOS",
    "FORMATS",
    "PAD",
    "Batch",
    "Example",
    "Task",
    "UnknownWord",
    "Vocabulary",
    "agreement_sentence",
    "agreement_sentences",
    "align_number",
    "attractors",
    "augment_tours",
    "canonical_tour",
    "convex_hull",
    "dates",
    "held_karp",
    "hull_area_covered",
    "hull_batch",
    "is_convex_hull",
    "is_simple",
    "nearest_neighbour",
    "number_list",
    "number_lists",
    "number_of",
    "number_words_de",
    "number_words_en",
    "optimality_gap",
    "other_number",
    "polygon_area",
    "random_points",
    "random_tours",
    "read_sentence",
    "reversed_string",
    "reversed_strings",
    "single_numbers",
    "sorting_batch",
    "subject_and_verb",
    "tour_batch",
    "tour_length",
    "training_tours",
    "two_opt",
    "written_date",
]
