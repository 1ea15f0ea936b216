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
from attnbook.data.algorithmic import (
    BitBatch,
    associative_recall_batch,
    copy_batch,
    mark_phases,
    repeat_copy_batch,
    reversed_string,
    reversed_strings,
)
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.byte_pairs import BytePairs, learn_merges, merge_most_frequent_pair, split_word, train_byte_pairs
from attnbook.data.captions import Canvases, canvases, digit_images
from attnbook.data.dates import FORMATS, dates, written_date
from attnbook.data.digit_pairs import DigitPairs, digit_pairs
from attnbook.data.geometry import (
    convex_hull,
    hull_area_covered,
    is_convex_hull,
    is_simple,
    polygon_area,
    random_points,
)
from attnbook.data.language import TextTask, caption_task, own_text_task, text_task
from attnbook.data.numbers import (
    align_number,
    number_list,
    number_lists,
    number_words_de,
    number_words_en,
    single_numbers,
)
from attnbook.data.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.sorting_and_counting import best_ngram_guess, dynamic_ngram_batch, priority_sort_batch
from attnbook.data.text import Corpus, Line, own_corpus
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
    "BitBatch",
    "BytePairs",
    "Canvases",
    "Corpus",
    "DigitPairs",
    "Example",
    "Line",
    "Task",
    "TextTask",
    "UnknownWord",
    "Vocabulary",
    "agreement_sentence",
    "agreement_sentences",
    "align_number",
    "associative_recall_batch",
    "attractors",
    "augment_tours",
    "best_ngram_guess",
    "canonical_tour",
    "canvases",
    "caption_task",
    "convex_hull",
    "copy_batch",
    "dates",
    "digit_images",
    "digit_pairs",
    "dynamic_ngram_batch",
    "held_karp",
    "hull_area_covered",
    "hull_batch",
    "is_convex_hull",
    "is_simple",
    "learn_merges",
    "mark_phases",
    "merge_most_frequent_pair",
    "nearest_neighbour",
    "number_list",
    "number_lists",
    "number_of",
    "number_words_de",
    "number_words_en",
    "optimality_gap",
    "other_number",
    "own_corpus",
    "own_text_task",
    "polygon_area",
    "priority_sort_batch",
    "random_points",
    "random_tours",
    "read_sentence",
    "repeat_copy_batch",
    "reversed_string",
    "reversed_strings",
    "single_numbers",
    "sorting_batch",
    "split_word",
    "subject_and_verb",
    "text_task",
    "tour_batch",
    "tour_length",
    "train_byte_pairs",
    "training_tours",
    "two_opt",
    "written_date",
]
