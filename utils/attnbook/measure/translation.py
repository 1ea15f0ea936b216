"""The scores by which translations are compared, each named for what it is, and how sure a difference is.

All are computed by sacrebleu (Post 2018) from sentences as written; its signature says how. What a corpus BLEU is made
of is kept sentence by sentence, so that two systems can be compared on resampled tests long after they have run.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.arguments import check_texts
from attnbook.extras import needed_from
from attnbook.seeding import generator

ORDERS = 4  # BLEU counts runs of one to four tokens


class Scores(NamedTuple):
    """Of one system on one test, all from 0 to 100, higher is better.

    Fields:
        bleu: on the text as written, cased; sacrebleu's own tokeniser (13a) is part of the score.
        bleu_signature: how it was computed.
        chrf: F-score of runs of one to six characters.
        chrf_signature: how it was computed.
        bleu_lower: as ``bleu``, on both texts in lower case. Tutorials quote a score like this one, most of them with
            another tokeniser.
    """

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    bleu_lower: float


def translation_scores(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Score translations, one reference for each.

    Raises:
        TypeError: if one text is given in place of a list.
        ValueError: if there are none, or not as many as references.
    """
    _check(translations, references)
    with needed_from("notebooks"):
        from sacrebleu.metrics import BLEU, CHRF
    bleu, lower, chrf = BLEU(), BLEU(lowercase=True), CHRF()
    scores = [metric.corpus_score(list(translations), [list(references)]).score for metric in (bleu, chrf, lower)]
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Scores(round(scores[0], 2), signatures[0], round(scores[1], 2), signatures[1], round(scores[2], 2))


def bleu_counts(translations: Sequence[str], references: Sequence[str], lower: bool = True) -> Tensor:
    """What BLEU counts in each sentence, ``(N, 10)`` whole numbers; their sum over sentences gives the corpus' BLEU.

    The columns are the tokens of the translation, those of the reference, and for runs of one to four tokens first how
    many of the translation's are in the reference, then how many it has.

    Args:
        lower: compare in lower case.

    Raises:
        TypeError, ValueError: as :func:`translation_scores`.
    """
    _check(translations, references)
    with needed_from("notebooks"):
        from sacrebleu.metrics import BLEU
    metric = BLEU(lowercase=lower)
    rows = []
    for translation, reference in zip(translations, references, strict=True):
        found = metric.corpus_score([translation], [[reference]])
        rows.append([found.sys_len, found.ref_len, *found.counts, *found.totals])
    return torch.tensor(rows)


def bleu_from_counts(counts: Tensor) -> Tensor:
    """Corpus BLEU, from 0 to 100, of ``counts (..., N, 10)``, summed over the N sentences -> ``(...)``.

    Where no run of some length is right, BLEU is 0 here; sacrebleu puts a small number in its place.

    Source: Papineni et al. 2002, section 2.3.
    """
    total = counts.cpu().double().sum(dim=-2)  # (..., 10)
    written, wanted = total[..., 0], total[..., 1]
    right, there = total[..., 2 : 2 + ORDERS], total[..., 2 + ORDERS :]
    precision = (right / there.clamp(min=1)).log().mean(dim=-1).exp()  # the geometric mean
    brevity = torch.exp(1 - wanted / written.clamp(min=1)).clamp(max=1.0)
    return 100 * precision * brevity


class Interval(NamedTuple):
    """A number and its 95 % interval; where nothing else is said, 95 % of its resampled values lie there."""

    value: float
    low: float
    high: float


def resampled_bleu(counts: Tensor, samples: int = 1000, seed: int = 0) -> Interval:
    """BLEU of ``counts (N, 10)`` and its range when the test is drawn anew from its own sentences.

    The range says how much the score depends on which sentences are in the test. It says nothing about another seed of
    the training.

    Raises:
        ValueError: if there is no sentence, or ``samples`` is not positive.

    Source: Koehn 2004, section 3 (bootstrap resampling).
    """
    return interval(bleu_from_counts(counts), bleu_of_samples(counts, samples, seed))


def bleu_of_samples(counts: Tensor, samples: int = 1000, seed: int = 0) -> Tensor:
    """BLEU of ``counts (N, 10)`` on each resampled test ``draws(N, samples, seed)``: ``(samples,)``.

    Raises:
        ValueError: as :func:`resampled_bleu`.
    """
    return bleu_from_counts(_totals(counts, draws(len(counts), samples, seed)))


