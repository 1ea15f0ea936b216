"""Streams with questions: every answer stands where the stream says it does."""

import pytest
import torch

from attnbook.data.symbols.streams import lagged_copy, recall_question, recall_stream

STREAMS = {
    "copy": lambda seed: lagged_copy(5, 12, 4, seed),
    "recall": lambda seed: recall_stream(20, 4, seed, keys=5, values=3),
    "question": lambda seed: recall_question(6, 2, 4, seed),
}
streams = pytest.mark.parametrize("name", STREAMS)


@streams
def test_every_answer_stands_as_many_words_back_as_its_age_says(name):
    words, target, asked, age = STREAMS[name](0)
    assert words.shape == target.shape == asked.shape == age.shape
    for b, t in asked.nonzero().tolist():
        assert words[b, t - age[b, t]] == target[b, t]


@streams
def test_a_stream_is_the_same_for_the_same_seed(name):
    assert all(torch.equal(one, other) for one, other in zip(STREAMS[name](1), STREAMS[name](1).to("cpu"), strict=True))
    assert not torch.equal(STREAMS[name](1).words, STREAMS[name](2).words)


def test_a_copy_is_asked_for_from_the_lag_on():
    assert lagged_copy(5, 12, 4).asked.sum(dim=1).tolist() == [7] * 4


def test_a_key_is_asked_about_when_it_came_before_and_its_last_value_counts():
    words, _, asked, age = recall_stream(20, 4, keys=5, values=3)
    for b in range(4):
        for t in range(0, 40, 2):
            earlier = [p for p in range(0, t, 2) if words[b, p] == words[b, t]]
            assert asked[b, t] == bool(earlier)
            if earlier:
                assert age[b, t] == t - earlier[-1] - 1
    assert not asked[:, 1::2].any()
    assert words[:, ::2].max() < 5 <= words[:, 1::2].min()


def test_a_question_comes_last_and_no_key_came_twice():
    words, _, asked, _ = recall_question(6, 2, 4)
    assert asked.nonzero()[:, 1].tolist() == [12] * 4
    assert all(len(set(row)) == 6 for row in words[:, :12:2].tolist())
    assert torch.equal(words[:, 12], words[:, 4])


def test_what_cannot_be_drawn_is_refused():
    for lag in (0, 12):
        with pytest.raises(ValueError, match=f"lag must lie between 1 and length - 1 = 11, got {lag}"):
            lagged_copy(lag, 12, 1)
    with pytest.raises(ValueError, match="count and symbols must be at least 1, got 0 and 8"):
        lagged_copy(2, 12, 0)
    with pytest.raises(ValueError, match="pairs must be at least 1, got 0"):
        recall_stream(0, 1)
    with pytest.raises(ValueError, match="pairs must not be more than there are keys, 4"):
        recall_question(5, 0, 1, keys=4)
    with pytest.raises(ValueError, match="position must lie between 0 and pairs - 1 = 4, got 5"):
        recall_question(5, 5, 1)
