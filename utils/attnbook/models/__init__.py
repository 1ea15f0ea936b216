"""The models of the book, one file a paper."""

from attnbook.models.lstmn import LSTMN, LSTMLanguageModel
from attnbook.models.ntm import NTM, LSTMTagger, NTMConfig, NTMRecord, NTMState
from attnbook.models.pointer import (
    PointerNetwork,
    PointerState,
    answer_log_probs,
    beam_pointer_decode,
    greedy_pointer_decode,
    mask_visited,
    pointer_log_probs,
    pointer_loss,
)
from attnbook.models.seq2seq import AttentionSeq2Seq, Encoded, Encoder, PlainSeq2Seq
from attnbook.models.transformer import Maps, Transformer, TransformerState
from attnbook.models.transformer_layers import TransformerConfig

__all__ = [
    "LSTMN",
    "NTM",
    "AttentionSeq2Seq",
    "Encoded",
    "Encoder",
    "LSTMLanguageModel",
    "LSTMTagger",
    "Maps",
    "NTMConfig",
    "NTMRecord",
    "NTMState",
    "PlainSeq2Seq",
    "PointerNetwork",
    "PointerState",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
    "answer_log_probs",
    "beam_pointer_decode",
    "greedy_pointer_decode",
    "mask_visited",
    "pointer_log_probs",
    "pointer_loss",
]
