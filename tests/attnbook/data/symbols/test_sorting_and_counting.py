"""The tasks of sorting and counting: what is said, what is wanted, and the best that anyone can answer."""

import itertools

import pytest
import torch

from attnbook.data import best_ngram_guess, dynamic_ngram_batch, priority_sort_batch


def test_the_vectors_of_the_highest_priorities_are_wanted_highest_first():
    inputs, target, mask = priority_sort_batch(5, 3, seed=1, wanted=3, bits=4)
    assert inputs.shape == (3, 5 + 1 + 3, 6)
    for row in range(3):
        priorities = inputs[row, :5, 4].tolist()
        order = sorted(range(5), key=lambda i: -priorities[i])[:3]
        assert torch.equal(target[row, 6:], inputs[row, order, :4])
        assert all(-1 <= priority <= 1 for priority in priorities)
    assert mask[0].tolist() == [False] * 6 + [True] * 3


def test_one_delimiter_follows_the_last_vector_and_then_nothing_is_said():
    inputs, _, _ = priority_sort_batch(20, 2)
    assert inputs.shape == (2, 37, 10)
    assert inputs[..., 9].nonzero()[:, 1].tolist() == [20, 20]
    assert not inputs[:, 20, :9].any()
    assert not inputs[:, 21:].any()


@pytest.mark.parametrize(
    "make", [lambda seed: priority_sort_batch(4, 2, seed), lambda seed: dynamic_ngram_batch(2, seed)]
)
def test_the_same_sequences_come_for_the_same_seed(make):
    assert all(torch.equal(one, other) for one, other in zip(make(3), make(3), strict=True))
    assert not torch.equal(make(3).inputs, make(4).inputs)


def test_each_bit_is_the_target_of_the_one_before_and_those_after_a_whole_context_are_asked():
    inputs, target, mask = dynamic_ngram_batch(3, seed=0, length=50, order=4)
    assert inputs.shape == target.shape == (3, 49, 1)
    assert torch.equal(inputs[:, 1:], target[:, :-1])
    assert mask[0].tolist() == [False] * 2 + [True] * 47  # bit 3 is the first that follows three bits
    assert set(inputs.unique().tolist()) == {0.0, 1.0}


def test_after_a_context_a_sequence_keeps_to_its_table():
    bits = dynamic_ngram_batch(200, seed=1, length=400, order=2).target[..., 0]
    after_one = [row[1:][row[:-1] == 1].mean().item() for row in bits]  # how often 1 follows 1, by sequence
    near_ends = sum(share < 0.1 or share > 0.9 for share in after_one) / len(after_one)
    assert 0.3 < near_ends < 0.52  # of Beta(1/2, 1/2) 41 % lie there, of a uniform distribution 20 %


def slow_guess(bits, order):
    """Equation 10 for one sequence of numbers, counting from the beginning each time."""
    guesses = []
    for t in range(1, len(bits)):
        context = bits[t - order + 1 : t]
        after = [bits[i] for i in range(order - 1, t) if bits[i - order + 1 : i] == context]
        guesses.append((sum(after) + 0.5) / (len(after) + 1) if t >= order - 1 else 0.5)
    return guesses


def test_the_best_guess_is_equation_10():
    batch = dynamic_ngram_batch(3, seed=2, length=60, order=4)
    bits = torch.cat([batch.inputs[:, :1, 0], batch.target[..., 0]], dim=1).long().tolist()
    wanted = torch.tensor([slow_guess(row, 4) for row in bits])
    torch.testing.assert_close(best_ngram_guess(batch, 4)[..., 0], wanted)


def test_nobody_guesses_better_than_the_best_guess():
    batch = dynamic_ngram_batch(200, seed=3)
    best, target = best_ngram_guess(batch)[batch.mask], batch.target[batch.mask]

    def cost(guess):
        return torch.nn.functional.binary_cross_entropy(guess.clamp(1e-6, 1 - 1e-6), target).item()

    for weight, towards in itertools.product((0.05, 0.2), (0.5, best.round())):
        assert cost(best) < cost((1 - weight) * best + weight * towards)
    assert cost(best) < 0.6 < cost(torch.full_like(best, 0.5))


@pytest.mark.parametrize("changes", [{"length": 0}, {"count": 0}, {"bits": 0}])
def test_sorting_needs_at_least_one_of_each(changes):
    with pytest.raises(ValueError, match="length, count and bits must be at least 1"):
        priority_sort_batch(**{"length": 5, "count": 1, **changes})


@pytest.mark.parametrize("wanted", [0, 6])
def test_no_more_vectors_are_wanted_than_there_are(wanted):
    with pytest.raises(ValueError, match=f"wanted must be from 1 to length, 5, got {wanted}"):
        priority_sort_batch(5, 1, wanted=wanted)


@pytest.mark.parametrize("changes", [{"count": 0}, {"order": 1}, {"length": 6}])
def test_a_sequence_is_longer_than_its_ngrams(changes):
    with pytest.raises(ValueError, match="want count ≥ 1 and 2 ≤ order < length"):
        dynamic_ngram_batch(**{"count": 1, **changes})