def resampled_difference(ours: Tensor, theirs: Tensor, samples: int = 1000, seed: int = 0) -> Interval:
    """How many BLEU the first of two systems is ahead, and its range on resampled tests that are the same for both.

    Args:
        ours, theirs: ``(N, 10)`` each, of the same sentences in the same order.

    Raises:
        ValueError: if they have different shapes; or as :func:`resampled_bleu`.

    Source: Koehn 2004, section 4 (paired bootstrap resampling).
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"both need the same sentences, got {tuple(ours.shape)} and {tuple(theirs.shape)}")
    rows = draws(len(ours), samples, seed)  # (samples, N)
    drawn = bleu_from_counts(_totals(ours, rows)) - bleu_from_counts(_totals(theirs, rows))
    return interval(bleu_from_counts(ours) - bleu_from_counts(theirs), drawn)


def trained_difference(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], samples: int = 10_000, seed: int = 0
) -> Interval:
    """How many BLEU the mean of several trainings is ahead of another's, and its 95 % interval.

    The half width is √((1.96 σ)² + t² (s₁²/n₁ + s₂²/n₂)): σ is the standard deviation of the difference over resampled
    tests, s² the variance of a system's n scores, and t the 97.5 % point of Student's t for the smaller n − 1.

    Args:
        ours, theirs: one ``(N, 10)`` per training, all of the same sentences in the same order.

    Raises:
        ValueError: if a system has fewer than two trainings, or two differ in shape; or as :func:`resampled_bleu`.

    Source: Koehn 2004, section 4, for the sentences; Clark et al. 2011 for trainings as a source of chance.
    """
    shapes = {tuple(counts.shape) for counts in (*ours, *theirs)}
    fewest = min(len(ours), len(theirs))
    if fewest < 2 or len(shapes) != 1:
        came = f"{len(ours)} of ours and {len(theirs)} of theirs, with the shapes {sorted(shapes)}"
        raise ValueError(f"each system needs two trainings, and all the same sentences; got {came}")
    times = _times(draws(len(ours[0]), samples, seed))  # (samples, N)
    before, ahead = (_mean_on_tests(runs, times) for runs in (theirs, ours))
    scores = [torch.stack([bleu_from_counts(of) for of in runs]) for runs in (ours, theirs)]
    by_training = sum(of.var() / len(of) for of in scores)
    value = (scores[0].mean() - scores[1].mean()).item()
    half = (1.96**2 * (ahead - before).var() + t_quantile(fewest - 1) ** 2 * by_training).sqrt().item()
    return Interval(value, value - half, value + half)


def _mean_on_tests(runs: Sequence[Tensor], times: Tensor) -> Tensor:
    """The mean BLEU of trainings ``(N, 10)`` each, on each resampled test ``times (samples, N)``: ``(samples,)``."""
    return torch.stack([bleu_from_counts((times @ of.cpu().double())[:, None]) for of in runs]).mean(dim=0)


_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # the 97.5 % points for 1 to 9 degrees of freedom


def t_quantile(degrees: int) -> float:
    """The 97.5 % point of Student's t distribution; from nine degrees of freedom on that of nine, which is too high.

    Raises:
        ValueError: if ``degrees`` is less than 1.
    """
    if degrees < 1:
        raise ValueError(f"degrees must be at least 1, got {degrees}")
    return _T[min(degrees, len(_T)) - 1]


def draws(sentences: int, samples: int, seed: int = 0) -> Tensor:
    """Which sentences are in each resampled test, ``(samples, sentences)``; one may be there several times.

    Raises:
        ValueError: if ``sentences`` or ``samples`` is not positive.
    """
    if sentences < 1 or samples < 1:
        raise ValueError(f"sentences and samples must be at least 1, got {sentences} and {samples}")
    return torch.randint(sentences, (samples, sentences), generator=generator(seed))


def _totals(counts: Tensor, rows: Tensor) -> Tensor:
    """What ``counts (N, 10)`` add up to in each resampled test ``rows (samples, N)``, exactly: ``(samples, 1, 10)``."""
    return (_times(rows) @ counts.cpu().double())[:, None]


def _times(rows: Tensor) -> Tensor:
    """How often each sentence is in each resampled test ``rows (samples, N)``: ``(samples, N)``.

    Each sentence's counts are multiplied by it, so the drawn sentences' counts, which are ten times as many numbers,
    are never laid side by side.
    """
    ones = torch.ones((), dtype=torch.float64).expand_as(rows)
    return torch.zeros(rows.shape, dtype=torch.float64).scatter_add_(1, rows, ones)


def interval(value: Tensor, drawn: Tensor) -> Interval:
    """A number with the range in which 95 % of its resampled values ``drawn (samples,)`` lie."""
    low, high = drawn.quantile(torch.tensor([0.025, 0.975], dtype=drawn.dtype)).tolist()
    return Interval(value.item(), low, high)


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    check_texts(translations=translations, references=references)
    if not translations or len(translations) != len(references):
        raise ValueError(
            f"translations and references must be equally many, at least one; got {len(translations)} and "
            f"{len(references)}"
        )
