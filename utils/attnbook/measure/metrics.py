"""How good is a model? Exact match, alignment error rate and BLEU compare what it said with the truth."""

import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnbook.extras import needed_from

Link = tuple[int, ...]  # (source position, target position)
_LONGEST_RUN = 4  # BLEU counts runs of one to four tokens


def exact_match(predictions: Sequence[Sequence], targets: Sequence[Sequence]) -> float:
    """Return the share of predictions, between 0 and 1, that are right from the first token to the last.

    Args:
        predictions: one list of tokens (words or numbers) a sentence; without end symbol and padding, as
            ``Vocabulary.decode`` returns them.
        targets: as many lists of tokens, the right answers.

    Raises:
        ValueError: if there are no predictions, or not as many as targets.
        TypeError: if an argument isn't a list of token lists.
    """
    hits = _hits(predictions, targets)
    return sum(hits) / len(hits)


def exact_match_by_length(
    predictions: Sequence[Sequence], targets: Sequence[Sequence], source_lengths: Sequence[int]
) -> dict[int, float]:
    """Return ``{length: exact match}``, one entry for each source length that occurs, in rising order.

    Args:
        predictions, targets: as in :func:`exact_match`.
        source_lengths: one whole number a sentence, in the unit that the figure shall show (words, letters,
            numbers in a list).

    Raises:
        ValueError: if there are no predictions, not as many as targets or lengths, or a length is negative.
        TypeError: if an argument isn't a list of token lists, or a length isn't a whole number.
    """
    hits = _hits(predictions, targets)
    if len(source_lengths) != len(hits):
        raise ValueError(f"source_lengths has {len(source_lengths)} entries but there are {len(hits)} predictions")
    by_length = defaultdict(list)
    for length, hit in zip(source_lengths, hits, strict=True):
        by_length[_whole_number("source_lengths", length)].append(hit)
    return {length: sum(group) / len(group) for length, group in sorted(by_length.items())}


def alignment_error_rate(sure: Iterable[Link], possible: Iterable[Link], predicted: Iterable[Link]) -> float:
    """Return how far a predicted alignment is from the true one: 0 is perfect, 1 shares no link with it.

    With A = predicted, S = sure, P = possible: ``1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)``. A sure link that is
    missing costs, and so does a predicted one that isn't even possible. A link that is only possible may be
    there or not.

    For many sentences put the sentence's number in front of each link, ``(sentence, source, target)``, and
    pool them: links are counted over all sentences, then divided once, so that long sentences weigh more.

    Args:
        sure: set of links ``(source position, target position)`` that every reader would draw.
        possible: set of links that one may draw; includes the sure ones.
        predicted: set of links of the model.

    Raises:
        ValueError: if ``possible`` leaves out a sure link, or neither a sure nor a predicted link is there.
        TypeError: if a link isn't a pair (or, pooled, a triple) of whole numbers.

    Source: Och and Ney 2003 (evaluation methodology, where the alignment error rate is defined).
    """
    counts = link_counts(sure, possible, predicted)
    if not counts[1]:
        raise ValueError("sure and predicted are both empty; without a link there is no error rate")
    return error_rates(torch.tensor([counts])).item()


def link_counts(sure: Iterable[Link], possible: Iterable[Link], predicted: Iterable[Link]) -> tuple[int, int]:
    """The two numbers of the alignment error rate: |A ∩ S| + |A ∩ P| and |A| + |S|, see :func:`alignment_error_rate`.

    Raises:
        ValueError: if ``possible`` leaves out a sure link.
        TypeError: if a link isn't a pair (or, pooled, a triple) of whole numbers.
    """
    sure, possible, predicted = (_links("sure", sure), _links("possible", possible), _links("predicted", predicted))
    if not sure <= possible:
        missing = min(sure - possible)
        raise ValueError(f"possible leaves out the sure link {missing}; each sure link is a possible one too")
    return len(predicted & sure) + len(predicted & possible), len(predicted) + len(sure)


def error_rates(counts: Tensor) -> Tensor:
    """Alignment error rates from the ``counts (..., N, 2)`` of N sentences, summed over them -> ``(...)``.

    >>> error_rates(torch.tensor([[1, 2], [5, 6]])).item()
    0.25

    Raises:
        ValueError: if some N sentences together have no link.
    """
    right, links = counts.cpu().double().sum(dim=-2).unbind(-1)
    if not links.all():
        raise ValueError("counts has no link in all its sentences together; without a link there is no error rate")
    return 1 - right / links


