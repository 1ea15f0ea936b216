"""The models of the book, one file a paper."""

from attnbook.models.lstmn import LSTMN, LSTMLanguageModel
from attnbook.models.seq2seq import AttentionSeq2Seq, Encoded, Encoder, PlainSeq2Seq
from attnbook.models.transformer import Maps, Transformer, TransformerState
from attnbook.models.transformer_layers import TransformerConfig

__all__ = [
    "LSTMN",
    "AttentionSeq2Seq",
    "Encoded",
    "Encoder",
    "LSTMLanguageModel",
    "Maps",
    "PlainSeq2Seq",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
]
