"""Two lists that differ in the word hundred."""

from attnbook.data import number_list
from attnruns.shared.hundred_pairs import hundred_pairs

LISTS = [number_list(numbers) for numbers in ([7], [342, 7, 85], [1, 20, 999, 0, 100, 12])]


def test_the_two_sources_differ_in_the_word_hundred_alone():
    for longer, shorter, _, position in hundred_pairs(LISTS):
        assert longer.source[position] == "hundred"
        assert longer.source[:position] + longer.source[position + 1 :] == shorter.source


def test_the_step_is_that_of_hundert_and_the_targets_differ_there_for_the_first_time_or_at_the_digit_one():
    for longer, shorter, step, _ in hundred_pairs(LISTS):
        assert longer.target[step] == "hundert"
        assert longer.target[: step - 1] == shorter.target[: step - 1]
        assert shorter.target[step : step + 1] != ("hundert",)


def test_all_other_numbers_stay():
    for example, pair in zip(LISTS, hundred_pairs(LISTS), strict=True):
        old, new = (" ".join(one.source).split(" , ") for one in (example, pair.longer))
        assert len(old) == len(new)
        assert sum(one != other for one, other in zip(old, new, strict=True)) <= 1


def test_a_seed_fixes_the_pairs():
    assert hundred_pairs(LISTS, seed=1) == hundred_pairs(LISTS, seed=1)
    assert len({tuple(hundred_pairs(LISTS * 5, seed=seed)) for seed in range(3)}) == 3
