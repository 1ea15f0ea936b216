"""Results of several parts, lists and arguments joined, cut and reshaped."""

import pytest
import torch
from diagnosed import scored

from attnlabs import Exercise
from misread.judge import judge


def halves(parts):
    return [part / 2 for part in parts]


def test_a_list_of_results_may_be_longer_on_another_input():
    """Then its parts have no common names, and nothing is said about one of them."""
    exercise = Exercise(halves, lambda draw: [([draw.normal(2)],), ([draw.normal(3), draw.normal(2)],)], [])
    verdict = judge(exercise, lambda parts: [parts[0] / 2, *(part.square() for part in parts[1:])])
    assert not verdict.passed


def both_ways(x, lengths):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    return torch.cat([x.cumsum(1), x.exp()], -1) * real[..., None]


def sentences(draw):
    batch, length, dim = draw.sizes(3)
    yield draw.normal(batch, length, dim), draw.lengths(batch, length)


BOTH_WAYS = Exercise(both_ways, sentences, [])


def last_doubled(x, lengths):
    return both_ways(x, lengths) * (1 + (torch.arange(x.shape[1]) == lengths[:, None] - 1))[..., None]


def each_third_cleared(x, lengths):
    result = both_ways(x, lengths)
    return result * (torch.arange(result.numel()) % 3 > 0).view(result.shape)


@pytest.mark.parametrize(
    "kind, answer",
    [
        ("halves joined otherwise", lambda x, lengths: both_ways(x, lengths).roll(x.shape[2], 2)),
        ("halves joined otherwise", lambda x, lengths: sum(both_ways(x, lengths).tensor_split(2, 2))),
        ("halves joined otherwise", lambda x, lengths: torch.cat(both_ways(x, lengths).tensor_split(2, 2), 1)),
        ("wrong only in the second half of axis 2", lambda x, n: both_ways(x, n) * torch.cat([x * 0 + 1, x], -1)),
        ("wrong only at the last real position of each row", last_doubled),
        ("entries in other positions", lambda x, lengths: both_ways(x, lengths)[lengths.argsort()]),
        ("entries missing", lambda x, lengths: both_ways(x, lengths)[::2]),
        ("too many entries", lambda x, lengths: both_ways(x, lengths)[[*range(len(x)), 0, 1]]),
        ("0 where a number is wanted", each_third_cleared),
        ("divided by the length", lambda x, n: both_ways(x, n) / both_ways(x, n).norm(dim=1, keepdim=True)),
    ],
)
def test_what_is_laid_side_by_side_and_in_rows_is_looked_at_in_parts(kind, answer):
    verdict = judge(BOTH_WAYS, answer)
    assert verdict.kind == kind, verdict.message


def to_score(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim), draw.normal(batch, keys, dim)


@pytest.mark.parametrize(
    "answer, about, word",
    [
        (lambda q, k, v: scored(q / q.shape[1] ** 0.5, k, v), ("query", "1", "query"), "divided by √n"),
        (lambda q, k, v: scored(q, k, v + k), ("value", "key"), "sum"),
        (lambda q, k, v: scored(q, k, k), ("value", "key"), "by `key`"),
        (lambda q, k, v: scored(q, k, torch.cat([v[:, 1:], v[:, -1:]], 1)), ("value", "1"), "last entry kept"),
    ],
)
def test_an_argument_joined_with_another_or_scaled_by_a_size_is_told(answer, about, word):
    verdict = judge(Exercise(scored, to_score, []), answer)
    assert (verdict.kind, verdict.about) == (f"as if {about[0]} were changed", about), verdict.message
    assert word in " ".join(verdict.message.split())


def test_two_axes_cut_with_each_others_sizes_are_told():
    def grid(x, height):
        return x.mT.unflatten(-1, (height, -1))

    exercise = Exercise(grid, lambda draw: [(draw.normal(2, 6, 3), 2), (draw.normal(3, 12, 2), 3)], [])
    verdict = judge(exercise, lambda x, height: x.mT.unflatten(-1, (-1, height)).mT)
    assert verdict.kind == "axes cut in the wrong order", verdict.message


def test_an_argument_that_was_reshaped_is_recognised():
    def rows(x):
        return x.flatten(2).mT

    exercise = Exercise(rows, lambda draw: [(draw.normal(*draw.sizes(4)),)], [])
    verdict = judge(exercise, lambda x: x.permute(0, 2, 1, 3).reshape(len(x), -1, x.shape[1]))
    assert (verdict.kind, verdict.about[:5]) == ("an argument reshaped", ("x", "0", "2", "1", "3"))


def shared(parts, words):
    return [
        sum(n / sum(words) * part for n, part in zip(words, of_one, strict=True)) for of_one in zip(*parts, strict=True)
    ]


def workers(draw):
    one, two = draw.sizes(2)
    for words in ([2, 6], [5, 2, 3]):
        yield [[draw.normal(one, 3), draw.normal(two)] for _ in words], words


SHARED = Exercise(shared, workers, [], gradients=False)


@pytest.mark.parametrize(
    "kind, answer, about, word",
    [
        (
            "other weights",
            lambda parts, words: shared(parts, [1] * len(words)),
            ("parts", "words", "2", "6", "0.5", "0.5", "0.25", "0.75"),
            "right",
        ),
        (
            "off by a factor",
            lambda parts, words: [sum(words) * x for x in shared(parts, words)],
            ("result 0", "words"),
            "sum",
        ),
        ("as if parts were changed", lambda parts, words: shared(parts, words[::-1]), ("parts",), "reverse"),
        ("another number of entries", lambda parts, words: [x[0] for x in parts], ("parts", "parts[0]"), "length"),
    ],
)
def test_lists_are_looked_at_entry_by_entry(kind, answer, about, word):
    verdict = judge(SHARED, answer)
    assert (verdict.kind, verdict.about) == (kind, about), verdict.message
    assert word in verdict.message


def test_an_entry_without_effect_and_a_number_that_is_missing_are_told():
    def loss(x):
        return x.sin().sum((1, 2)).square().mean()

    exercise = Exercise(loss, lambda draw: [(draw.normal(*draw.sizes(3)),)], [])
    assert judge(exercise, lambda x: loss(x[:, 1:])).kind == "the first entry has no effect"
    assert judge(exercise, lambda x: x.sin().sum((1, 2)).square()).kind == "one number is wanted"


def test_numbers_under_other_keys_are_not_compared():
    def count(word):
        return {word: len(word)}

    exercise = Exercise(count, lambda draw: [("ab",), ("cde",), ("fghi",), ("jklmn",)], [], gradients=False)
    assert judge(exercise, lambda word: {word[::-1]: len(word)}).kind == "values"
