"""A number below 1 is refused by the name of its argument."""

import pytest

from attnbook.positive import check_positive


def test_numbers_from_1_on_pass():
    check_positive(count=1, length=3)


@pytest.mark.parametrize("number", [0, -1])
def test_the_first_number_below_1_is_named_with_what_came(number):
    with pytest.raises(ValueError, match=f"^pairs must be at least 1, got {number}$"):
        check_positive(count=2, pairs=number, keys=0)
