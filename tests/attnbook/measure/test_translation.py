"""Scores of translations are those of sacrebleu, and intervals hold what they are intervals of."""

import math
from statistics import mean, variance

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from attnbook.measure.translation import (
    bleu_counts,
    bleu_from_counts,
    bleu_of_samples,
    draws,
    resampled_bleu,
    resampled_difference,
    t_quantile,
    trained_difference,
    translation_scores,
)

REFERENCES = [
    "A dog runs through the deep snow.", "Two men are sitting on a bench, and talk.",
    "The girl's hat is red.", "An old man waits in front of a house.",
]  # fmt: skip
TRANSLATIONS = [
    "A dog is running through the snow.", "Two men sit on a bench and talk.",
    "the girl's hat is red", "An old man waits in front of a tree.",
]  # fmt: skip

# Words with capitals and punctuation; sentences long enough that some run of four is nearly always there.
WORDS = st.sampled_from(["A", "a", "dog", "Dog", "runs", "in", "the", "snow,", "snow.", "don't"])
SENTENCES = st.lists(WORDS, min_size=4, max_size=12).map(" ".join)


# ---- scores


def test_the_scores_are_those_of_sacrebleu():
    scores = translation_scores(TRANSLATIONS, REFERENCES)
    assert scores.bleu == round(BLEU().corpus_score(TRANSLATIONS, [REFERENCES]).score, 2)
    assert scores.bleu_lower == round(BLEU(lowercase=True).corpus_score(TRANSLATIONS, [REFERENCES]).score, 2)
    assert scores.chrf == round(CHRF().corpus_score(TRANSLATIONS, [REFERENCES]).score, 2)
    assert 0 < scores.bleu < scores.bleu_lower < 100


def test_a_perfect_translation_has_100_and_one_of_other_letters_0():
    perfect = translation_scores(REFERENCES, REFERENCES)
    assert perfect.bleu == perfect.chrf == perfect.bleu_lower == 100
    assert translation_scores(["zzz"], ["abc"]).chrf == 0


def test_lower_case_is_ignored_in_one_of_the_scores_alone():
    scores = translation_scores([line.upper() for line in REFERENCES], REFERENCES)
    assert scores.bleu_lower == 100 > scores.bleu


def test_the_signatures_name_what_is_compared_and_with_which_version():
    scores = translation_scores(TRANSLATIONS, REFERENCES)
    named = dict(part.split(":") for part in scores.bleu_signature.split("|"))
    assert named.items() >= {"nrefs": "1", "case": "mixed", "tok": "13a"}.items()
    assert "version" in named
    assert "nc:6|nw:0" in scores.chrf_signature


@pytest.mark.parametrize("score", [translation_scores, bleu_counts])
@pytest.mark.parametrize("translations, references", [([], []), (["a"], ["a", "b"])])
def test_no_translations_and_too_few_are_refused(score, translations, references):
    message = rf"must be equally many, at least one; got {len(translations)} and {len(references)}"
    with pytest.raises(ValueError, match=message):
        score(translations, references)


# ---- counts


