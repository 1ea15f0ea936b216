"""Kneser–Ney: the numbers by hand, a row always sums to one, and word by word equals all at once."""

from collections import Counter

import pytest
import torch

from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding import sample
from attnbook.models.ngram import KneserNey, count_groups, estimate_discount
from attnbook.training import load_checkpoint, save_checkpoint

A, B_, C, V = 3, 4, 5, 6
SENTENCES = [[A, B_], [A, B_], [A, C], [C, B_]]


def slow(sentences, context, word, order, discount):
    """The formula of Chen and Goodman for one word, with sums over all groups."""
    if order == 0:
        return 1 / V
    grams = count_groups(sentences, 3)
    for _ in range(3 - order):
        grams = Counter(gram[1:] for gram in grams)
    followers = {gram[-1]: count for gram, count in grams.items() if gram[:-1] == context}
    lower = slow(sentences, context[1:], word, order - 1, discount)
    if not followers:
        return lower
    total = sum(followers.values())
    return max(followers.get(word, 0) - discount, 0) / total + discount * len(followers) / total * lower


@pytest.fixture
def corpus():
    """Some hundred sentences of words by chance."""
    source = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 6, (80,), generator=source).tolist()
    return [torch.randint(3, V, (length,), generator=source).tolist() for length in lengths]


def test_a_bigram_by_hand():
    model = KneserNey(SENTENCES, V, order=2, discount=0.5)
    # Seven different pairs end in: A 1, B 2 (after A, C), C 2 (after BOS, A), EOS 2 (after B, C).
    alone = {A: 0.5 / 7, B_: 1.5 / 7, C: 1.5 / 7, EOS: 1.5 / 7}
    rest = 0.5 * 4 / 7 / V
    for word in range(V):
        assert model.probabilities(())[word].item() == pytest.approx(alone.get(word, 0) + rest)
    # After A stand B twice and C once: p(B | A) = 1.5/3 + 0.5 · 2/3 · p(B).
    assert model.probabilities((A,))[B_].item() == pytest.approx(1.5 / 3 + (0.5 * 2 / 3) * (1.5 / 7 + rest))
    assert model.probabilities((A,))[EOS].item() == pytest.approx((0.5 * 2 / 3) * (1.5 / 7 + rest))


def test_every_row_equals_the_formula_and_sums_to_one(corpus):
    model = KneserNey(corpus, V, discount=0.7)
    for context in [(BOS, BOS), (BOS, A), (A, B_), (C, C), (EOS, A), (BOS,), (B_,), ()]:
        row = model.probabilities(context)
        wanted = [slow(corpus, context, word, len(context) + 1, 0.7) for word in range(V)]
        torch.testing.assert_close(row, torch.tensor(wanted))
        assert row.sum().item() == pytest.approx(1, abs=1e-6)
        assert (row > 0).all()


def test_word_by_word_equals_all_at_once(corpus):
    model = KneserNey(corpus, V)
    words = torch.tensor([[BOS, A, B_, C], [BOS, C, C, A]])
    logits, weights = model(words)
    assert weights is None
    torch.testing.assert_close(logits[0, 2], model.probabilities((A, B_)).log())
    torch.testing.assert_close(logits[1, 0], model.probabilities((BOS, BOS)).log())
    torch.testing.assert_close(logits.exp().sum(dim=-1), torch.ones(2, 4))
    _, state, _ = model.step(words[:, 0])
    for t in range(1, 4):
        stepped, state, _ = model.step(words[:, t], state)
        torch.testing.assert_close(stepped, logits[:, t])
    torch.testing.assert_close(model.select(state, torch.tensor([1, 1])), state[[1, 1]])


def test_it_writes_sentences_like_those_that_it_has_counted():
    model = KneserNey([[A, B_, C]] * 50, V, discount=1e-6)
    prompt = torch.full((4, 1), BOS)
    written = sample(model, max_length=5, prompt=prompt, generator=torch.Generator().manual_seed(0))
    assert written.tokens.tolist() == [[A, B_, C, EOS]] * 4


