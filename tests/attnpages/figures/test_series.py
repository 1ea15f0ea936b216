import pytest

from attnpages.figures import by_length, by_model

RESULT = {
    "runs": [
        {"model": "plain", "seed": 1, "seconds": 12, "exact_match": {"10": 0.1, "2": 0.8}},
        {"model": "plain", "seed": 0, "seconds": 11, "exact_match": {"10": 0.2, "2": 0.9}},
        {"model": "attention", "seed": 0, "seconds": 22, "exact_match": {"2": 1.0}, "aer": 0.1},
    ]
}


def test_values_come_by_model_with_seeds_in_order():
    assert by_model(RESULT, "seconds") == {"plain": [11, 12], "attention": [22]}


def test_models_come_in_the_order_asked_for():
    assert list(by_model(RESULT, "seconds", models=["attention", "plain"])) == ["attention", "plain"]
    assert list(by_model(RESULT, "aer", models=["attention"])) == ["attention"]


def test_lengths_are_numbers_in_rising_order():
    curves = by_length(RESULT)
    assert curves == {"plain": {2: [0.9, 0.8], 10: [0.2, 0.1]}, "attention": {2: [1.0]}}
    assert list(curves["plain"]) == [2, 10]


@pytest.mark.parametrize("read", [by_model, by_length])
def test_an_unknown_model_is_named_with_those_there(read):
    with pytest.raises(ValueError, match="result has no model 'gru'; there is: plain, attention"):
        read(RESULT, "exact_match", models=["gru"])


@pytest.mark.parametrize("read", [by_model, by_length])
def test_an_unknown_field_is_named_with_those_there(read):
    with pytest.raises(ValueError, match="the runs of 'plain' have no field 'aer'; there is: model, seed, seconds"):
        read(RESULT, "aer")
