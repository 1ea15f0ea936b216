"""The models of the book, one file per paper."""

from attnbook.models.bert import MaskedLanguageModel, SentenceClassifier
from attnbook.models.block import Block, PostNormBlock, TransformerConfig
from attnbook.models.captioning import Captioner, image_to_annotations
from attnbook.models.gnmt import GNMT, GNMTEncoder, GNMTState
from attnbook.models.language_model import LanguageModel, LanguageModelState
from attnbook.models.lstmn import LSTMN, LSTMLanguageModel
from attnbook.models.luong import LuongSeq2Seq, LuongState, attentional_state, input_feeding_step
from attnbook.models.neighbours import (
    Datastore,
    build_datastore,
    exact_search,
    faiss_search,
    knn_probabilities,
    mix_probabilities,
    nearest_neighbours,
)
from attnbook.models.ngram import KneserNey
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
from attnbook.models.sagan import (
    SAGAN,
    FeatureMapAttention,
    ImageDiscriminator,
    ImageGenerator,
    feature_map_attention,
    gated_residual,
)
from attnbook.models.seq2seq import AttentionSeq2Seq, Encoded, Encoder, PlainSeq2Seq
from attnbook.models.spectral_norm import SpectralNorm, spectral_norm_step, spectrally_normalised
from attnbook.models.state_layer import StateLayer, StateModel
from attnbook.models.transformer import Maps, Transformer, TransformerState
from attnbook.models.transformer_xl import RelativeAttention, TransformerXL, align_distances, segment_memory
from attnbook.models.vision import VisionTransformer, patches_to_tokens

__all__ = [
    "GNMT",
    "LSTMN",
    "NTM",
    "SAGAN",
    "AttentionSeq2Seq",
    "Block",
    "Captioner",
    "Datastore",
    "Encoded",
    "Encoder",
    "FeatureMapAttention",
    "GNMTEncoder",
    "GNMTState",
    "ImageDiscriminator",
    "ImageGenerator",
    "KneserNey",
    "LSTMLanguageModel",
    "LSTMTagger",
    "LanguageModel",
    "LanguageModelState",
    "LuongSeq2Seq",
    "LuongState",
    "Maps",
    "MaskedLanguageModel",
    "NTMConfig",
    "NTMRecord",
    "NTMState",
    "PlainSeq2Seq",
    "PointerNetwork",
    "PointerState",
    "PostNormBlock",
    "RelativeAttention",
    "SentenceClassifier",
    "SpectralNorm",
    "StateLayer",
    "StateModel",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
    "TransformerXL",
    "VisionTransformer",
    "align_distances",
    "answer_log_probs",
    "attentional_state",
    "beam_pointer_decode",
    "build_datastore",
    "exact_search",
    "faiss_search",
    "feature_map_attention",
    "gated_residual",
    "greedy_pointer_decode",
    "image_to_annotations",
    "input_feeding_step",
    "knn_probabilities",
    "mask_visited",
    "mix_probabilities",
    "nearest_neighbours",
    "patches_to_tokens",
    "pointer_log_probs",
    "pointer_loss",
    "segment_memory",
    "spectral_norm_step",
    "spectrally_normalised",
]