def alignment_from_weights(weights: Tensor) -> set[Link]:
    """Link each target word to the one source word that it attends to most.

    A row of zeros (it may attend to nothing) gives no link; of equal weights the first wins. To leave out
    the end symbol or padding, slice first: ``weights[:target_length, :source_length]``.

    Args:
        weights: ``(T, Tk)`` attention weights of one sentence, on any device.

    Returns:
        Set of ``(source position, target position)``, at most one link a target word.

    Raises:
        ValueError: if ``weights`` hasn't two axes, has no source word, or holds NaN or negative numbers.
    """
    weights = torch.as_tensor(weights).detach().cpu()
    if weights.ndim != 2:
        raise ValueError(f"weights must have 2 axes (T, Tk), got shape {tuple(weights.shape)}; give one sentence")
    if weights.shape[1] == 0:
        raise ValueError("weights has no source words: its last axis has length 0")
    if weights.isnan().any() or (weights < 0).any():
        raise ValueError("weights holds NaN or negative numbers; give the weights after the softmax, not the scores")
    best = weights.argmax(dim=-1).tolist()  # (T, Tk) -> (T,)
    attends = weights.any(dim=-1).tolist()  # (T, Tk) -> (T,)
    return {(source, target) for target, source in enumerate(best) if attends[target]}


def bleu(predictions: Sequence[Sequence], references: Sequence[Sequence]) -> float:
    """Return corpus BLEU between 0 and 100, on the tokens as they are given.

    BLEU counts runs of one to four tokens. In a corpus of shorter references even a perfect translation would
    score 0; such a corpus is refused.

    Args:
        predictions: one list of tokens a sentence.
        references: as many lists of tokens, one reference a sentence.

    Raises:
        ValueError: if there are no predictions, not as many as references, or no reference has four tokens.
        TypeError: if an argument isn't a list of token lists.

    Source: Papineni et al. 2002, as computed by sacrebleu (Post 2018), smoothing ``exp``, without its
    tokeniser.
    """
    _check_pairs("predictions", predictions, "references", references)
    longest = max(map(len, references))
    if longest < _LONGEST_RUN:
        raise ValueError(f"references have at most {longest} tokens; BLEU needs one of 4 or more (use exact_match)")
    with needed_from("notebooks"):
        from sacrebleu.metrics import BLEU
    # sacrebleu splits at spaces. A number for each different token keeps tokens whole that hold a space.
    tokens = dict.fromkeys(token for row in (*references, *predictions) for token in row)
    numbers = {token: str(i) for i, token in enumerate(tokens)}
    lines, reference_lines = (
        [" ".join(numbers[token] for token in row) for row in rows] for rows in (predictions, references)
    )
    metric = BLEU(tokenize="none", max_ngram_order=_LONGEST_RUN, force=True)
    return min(
        metric.corpus_score(lines, [reference_lines]).score, 100.0
    )  # rounding may leave a perfect corpus a hair above 100


def _hits(predictions: Sequence[Sequence], targets: Sequence[Sequence]) -> list[bool]:
    _check_pairs("predictions", predictions, "targets", targets)
    return [list(prediction) == list(target) for prediction, target in zip(predictions, targets, strict=True)]


def _check_pairs(name: str, rows: Sequence[Sequence], other_name: str, others: Sequence[Sequence]) -> None:
    _check_token_lists(name, rows)
    _check_token_lists(other_name, others)
    if len(rows) != len(others):
        raise ValueError(f"{name} has {len(rows)} sentences but {other_name} has {len(others)}; they go in pairs")
    if len(rows) == 0:
        raise ValueError(f"{name} is empty; a score needs at least one sentence")


def _check_token_lists(name: str, rows: Sequence[Sequence]) -> None:
    if not isinstance(rows, list | tuple):
        raise TypeError(f"{name} must be a list of token lists, got {_kind(rows)}")
    for i, row in enumerate(rows):
        # A string would pass for a list of its letters, and a tensor would compare in its own way.
        if not isinstance(row, list | tuple):
            raise TypeError(f"{name}[{i}] must be a list of tokens, got {_kind(row)}")


def _kind(value: object) -> str:
    hint = {"Tensor": "; use .tolist()", "str": "; use .split()"}.get(type(value).__name__, "")
    return f"a {type(value).__name__}{hint}"


def _whole_number(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must hold whole numbers, got {value!r}") from None
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}")
    return number


def _links(name: str, links: Iterable) -> set[Link]:
    checked = set()
    for link in links:
        if not isinstance(link, list | tuple) or len(link) not in (2, 3):
            raise TypeError(f"{name} must hold links (source position, target position), got {link!r}")
        checked.add(tuple(_whole_number(name, position) for position in link))
    return checked


def pointing_accuracy(weights: Tensor, inside: Tensor) -> float:
    """Share of the words whose largest weight lies inside what the word names.

    Args:
        weights: ``(B, T, Tk)``.
        inside: ``(B, T, Tk)`` bool, the positions that belong to what the word names. Words that name nothing have
            a row of ``False``, and don't count.

    Raises:
        ValueError: if the shapes differ, or no word names anything.
    """
    if weights.shape != inside.shape:
        raise ValueError(f"inside must have the shape of weights {tuple(weights.shape)}, got {tuple(inside.shape)}")
    naming = inside.any(dim=-1)  # (B, T)
    if not naming.any():
        raise ValueError("inside is False throughout: no word names anything")
    hits = inside.gather(-1, weights.argmax(dim=-1, keepdim=True))[..., 0]  # (B, T)
    return hits[naming].cpu().double().mean().item()
