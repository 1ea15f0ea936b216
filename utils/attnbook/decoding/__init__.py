"""Writing with a trained model: search, sampling, and the penalties by which a beam ranks what it found."""

from attnbook.decoding.penalties import coverage_penalty, length_penalty
from attnbook.decoding.sampling import chooser, sampling_probabilities
from attnbook.decoding.search import (
    Beams,
    Decoded,
    Decoder,
    DecoderModule,
    WithoutCache,
    beam,
    greedy,
    sample,
    select,
    stream,
    translate,
)

__all__ = [
    "Beams",
    "Decoded",
    "Decoder",
    "DecoderModule",
    "WithoutCache",
    "beam",
    "chooser",
    "coverage_penalty",
    "greedy",
    "length_penalty",
    "sample",
    "sampling_probabilities",
    "select",
    "stream",
    "translate",
]
