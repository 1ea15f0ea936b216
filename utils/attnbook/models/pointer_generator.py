"""The pointer-generator: at each step it writes a word of its vocabulary or copies one from the source."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention.precision import at_least_float32
from attnbook.device import on_cpu
from attnbook.models.seq2seq import AttentionSeq2Seq, AttentionState


def copy_or_generate(p_gen: Tensor, vocabulary: Tensor, weights: Tensor, words: Tensor, size: int) -> Tensor:
    """Probability of each word, of the vocabulary or of the source: a mixture of writing and pointing.

    p(w) = p_gen · p_vocab(w) + (1 − p_gen) · Σ_{j : x_j = w} α_j

    Args:
        p_gen: ``(B,)``, the probability to write and not to copy.
        vocabulary: ``(B, V)``, p_vocab; words without a row there, numbers from V on, can only be copied.
        weights: ``(B, Tk)``, α, the attention weights over the source.
        words: ``(B, Tk)`` long, x, the numbers of the source's words.
        size: how many numbers there are, V and those of words outside the vocabulary.

    Returns:
        ``(B, size)``; each row sums to one if ``vocabulary`` and ``weights`` do.

    Raises:
        ValueError: if the shapes do not fit, or, on the CPU, a word's number is not from 0 to ``size`` − 1.

    Source: See et al. 2017, equation 9.
    """
    _check_mixture(p_gen, vocabulary, weights, words, size)
    written = F.pad(p_gen[:, None] * vocabulary, (0, size - vocabulary.shape[1]))  # (B, V) -> (B, size)
    copied = (1 - p_gen[:, None]) * weights  # (B, Tk)
    return written.scatter_add(1, words, copied)  # a word that stands at two positions gets the weights of both


def _check_mixture(p_gen: Tensor, vocabulary: Tensor, weights: Tensor, words: Tensor, size: int) -> None:
    rows = len(vocabulary)
    if vocabulary.ndim != 2 or p_gen.shape != (rows,) or weights.shape != words.shape or len(words) != rows:
        shapes = [tuple(tensor.shape) for tensor in (p_gen, vocabulary, weights, words)]
        raise ValueError(f"p_gen (B,), vocabulary (B, V), weights and words (B, Tk) do not fit: {shapes}")
    inside = not on_cpu(words) or 0 <= int(words.min()) <= int(words.max()) < size
    if size < vocabulary.shape[1] or not inside:
        raise ValueError(
            f"words must hold numbers from 0 to size − 1 = {size - 1}, of which the vocabulary has the first "
            f"{vocabulary.shape[1]}; got {int(words.min())} to {int(words.max())}"
        )


class CopyState(NamedTuple):
    """A pointer-generator's state.

    Fields:
        inner: that of the decoder with attention.
        words: ``(B, Tk)`` long, the source's words with their full numbers.
        p_gen: ``(B,)``, the probability of writing at the last step; 1 before the first.
    """

    inner: AttentionState
    words: Tensor
    p_gen: Tensor


class PointerGenerator(AttentionSeq2Seq):
    """A decoder with attention that may copy: words outside its vocabulary are unknown when read, but can be written.

    p_gen = σ(w_h · c_t + w_s · s_t + w_x · y_{t−1} + b), and the word's probability is :func:`copy_or_generate`.

    Args:
        vocabulary_size: V, words that it can read and write; source and target share them.
        size: how many numbers words can have, V and those of words outside.
        unknown: the number of the word that it reads in place of these.
        embedding, hidden: as :class:`~attnbook.models.seq2seq.AttentionSeq2Seq`.

    Source: See et al. 2017, equations 8 and 9; there the query of attention is s_t, here s_{t−1} as in Bahdanau et al.
    """

    def __init__(self, vocabulary_size: int, size: int, unknown: int, embedding: int = 32, hidden: int = 128) -> None:
        super().__init__(vocabulary_size, vocabulary_size, embedding, hidden)
        self.vocabulary_size, self.size, self.unknown = vocabulary_size, size, unknown
        self.switch = nn.Linear(2 * hidden + embedding, 1)

    def _known(self, words: Tensor) -> Tensor:
        return words.masked_fill(words >= self.vocabulary_size, self.unknown)

    def start(self, source: Tensor, lengths: Tensor) -> CopyState:  # type: ignore[override]  # it keeps more
        """Encode ``source (B, Tk)``, whose words may have any of the ``size`` numbers."""
        inner = super().start(self._known(source), lengths)
        return CopyState(inner, source, torch.ones(len(source), device=source.device))

    def step(self, token: Tensor, state: CopyState) -> tuple[Tensor, CopyState, Tensor]:  # type: ignore[override]
        """One word ``token (B,)`` -> log-probabilities ``(B, size)``, state, weights ``(B, Tk)``."""
        token = self._known(token)
        logits, inner, weights = super().step(token, state.inner)
        context = (weights[:, None] @ inner.annotations)[:, 0]  # (B, 1, Tk) @ (B, Tk, D) -> (B, D)
        features = torch.cat([context, self.cell.hidden(inner.recurrent), self.embed(token)], dim=-1)
        p_gen = self.switch(features)[:, 0].sigmoid()  # (B,)
        mixed = copy_or_generate(p_gen, logits.softmax(dim=-1), weights, state.words, self.size)  # (B, size)
        mixed = at_least_float32(mixed)
        log_probs = mixed.clamp_min(torch.finfo(mixed.dtype).tiny).log()  # a name that is not in the source has 0
        return log_probs, CopyState(inner, state.words, p_gen), weights
