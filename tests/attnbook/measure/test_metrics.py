import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.measure.metrics import (
    alignment_error_rate,
    alignment_from_weights,
    bleu,
    error_rates,
    exact_match,
    exact_match_by_length,
    link_counts,
    pointing_accuracy,
)

ZWEI_UND_VIERZIG = {(1, 0), (0, 2)}  # forty two: "two" goes first in German
links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def test_exact_match_counts_only_sentences_without_a_mistake():
    predictions = [["ein", "hundert"], ["zwei"], ["drei", "zehn"], []]
    targets = [["ein", "hundert"], ["zwei", "zehn"], ["zehn", "drei"], []]
    assert exact_match(predictions, targets) == 0.5


def test_exact_match_takes_lists_and_tuples_of_words_or_numbers():
    assert exact_match([("a", "b")], [["a", "b"]]) == 1.0
    assert exact_match(torch.tensor([[3, 4], [5, 6]]).tolist(), [[3, 4], [5, 7]]) == 0.5


def test_exact_match_by_length_sorts_and_averages_within_a_length():
    predictions = [["a"], ["b"], ["c"], ["d"]]
    by_length = exact_match_by_length(predictions, [["a"], ["x"], ["c"], ["y"]], [12, 3, 3, 7])
    assert by_length == {3: 0.5, 7: 0.0, 12: 1.0}
    assert list(by_length) == [3, 7, 12]


def test_exact_match_by_length_takes_lengths_from_a_tensor_and_gives_plain_numbers():
    by_length = exact_match_by_length([["a"], ["b"]], [["a"], ["b"]], torch.tensor([2, 2]))
    assert by_length == {2: 1.0}
    assert all(type(length) is int for length in by_length)


@pytest.mark.parametrize("metric", [exact_match, bleu])
def test_no_sentences_are_refused(metric):
    with pytest.raises(ValueError, match="predictions is empty"):
        metric([], [])
    with pytest.raises(ValueError, match="predictions is empty"):
        exact_match_by_length([], [], [])


@pytest.mark.parametrize("metric", [exact_match, bleu])
def test_predictions_and_targets_must_go_in_pairs(metric):
    with pytest.raises(ValueError, match=r"predictions has 2 sentences but (targets|references) has 1"):
        metric([["a"], ["b"]], [["a"]])


@pytest.mark.parametrize("metric", [exact_match, bleu])
def test_a_sentence_must_be_a_list_of_tokens(metric):
    with pytest.raises(TypeError, match=r"predictions\[0\] must be a list of tokens, got a str; use .split\(\)"):
        metric(["ein hundert"], [["ein", "hundert"]])
    with pytest.raises(TypeError, match=r"a Tensor; use .tolist\(\)"):
        metric(torch.zeros(1, 2), [[0, 0]])


def test_there_is_one_source_length_a_sentence():
    with pytest.raises(ValueError, match="source_lengths has 1 entries but there are 2 predictions"):
        exact_match_by_length([["a"], ["b"]], [["a"], ["b"]], [1])


def test_a_source_length_is_a_whole_number_and_not_negative():
    with pytest.raises(TypeError, match=r"whole numbers, got 1\.5"):
        exact_match_by_length([["a"]], [["a"]], [1.5])
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        exact_match_by_length([["a"]], [["a"]], [-1])


def test_alignment_error_rate_by_hand():
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)}
    predicted = {(0, 0), (1, 2), (2, 2)}  # one sure, one more possible, one wrong
    assert alignment_error_rate(sure, possible, predicted) == pytest.approx(1 - (1 + 2) / (3 + 2))


def test_a_possible_link_costs_nothing_whether_there_or_not():
    sure, possible = ZWEI_UND_VIERZIG, ZWEI_UND_VIERZIG | {(0, 1), (1, 1)}
    assert alignment_error_rate(sure, possible, sure) == 0.0
    assert alignment_error_rate(sure, possible, possible) == 0.0


def test_missing_all_links_or_sharing_none_gives_one():
    assert alignment_error_rate(ZWEI_UND_VIERZIG, ZWEI_UND_VIERZIG, set()) == 1.0
    assert alignment_error_rate(ZWEI_UND_VIERZIG, ZWEI_UND_VIERZIG, {(0, 0), (1, 2)}) == 1.0


@given(links, links, links)
def test_alignment_error_rate_lies_between_0_and_1(sure, possible, predicted):
    if sure or predicted:
        assert 0 <= alignment_error_rate(sure, sure | possible, predicted) <= 1


def test_links_of_many_sentences_are_pooled_not_averaged():
    short = {(0, 0, 0)}
    long = {(1, i, i) for i in range(9)}
    assert alignment_error_rate(short | long, short | long, long) == pytest.approx(1 - 18 / 19)


def test_what_is_counted_is_added_over_the_sentences_before_it_is_divided():
    counts = torch.tensor([[[2, 2], [1, 6]], [[0, 2], [1, 2]]])  # (methods, N, 2)
    assert error_rates(counts).tolist() == pytest.approx([1 - 3 / 8, 1 - 1 / 4])


def test_a_sure_link_counts_twice_where_it_is_found():
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)}
    assert link_counts(sure, possible, {(0, 0), (1, 2), (2, 2)}) == (3, 5)
    assert link_counts(set(), set(), set()) == (0, 0)


