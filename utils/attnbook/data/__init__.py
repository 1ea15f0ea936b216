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
    repeat_copy_batch,
    reversed_string,
    reversed_strings,
)
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.dates import FORMATS, dates, written_date
from attnbook.data.numbers import (
    align_number,
    number_list,
    number_lists,
    number_words_de,
    number_words_en,
    single_numbers,
)
from attnbook.data.vocabulary import BOS, EOS, PAD, UnknownWord, Vocabulary

__all__ = [
    "BOS",
    "EOS",
    "FORMATS",
    "PAD",
    "Batch",
    "BitBatch",
    "Example",
    "Task",
    "UnknownWord",
    "Vocabulary",
    "agreement_sentence",
    "agreement_sentences",
    "align_number",
    "associative_recall_batch",
    "attractors",
    "copy_batch",
    "dates",
    "number_list",
    "number_lists",
    "number_of",
    "number_words_de",
    "number_words_en",
    "other_number",
    "read_sentence",
    "repeat_copy_batch",
    "reversed_string",
    "reversed_strings",
    "single_numbers",
    "subject_and_verb",
    "written_date",
]
