"""The probabilities to draw from: sharpened, then the tail cut off, then made to sum to one again."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.decoding.sampling import sampling_probabilities

WORDS = 7


def slow_nucleus(probabilities: list[float], p: float) -> list[float]:
    """Take the likeliest word, and the next, until they hold p; then make them sum to one."""
    kept, total = {}, 0.0
    for word in sorted(range(len(probabilities)), key=lambda word: -probabilities[word]):
        if total < p:
            kept[word] = probabilities[word]
            total += probabilities[word]
    return [kept.get(word, 0.0) / total for word in range(len(probabilities))]


@pytest.mark.parametrize("top_p", [0.01, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_nucleus_equals_a_loop_from_the_likeliest_word_down(draw, close, top_p, temperature):
    logits = draw(20, WORDS)
    got = sampling_probabilities(logits, temperature, top_p=top_p)
    rows = (logits / temperature).softmax(dim=-1).tolist()
    close(got, logits.new_tensor([slow_nucleus(row, top_p) for row in rows]))


@given(st.integers(0, 999), st.integers(1, WORDS), st.floats(0.05, 0.95), st.floats(0.1, 5))
def test_what_is_kept_are_the_likeliest_words_in_their_old_proportions(seed, top_k, top_p, temperature):
    logits = torch.randn(3, WORDS, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    got = sampling_probabilities(logits, temperature, top_k, top_p)
    whole = (logits / temperature).softmax(dim=-1)
    for row, all_words in zip(got, whole, strict=True):
        kept = row > 0
        assert 1 <= kept.sum() <= top_k
        assert row.sum().item() == pytest.approx(1)
        assert all_words[kept].min() >= all_words[~kept].max() if (~kept).any() else True
        torch.testing.assert_close(row[kept], all_words[kept] / all_words[kept].sum())


def test_without_a_cut_the_probabilities_are_the_softmax(draw, close):
    logits = draw(4, WORDS)
    for options in ({}, {"top_k": WORDS}, {"top_p": 1.0}):
        close(sampling_probabilities(logits, **options), logits.softmax(dim=-1))


def test_a_low_temperature_leaves_the_best_word_and_a_high_one_makes_all_alike(draw, device, close):
    logits = draw(4, WORDS)
    best = torch.nn.functional.one_hot(logits.argmax(dim=-1), WORDS).to(logits)
    close(sampling_probabilities(logits, temperature=1e-4), best)
    close(sampling_probabilities(logits, top_k=1), best)
    close(sampling_probabilities(logits, top_p=1e-6), best)
    close(sampling_probabilities(logits, temperature=1e12), torch.full_like(logits, 1 / WORDS))


def test_words_as_good_as_the_kth_stay():
    got = sampling_probabilities(torch.tensor([[2.0, 1.0, 1.0, 0.0]]), top_k=2)
    assert got.gt(0).tolist() == [[True, True, True, False]]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"temperature": 0.0}, r"temperature must be above 0, got 0\.0; for 0 use greedy"),
        ({"temperature": -1.0}, r"temperature must be above 0, got -1\.0"),
        ({"top_k": 0}, r"top_k must lie in 1\.\.7, the words there are; got 0"),
        ({"top_k": 8}, r"top_k must lie in 1\.\.7, the words there are; got 8"),
        ({"top_p": 0.0}, r"top_p must be above 0 and at most 1, got 0\.0"),
        ({"top_p": 1.5}, r"top_p must be above 0 and at most 1, got 1\.5"),
    ],
)
def test_a_way_to_sample_that_has_no_meaning_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sampling_probabilities(torch.zeros(1, WORDS), **options)


@pytest.mark.parametrize("temperature", [1e-3, 1e-38, 1e-320])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_temperature_near_0_gives_the_likeliest_word_everything(dtype, temperature, device, request):
    if dtype == torch.float64:
        request.getfixturevalue("float64")  # skips where the device has none
    logits = torch.tensor([[10.0, 100.0, 99.0], [2.0, 2.0, float("-inf")]], dtype=dtype, device=device)
    got = sampling_probabilities(logits, temperature)
    assert got.dtype == dtype
    assert got.tolist() == [[0, 1, 0], [0.5, 0.5, 0]]
    assert sampling_probabilities(logits, temperature, top_k=1, top_p=0.4).tolist()[0] == [0, 1, 0]


def test_at_temperature_1_the_probabilities_are_those_of_the_softmax_to_the_bit(draw):
    logits = 5 * draw(50, WORDS)
    assert torch.equal(sampling_probabilities(logits), logits.softmax(dim=-1))
    assert torch.equal(sampling_probabilities(logits, 0.5), (logits / 0.5).softmax(dim=-1))
