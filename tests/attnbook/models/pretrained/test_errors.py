"""The error of files of weights."""

from attnbook.models.pretrained import WeightsError, errors


def test_it_is_a_value_error_as_all_that_a_command_says_in_one_sentence():
    assert issubclass(errors.WeightsError, ValueError)
    assert WeightsError is errors.WeightsError