@pytest.mark.parametrize("lower", [True, False])
@given(pairs=st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_the_counts_give_the_bleu_of_sacrebleu(lower, pairs):
    translations, references = map(list, zip(*pairs, strict=True))
    found = BLEU(lowercase=lower, smooth_method="none").corpus_score(translations, [references])
    counts = bleu_counts(translations, references, lower)
    assert counts.shape == (len(pairs), 10)
    assert bleu_from_counts(counts).item() == pytest.approx(found.score, abs=1e-6)


def test_the_columns_are_what_they_are_said_to_be():
    [row] = bleu_counts(["the cat sat on a mat"], ["the cat sat on the mat"]).tolist()
    assert row == [6, 6, 5, 3, 2, 1, 6, 5, 4, 3]


def test_case_counts_unless_it_is_to_be_ignored():
    assert bleu_counts(["The Cat"], ["the cat"]).tolist() == [[2, 2, 2, 1, 0, 0, 2, 1, 0, 0]]
    assert bleu_counts(["The Cat"], ["the cat"], lower=False).tolist() == [[2, 2, 0, 0, 0, 0, 2, 1, 0, 0]]


def test_bleu_is_0_where_no_run_of_some_length_is_right():
    assert bleu_from_counts(bleu_counts(["a b c d e"], ["a b x d e"])).item() == 0
    assert bleu_from_counts(bleu_counts([""], ["a b c d e"])).item() == 0


def test_too_short_a_translation_is_punished_and_too_long_a_one_is_not():
    row = torch.tensor([[5, 10, 5, 4, 3, 2, 5, 4, 3, 2]])
    assert bleu_from_counts(row).item() == pytest.approx(100 * torch.e ** (1 - 10 / 5))
    row[0, 1] = 4
    assert bleu_from_counts(row).item() == pytest.approx(100)


def test_many_corpora_are_scored_side_by_side():
    counts = bleu_counts(TRANSLATIONS, REFERENCES)
    rows = torch.tensor([[0, 1, 2, 3], [3, 3, 3, 3]])
    found = bleu_from_counts(counts[rows])
    assert found.tolist() == pytest.approx([bleu_from_counts(counts[row]).item() for row in rows])


# ---- intervals


def counts_of(sentences: int, seed: int, right: float) -> torch.Tensor:
    """Made-up counts of sentences of 12 tokens, of whose runs about so many are right."""
    generator = torch.Generator().manual_seed(seed)
    totals = torch.tensor([12, 11, 10, 9]).expand(sentences, 4)
    found = (totals * (right + 0.2 * torch.rand(sentences, 1, generator=generator))).long()
    return torch.cat([torch.full((sentences, 2), 12), found, totals], dim=1)


def test_the_interval_holds_the_value_and_narrows_with_more_sentences():
    few, many = (resampled_bleu(counts_of(sentences, 0, 0.5), samples=300) for sentences in (20, 500))
    for interval in (few, many):
        assert interval.low < interval.value < interval.high
    assert many.high - many.low < 0.5 * (few.high - few.low)
    assert few.value == pytest.approx(bleu_from_counts(counts_of(20, 0, 0.5)).item())


def test_a_resampled_test_has_the_bleu_of_the_sentences_that_were_drawn():
    counts, rows = counts_of(20, 0, 0.5), draws(20, 100)
    drawn = bleu_from_counts(counts[rows])  # (100,)
    assert torch.equal(bleu_of_samples(counts, samples=100), drawn)
    limits = drawn.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    assert resampled_bleu(counts, samples=100) == (bleu_from_counts(counts).item(), *limits)  # to the last bit


def test_the_interval_depends_on_the_seed_alone():
    counts = counts_of(30, 0, 0.5)
    assert resampled_bleu(counts, samples=50) == resampled_bleu(counts, samples=50)
    assert resampled_bleu(counts, samples=50) != resampled_bleu(counts, samples=50, seed=1)


def test_of_equal_systems_the_difference_is_0_in_every_sample():
    counts = counts_of(30, 0, 0.5)
    assert resampled_difference(counts, counts, samples=50) == (0.0, 0.0, 0.0)


def test_a_difference_in_each_sentence_shows_in_each_sample_though_the_scores_vary():
    worse = counts_of(40, 0, 0.3)
    better = worse.clone()
    better[:, 2:6] += 1
    interval = resampled_difference(better, worse, samples=200)
    assert 0 < interval.low < interval.value < interval.high
    assert interval.high - interval.low < resampled_bleu(worse, samples=200).high - resampled_bleu(worse).low


def test_the_difference_of_the_pair_turned_round_is_its_opposite():
    ours, theirs = counts_of(30, 0, 0.4), counts_of(30, 1, 0.5)
    there, back = resampled_difference(ours, theirs, 100), resampled_difference(theirs, ours, 100)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


def test_systems_with_other_numbers_of_sentences_cannot_be_compared():
    with pytest.raises(ValueError, match=r"both need the same sentences, got \(3, 10\) and \(4, 10\)"):
        resampled_difference(counts_of(3, 0, 0.5), counts_of(4, 0, 0.5))


@pytest.mark.parametrize("sentences, samples", [(0, 10), (5, 0)])
def test_a_test_of_no_sentences_and_no_samples_are_refused(sentences, samples):
    words = f"sentences and samples must be at least 1, got {sentences} and {samples}"
    for resample in (resampled_bleu, lambda *of: resampled_difference(of[0], *of)):
        with pytest.raises(ValueError, match=words):
            resample(torch.ones(sentences, 10), samples)


def test_trainings_that_are_alike_add_nothing_to_the_sentences():
    worse, better = (counts_of(100, 0, share) for share in (0.4, 0.6))
    drawn = draws(100, 500)
    spread = (bleu_from_counts(better[drawn]) - bleu_from_counts(worse[drawn])).std().item()
    value, low, high = trained_difference([better] * 3, [worse] * 2, samples=500)
    assert value == pytest.approx(bleu_from_counts(better).item() - bleu_from_counts(worse).item())
    assert [value - low, high - value] == pytest.approx([1.96 * spread] * 2)


def test_trainings_that_differ_widen_the_interval_by_t_times_the_error_of_their_mean():
    worse, others = [counts_of(200, 0, 0.4)] * 3, [counts_of(200, 0, share) for share in (0.4, 0.5, 0.6)]
    found = trained_difference(others, worse, samples=300)
    scores = [bleu_from_counts(of).item() for of in others]
    assert found.value == pytest.approx(mean(scores) - bleu_from_counts(worse[0]).item())
    means = torch.stack([bleu_from_counts(of[draws(200, 300)]) for of in others]).mean(dim=0)
    sentences = (means - bleu_from_counts(worse[0][draws(200, 300)])).var().item()
    half = (1.96**2 * sentences + 4.303**2 * variance(scores) / 3) ** 0.5
    assert [found.value - found.low, found.high - found.value] == pytest.approx([half] * 2)


def test_fewer_than_two_trainings_or_other_sentences_cannot_be_compared():
    three, four = counts_of(3, 0, 0.5), counts_of(4, 0, 0.5)
    for ours, theirs in (([three], [three] * 2), ([three] * 2, []), ([three, four], [three] * 2)):
        with pytest.raises(ValueError, match="two trainings, and all the same sentences"):
            trained_difference(ours, theirs)


@pytest.mark.parametrize("degrees", range(1, 10))
def test_the_t_distribution_has_95_percent_between_its_points(degrees):
    at = torch.linspace(0, t_quantile(degrees), 20_001, dtype=torch.float64)
    log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    density = math.exp(log_scale) * (1 + at**2 / degrees) ** (-(degrees + 1) / 2)
    assert 2 * torch.trapezoid(density, at).item() == pytest.approx(0.95, abs=1e-4)


def test_t_stays_at_nine_degrees_of_freedom_and_needs_one():
    assert t_quantile(9) == t_quantile(100)
    with pytest.raises(ValueError, match="at least 1"):
        t_quantile(0)


def test_bleu_is_counted_on_each_device_whether_it_has_float64_or_not(device):
    counts = bleu_counts(["a dog runs in the snow ."], ["a dog runs in the snow , too ."])
    assert bleu_from_counts(counts.to(device)).item() == bleu_from_counts(counts).item() > 0
