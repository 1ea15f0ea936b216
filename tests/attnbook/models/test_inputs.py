"""What goes into a model of two sequences: good input passes, and bad input is named."""

import pytest
import torch

from attnbook.models.inputs import check_decoder_input, check_source, check_words


def test_good_input_passes():
    source = torch.ones(3, 4, dtype=torch.long)
    check_source(source, torch.tensor([4, 1, 2]))
    check_decoder_input(torch.ones(3, 1, dtype=torch.long), source)


@pytest.mark.parametrize(
    ("source", "lengths", "message"),
    [
        ((3,), (3,), r"source must have shape \(B, Tk\) with B > 0, got \(3,\)"),
        ((0, 4), (0,), r"source must have shape \(B, Tk\) with B > 0, got \(0, 4\)"),
        ((3, 4), (2,), r"lengths must have shape \(3,\), one a sentence, got \(2,\)"),
        ((3, 4), (3, 1), r"lengths must have shape \(3,\), one a sentence, got \(3, 1\)"),
    ],
)
def test_a_source_or_lengths_of_another_shape_are_named(source, lengths, message):
    with pytest.raises(ValueError, match=message):
        check_source(torch.ones(source), torch.ones(lengths))


@pytest.mark.parametrize("shape", [(3,), (2, 5), (3, 0)])
def test_a_decoder_input_of_another_shape_is_named(shape):
    with pytest.raises(ValueError, match=r"decoder_input must have shape \(3, T\) with T > 0, got \(" + str(shape[0])):
        check_decoder_input(torch.ones(shape), torch.ones(3, 4))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (4,)])
def test_words_without_a_batch_or_a_length_are_refused(shape):
    check_words(torch.ones(2, 3, dtype=torch.long))
    with pytest.raises(ValueError, match=r"words must have shape \(B, T\) with B > 0 and T > 0, got"):
        check_words(torch.ones(shape, dtype=torch.long))
