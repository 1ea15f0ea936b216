"""Small tasks made on the spot: nothing is downloaded, every split is fixed by its seed."""

from attnbook.data.batching import Batch, Example, Task
from attnbook.data.pictures.captions import Canvases, canvases, digit_images
from attnbook.data.pictures.digit_pairs import DigitPairs, digit_pairs
from attnbook.data.points.geometry import (
    convex_hull,
    hull_area_covered,
    is_convex_hull,
    is_simple,
    polygon_area,
    random_points,
)
from attnbook.data.points.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.points.tours import (
    augment_tours,
    canonical_tour,
    held_karp,
    nearest_neighbour,
    optimality_gap,
    random_tours,
    tour_length,
    two_opt,
)
from attnbook.data.symbols.agreement import (
    agreement_sentence,
    agreement_sentences,
    attractors,
    number_of,
    other_number,
    read_sentence,
    subject_and_verb,
)
from attnbook.data.symbols.algorithmic import (
    BitBatch,
    associative_recall_batch,
    copy_batch,
    mark_phases,
    repeat_copy_batch,
    reversed_string,
    reversed_strings,
)
from attnbook.data.symbols.dates import FORMATS, dates, written_date
from attnbook.data.symbols.numbers import (
    align_number,
    number_list,
    number_lists,
    number_words_de,
    number_words_en,
    single_numbers,
)
from attnbook.data.symbols.sorting_and_counting import best_ngram_guess, dynamic_ngram_batch, priority_sort_batch
from attnbook.data.texts.byte_pairs import (
    BytePairs,
    learn_merges,
    merge_most_frequent_pair,
    split_word,
    train_byte_pairs,
)
from attnbook.data.texts.language import TextTask, caption_task, own_text_task, text_task
from attnbook.data.texts.text import Corpus, Line, own_corpus
from attnbook.data.texts.vocabulary import BOS, EOS, PAD, UnknownWord, Vocabulary

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