def test_alignment_error_rate_does_not_change_its_arguments():
    sure, possible, predicted = {(0, 0)}, {(0, 0), (1, 0)}, {(1, 0)}
    alignment_error_rate(sure, possible, predicted)
    assert (sure, possible, predicted) == ({(0, 0)}, {(0, 0), (1, 0)}, {(1, 0)})


def test_possible_must_include_sure():
    with pytest.raises(ValueError, match=r"possible leaves out the sure link \(1, 0\)"):
        alignment_error_rate({(1, 0)}, set(), {(1, 0)})


def test_no_link_at_all_has_no_error_rate():
    with pytest.raises(ValueError, match="sure and predicted are both empty"):
        alignment_error_rate(set(), {(0, 0)}, set())


@pytest.mark.parametrize("wrong", [{0, 1}, {(0,)}, {(0, 1, 2, 3)}, {"ab"}])
def test_a_link_is_a_pair_of_positions(wrong):
    with pytest.raises(TypeError, match="predicted must hold links"):
        alignment_error_rate({(0, 0)}, {(0, 0)}, wrong)


def test_a_position_is_a_whole_number_and_not_negative():
    with pytest.raises(TypeError, match=r"predicted must hold whole numbers, got 0\.5"):
        alignment_error_rate({(0, 0)}, {(0, 0)}, {(0.5, 0)})
    with pytest.raises(ValueError, match="predicted must not be negative, got -1"):
        alignment_error_rate({(0, 0)}, {(0, 0)}, {(-1, 0)})


def test_each_target_word_links_to_the_place_it_attends_to_most(device, dtype):
    weights = torch.tensor([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2]], dtype=dtype, device=device, requires_grad=True)
    assert alignment_from_weights(weights) == {(1, 0), (0, 1), (0, 2)}


def test_a_row_that_attends_to_nothing_gives_no_link():
    assert alignment_from_weights(torch.tensor([[0.0, 0.0], [0.0, 1.0]])) == {(1, 1)}


def test_positions_are_plain_whole_numbers():
    assert all(type(place) is int for link in alignment_from_weights(torch.eye(3)) for place in link)


def test_weights_may_come_as_an_array():
    assert alignment_from_weights(np.eye(2)) == {(0, 0), (1, 1)}


def test_weights_are_those_of_one_sentence():
    with pytest.raises(ValueError, match=r"2 axes \(T, Tk\), got shape \(1, 2, 2\)"):
        alignment_from_weights(torch.ones(1, 2, 2))
    with pytest.raises(ValueError, match="no source words"):
        alignment_from_weights(torch.ones(2, 0))


@pytest.mark.parametrize("bad", [-0.1, float("nan")])
def test_scores_are_not_taken_for_weights(bad):
    with pytest.raises(ValueError, match="NaN or negative"):
        alignment_from_weights(torch.tensor([[1.0, bad]]))


def test_a_perfect_translation_has_bleu_100_and_a_strange_one_0():
    sentence = ["zwei", "und", "vierzig", ",", "drei"]
    assert bleu([sentence], [sentence]) == 100.0
    assert bleu([["a", "b", "c", "d", "e"]], [sentence]) == 0.0


def test_bleu_by_hand_with_the_brevity_penalty():
    # every run of the prediction is right, but it is one word short: e^(1 − 6/5)
    reference = ["a", "b", "c", "d", "e", "f"]
    assert bleu([reference[:5]], [reference]) == pytest.approx(100 * np.exp(-0.2))


def test_bleu_takes_tokens_as_they_are():
    assert bleu([["a b", "c", "d", " "]], [["a b", "c", "d", " "]]) == 100.0
    assert bleu([[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]]) == 100.0
    assert bleu([["A", "b", "c", "d"]], [["a", "b", "c", "d"]]) < 100.0


def test_an_empty_prediction_is_only_wrong():
    sentence = ["zwei", "und", "vierzig", ",", "drei"]
    assert 0 < bleu([sentence, []], [sentence, sentence]) < 100


def test_bleu_refuses_a_corpus_too_short_for_it():
    with pytest.raises(ValueError, match="at most 3 tokens; BLEU needs"):
        bleu([["a", "b", "c"]], [["a", "b", "c"]])


# ---- pointing


def test_pointing_counts_words_that_name_something():
    weights = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]])
    inside = torch.tensor([[[True, True, False], [False, False, True], [False, False, False]]])
    assert pointing_accuracy(weights, inside) == 0.5


def test_pointing_needs_words_that_name_something_and_equal_shapes():
    with pytest.raises(ValueError, match="inside is False throughout"):
        pointing_accuracy(torch.ones(1, 2, 3), torch.zeros(1, 2, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match="inside must have the shape of weights"):
        pointing_accuracy(torch.ones(1, 2, 3), torch.ones(1, 2, 4, dtype=torch.bool))


def test_sentences_that_have_no_link_together_have_no_error_rate():
    with pytest.raises(ValueError, match="counts has no link in all its sentences together"):
        error_rates(torch.tensor([[[1, 2], [0, 0]], [[0, 0], [0, 0]]]))


def test_shares_are_counted_on_each_device_whether_it_has_float64_or_not(device):
    weights = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(0))
    inside = weights > 0.6
    assert pointing_accuracy(weights.to(device), inside.to(device)) == pointing_accuracy(weights, inside)
    counts = torch.tensor([[1, 2], [5, 6]])
    assert error_rates(counts.to(device)).item() == error_rates(counts).item() == 0.25
