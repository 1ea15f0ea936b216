"""The models of the book, one file a paper."""

from attnbook.models.lstmn import LSTMN, LSTMLanguageModel
from attnbook.models.ntm import NTM, LSTMTagger, NTMConfig, NTMRecord, NTMState
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
    "Transformer",
    "TransformerConfig",
    "TransformerState",
]
