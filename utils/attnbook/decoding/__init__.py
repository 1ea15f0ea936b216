"""Writing with a trained model: search, sampling, and the penalties by which a beam ranks what it found."""

from attnbook.decoding.beam_search import Beams, beam
from attnbook.decoding.penalties import coverage_penalty, length_penalty
from attnbook.decoding.sampling import chooser, sampling_probabilities
from attnbook.decoding.search import (
    Decoded,
    Decoder,
    DecoderModule,
    WithoutCache,
    greedy,
    sample,
    select,
    stream,
    translate,
)
from attnbook.decoding.speculative import (
    Draft,
    Guess,
    ModelDraft,
    Speculated,
    lookup_draft,
    prompt_lookup,
    speculate,
    speculative_accept,
)

__all__ = [
    "Beams",
    "Decoded",
    "Decoder",
    "DecoderModule",
    "Draft",
    "Guess",
    "ModelDraft",
    "Speculated",
    "WithoutCache",
    "beam",
    "chooser",
    "coverage_penalty",
    "greedy",
    "length_penalty",
    "lookup_draft",
    "prompt_lookup",
    "sample",
    "sampling_probabilities",
    "select",
    "speculate",
    "speculative_accept",
    "stream",
    "translate",
]
