"""Chapter 1's file with a reading of c for each number: the same vector, and what the decoder receives of it."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import own_readings
from attnruns.shared.chapter_file import run_file
from attnruns.shared.runner import Job


def names_of(model):
    return run_file(own_readings.code(model, 0, 1))[0]


def test_the_file_reads_as_before_when_all_words_are_read_again():
    names = names_of("same")
    source, lengths, target = names["batch_of"]([[7, 8], [9, 342]])
    words = names["shift_right"](target)
    with torch.no_grad():
        c, state, one_by_one = names["encoder"](source, lengths), None, []
        for word in words.split(1, dim=1):
            logits, state = names["decoder"](word, c, state)
            one_by_one.append(logits)
        assert torch.allclose(torch.cat(one_by_one, dim=1), names["decoder"](words, c)[0], atol=1e-5)


def received(names, lists):
    """What the decoder's GRU receives beside the words: (B, T, D), and the vector c"""
    source, lengths, target = names["batch_of"](lists)
    inputs = []
    hook = names["decoder"].rnn.register_forward_pre_hook(lambda _rnn, given: inputs.append(given[0]))
    with torch.no_grad():
        c = names["encoder"](source, lengths)
        names["decoder"](names["shift_right"](target), c)
    hook.remove()
    return inputs[0][..., 32:], c


def test_by_number_the_vector_changes_with_the_commas_only():
    # read: <bos> sieben , acht
    shown, c = received(names_of("by_number"), [[7, 8]])
    assert c.shape == (1, 64)
    assert torch.equal(shown[0, 0], shown[0, 1])
    assert torch.equal(shown[0, 2], shown[0, 3])
    assert not torch.equal(shown[0, 1], shown[0, 2])


def test_by_step_the_vector_changes_with_each_step_and_comes_back_after_four():
    shown, _ = received(names_of("by_step"), [[7, 8, 9]])
    assert not torch.equal(shown[0, 0], shown[0, 1])
    assert torch.equal(shown[0, 0], shown[0, 4])


def test_with_the_number_given_the_same_c_gets_a_vector_that_changes_with_the_commas_only():
    names = names_of("given_number")
    shown, c = received(names, [[7, 8]])
    with torch.no_grad():
        given = names["decoder"].numbers.weight  # (4, D)
    assert c.shape == (1, 64)
    assert torch.allclose(shown[0], c + given[[0, 0, 1, 1]])


def test_with_an_own_vector_number_k_has_the_state_after_source_number_k():
    names = names_of("own_vector")
    source, lengths, _ = names["batch_of"]([[42, 7]])  # forty two , seven
    assert names["ends"](source, lengths).tolist() == [[1, 3, 3, 3]]
    shown, c = received(names, [[42, 7]])
    states, _ = names["encoder"].rnn(names["encoder"].embed(source))
    assert torch.equal(c[0, 0], states[0, 1])
    assert torch.equal(shown[0, 0], c[0, 0])
    assert torch.equal(shown[0, -1], c[0, 1])


def test_both_models_with_matrices_have_as_many_parameters():
    counts = [sum(one.numel() for one in names_of(model)["parameters"]) for model in ("same", "by_number", "by_step")]
    assert counts[1] == counts[2] == counts[0] + 4 * 64 * 64


def test_one_bit_keeps_the_sign_and_many_keep_the_entry():
    c = torch.tensor([-1.0, -0.2, 0.2, 1.0])
    assert own_readings.rounded(c, 1).tolist() == [-0.5, -0.5, 0.5, 0.5]
    assert torch.allclose(own_readings.rounded(c, 12), c, atol=3e-4)


def test_a_short_training_gives_shares_with_c_as_it_is_and_rounded(tmp_path):
    figures = checked_run(own_readings, Job("by_number", 1, 2), tmp_path, "cpu")
    assert set(figures["exact_match"]) == {"1", "2", "3", "4"}
    assert set(figures["rounded"]) == {str(bits) for bits in own_readings.BITS}
    assert figures["loss"] > 1


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="there is: same"):
        own_readings.code("nothing", 1, 2)


def test_with_a_frozen_encoder_only_the_new_decoder_learns(tmp_path):
    figures = checked_run(own_readings, Job("frozen_encoder", 1, 2), tmp_path, "cpu")
    plain, read = (names_of(model)["decoder"] for model in ("same", "by_number"))
    assert figures["parameters"] == sum(one.numel() for one in read.parameters())
    assert figures["parameters"] == sum(one.numel() for one in plain.parameters()) + 4 * 64 * 64
