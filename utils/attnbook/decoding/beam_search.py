"""Beam search: several beginnings of each sentence are kept, and the best of their continuations go on."""

from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.attention.masks import padding_mask
from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding.penalties import coverage_penalty, length_penalty
from attnbook.decoding.search import Decoder, read_prompt
from attnbook.modes import evaluating
from attnbook.positive import check_positive
from attnbook.threads import small_on_one_thread


class Beams(NamedTuple):
    """What a beam search kept, best first.

    Fields:
        tokens: ``(B, W, L)``; after its end symbol a sentence repeats it.
        scores: ``(B, W)``, log-probability (nats) over the length penalty, plus the coverage penalty; −inf where there
            are fewer than W.
    """

    tokens: Tensor
    scores: Tensor


class Beginnings(NamedTuple):
    """What a beam search is at: the W best beginnings of each sentence, best first.

    Fields:
        tokens: ``(B, W, t)``, their words.
        total: ``(B, W)``, their log-probability in nats; −inf where there are fewer than W.
        size: ``(B, W)``, how many words they have, the end symbol counted, and what stands after it not.
        ended: ``(B, W)`` bool, whether they are whole sentences.
        coverage: ``(B, W, Tk)``, the attention weight that each source word has got from their words, and 1 at
            padding; ``(B, W, 0)`` where nobody asks for it.
    """

    tokens: Tensor
    total: Tensor
    size: Tensor
    ended: Tensor
    coverage: Tensor

    @classmethod
    def empty(cls, covered: Tensor, width: int) -> "Beginnings":
        """No words yet, and ``covered (B, Tk)`` of the source; and so there is one beginning, not W equal ones."""
        total = torch.full((len(covered), width), float("-inf"), device=covered.device)  # (B, W)
        total[:, 0] = 0.0
        tokens = torch.zeros(*total.shape, 0, dtype=torch.long, device=covered.device)  # (B, W, 0)
        coverage = covered[:, None].expand(-1, width, -1)  # (B, W, Tk)
        return cls(tokens, total, torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool), coverage)

    def attended(self, weights: Tensor | None) -> "Beginnings":
        """Add what the next word of each attends to, ``weights (B·W, Tk)``; ended sentences attend no more."""
        if self.coverage.shape[-1] == 0:
            return self
        if weights is None:
            raise ValueError("beta needs attention weights, and this model has none; leave beta at 0")
        added = weights.view_as(self.coverage).masked_fill(self.ended[..., None], 0.0)  # (B, W, Tk)
        return self._replace(coverage=self.coverage + added)

    def ranks(self, alpha: float, beta: float) -> Tensor:
        """By what they are compared, ``(B, W)``: equation 14 of Wu et al. 2016."""
        return self.total / length_penalty(self.size, alpha) + coverage_penalty(self.coverage, beta)


@small_on_one_thread
@evaluating
def beam(
    model: Decoder,
    *source: Tensor,
    max_length: int,
    width: int = 4,
    alpha: float = 0.0,
    beta: float = 0.0,
    prompt: Tensor | None = None,
    bos: int = BOS,
    eos: int = EOS,
) -> Beams:
    """Keep the ``width`` best beginnings at each step; a sentence that has ended stays among them as it is.

    Args:
        source, max_length, prompt: as :func:`greedy`.
        width: W, how many beginnings are kept. With 1 this is :func:`greedy`; with all there are, an exhaustive search.
        alpha, beta: of :func:`length_penalty` and :func:`coverage_penalty`, by which beginnings and ended sentences
            are ranked at each step. (Wu et al. rank ended sentences alone by them.)

    Raises:
        ValueError: if ``max_length`` or ``width`` is not positive; if there is a ``beta``, but no source with its
            lengths, or no attention; or as :func:`greedy`.

    Source: Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7, for the penalties.
    """
    check_positive(max_length=max_length, width=width)
    token, state = read_prompt(model, source, prompt, bos)
    kept = Beginnings.empty(_covered(token, source, beta), width)
    sentence = torch.arange(len(token), device=token.device)[:, None]  # (B, 1)
    rows = sentence.expand(-1, width).flatten()  # (B·W,): each sentence W times
    token, state = token[rows], model.select(state, rows)
    for _ in range(max_length):
        logits, state, weights = model.step(token, state)
        kept, parent = _best(kept.attended(weights), logits.log_softmax(dim=-1), alpha, beta, eos)
        rows = (width * sentence + parent).flatten()  # (B·W,): whose state each takes
        token, state = kept.tokens[..., -1].flatten(), model.select(state, rows)
        if kept.ended.all():
            break
    return Beams(kept.tokens, kept.ranks(alpha, beta))


def _covered(token: Tensor, source: tuple, beta: float) -> Tensor:
    """What is covered before the first word, ``(B, Tk)``: the padding; ``(B, 0)`` if coverage doesn't count."""
    if not beta:
        return torch.zeros(len(token), 0, device=token.device)
    if len(source) != 2:
        raise ValueError(f"beta needs a source and its lengths, whose words are to be covered; got {len(source)} parts")
    words, lengths = source
    return (~padding_mask(lengths.to(token.device), words.shape[1])).float()


def _best(kept: Beginnings, words: Tensor, alpha: float, beta: float, eos: int) -> tuple[Beginnings, Tensor]:
    """The W best of all continuations by ``words (B·W, V)``, and the beginning that each continues, ``(B, W)``."""
    stay = torch.full_like(words[0], float("-inf"))  # (V,): an ended sentence goes on with eos only, for nothing
    stay[eos] = 0.0
    words = words.view(*kept.total.shape, -1)  # (B, W, V)
    totals = kept.total[..., None] + torch.where(kept.ended[..., None], stay, words)  # (B, W, V)
    sizes = (kept.size + ~kept.ended)[..., None].expand_as(totals)  # (B, W, V)
    covered = coverage_penalty(kept.coverage, beta)[..., None]  # (B, W, 1): the next word itself changes it no more
    ranked = (totals / length_penalty(sizes, alpha) + covered).flatten(1)  # (B, W·V)
    best = ranked.topk(kept.total.shape[1], dim=-1).indices  # (B, W), best first
    parent, word = best // words.shape[-1], best % words.shape[-1]  # (B, W) each
    tokens = kept.tokens.gather(1, parent[..., None].expand_as(kept.tokens))  # (B, W, t)
    tokens = torch.cat([tokens, word[..., None]], dim=-1)  # (B, W, t + 1)
    total, size = (part.flatten(1).gather(1, best) for part in (totals, sizes))
    coverage = kept.coverage.gather(1, parent[..., None].expand_as(kept.coverage))  # (B, W, Tk)
    return Beginnings(tokens, total, size, kept.ended.gather(1, parent) | (word == eos), coverage), parent