def test_a_trigram_predicts_better_than_a_bigram_where_two_words_decide():
    held_out = torch.tensor([[BOS, A, C, A]])
    sentences = [[A, C, A], [B_, C, B_]] * 20
    third = [KneserNey(sentences, V, order=order)(held_out)[0][0, 2].exp()[A].item() for order in (1, 2, 3)]
    assert third[2] > 0.9 > 0.6 > third[1] > third[0]


def test_the_discount_is_estimated_from_the_counts_of_one_and_two():
    assert estimate_discount([1, 1, 1, 2, 5]) == pytest.approx(3 / 5)
    assert estimate_discount([2, 3]) == 0.5


def test_counts_are_counted_and_the_rows_kept_are_not_spoilt(corpus):
    model = KneserNey(SENTENCES, V, order=2)
    assert model.counts() == 7 + 4
    kept = model.probabilities(()).clone()
    model.probabilities((A,))
    torch.testing.assert_close(model.probabilities(()), kept)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"order": 0}, "order must be at least 1, got 0"),
        ({"discount": 0.0}, r"discount must be above 0 and at most 1, got 0\.0"),
        ({"sentences": []}, "sentences is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        KneserNey(**{"sentences": SENTENCES, "vocabulary_size": V, **change})


def test_words_must_be_a_batch():
    with pytest.raises(ValueError, match=r"words must have shape \(B, T\)"):
        KneserNey(SENTENCES, V)(torch.tensor([A, B_]))


def test_its_state_holds_the_counts_so_that_a_stored_model_predicts_the_same(corpus, tmp_path):
    model, other = KneserNey(corpus, V), KneserNey(SENTENCES, V, discount=0.4)
    words = torch.tensor([[A, C, B_, B_], [B_, B_, C, A]])
    assert not torch.equal(other(words)[0], model(words)[0])  # and rows of short contexts are kept from now on
    save_checkpoint(tmp_path / "counts.pt", model=torch.nn.Sequential(model).state_dict())
    torch.nn.Sequential(other).load_state_dict(load_checkpoint(tmp_path / "counts.pt")["model"])
    assert torch.equal(other(words)[0], model(words)[0])
    assert (other.counts(), other.discounts) == (model.counts(), model.discounts)


def test_a_state_stored_before_the_counts_were_in_it_can_still_be_read_and_changes_nothing():
    model, words = KneserNey(SENTENCES, V), torch.tensor([[A, B_]])
    before = model(words)[0]
    assert model.load_state_dict({}).missing_keys == []
    assert torch.equal(model(words)[0], before)


@pytest.mark.parametrize(
    "other, message",
    [((V, 2), "order 2, and this one has 3"), ((V + 1, 3), f"vocabulary_size {V + 1}, and this one has {V}")],
)
def test_the_state_of_a_model_of_another_size_is_refused(other, message):
    with pytest.raises(ValueError, match=f"the state is of a model with {message}"):
        KneserNey(SENTENCES, V).load_state_dict(KneserNey(SENTENCES, *other).state_dict())


def test_a_model_that_was_without_memory_takes_all_of_a_stored_one(corpus):
    model = KneserNey(corpus, V)
    with torch.device("meta"):
        empty = KneserNey(corpus, V)
    empty.to_empty(device="cpu").load_state_dict(model.state_dict())
    torch.testing.assert_close(empty.probabilities(()), model.probabilities(()), rtol=0, atol=0)


def test_probabilities_have_the_precision_of_the_module(corpus):
    model = KneserNey(corpus, V)
    single, double = model.probabilities((A,)), model.double().probabilities((A,))
    assert (single.dtype, double.dtype) == (torch.float32, torch.float64)
    assert abs(double.sum().item() - 1) < 1e-15
    torch.testing.assert_close(single.double(), double, rtol=1e-6, atol=0)
