"""The leaderboard of lab 17."""

import pytest

from attnlabs.material.leaderboard import RECORD, Entry, by_multiple, leaderboard, record_entries
from attnruns.experiments.lengths import RECIPES


def mean_beyond(exact_match, trained):
    shares = [share for n, share in exact_match.items() if n > trained]
    return sum(shares) / len(shares)


def entry(name, *twice, four=0.0):
    return Entry(name, "nothing", 10, [{10: 1.0, 20: share, 40: four} for share in twice])


def test_entries_stand_in_the_order_of_their_worst_seed():
    order = leaderboard([entry("even", 0.5, 0.5, 0.5), entry("uneven", 1.0, 1.0, 0.1)], mean_beyond)
    assert order == ["even", "uneven"]


def test_mean_and_worst_seed_are_shown(capsys):
    leaderboard([entry("mine", 1.0, 0.8, 0.6, four=0.2)], mean_beyond)
    assert capsys.readouterr().out.splitlines()[1].split() == (
        ["1", "mine", "nothing", "10", "3", "0.80", "(0.60)", "0.20", "(0.20)", "0.50", "(0.40)"]
    )


def test_fewer_than_three_seeds_have_no_rank(capsys):
    order = leaderboard([entry("lucky", 1.0), entry("honest", 0.2, 0.2, 0.2)], mean_beyond)
    assert order == ["honest", "lucky"]
    assert capsys.readouterr().out.splitlines()[2].split()[:2] == ["-", "lucky"]


def test_the_record_has_ten_models_with_three_seeds():
    found = record_entries()
    later = {"rotary_cross_bias", "rotary_cross_bias_window_4"}  # trained after the ten, to test a prediction
    assert set(RECORD) == set(RECIPES) - later
    assert {len(one.runs) for one in found} == {3}
    assert {tuple(run) for one in found for run in one.runs} == {(20, 30, 40, 60, 80)}
    assert leaderboard(found, mean_beyond)[0].startswith("location-aware")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([], "'mine' has no runs"),
        ([{20: 1.0, 40: 1.0}, {20: 1.0}], "the runs of 'mine' were measured at different lengths"),
        ([{20: 1.0, 30: 1.0}], "'mine' was not measured at 40"),
    ],
)
def test_an_entry_that_cannot_be_compared_is_refused(runs, said):
    with pytest.raises(ValueError, match=said):
        leaderboard([Entry("mine", "nothing", 10, runs)], mean_beyond)


def test_curves_count_in_multiples_of_the_trained_length():
    assert by_multiple([entry("mine", 0.5, 0.7)]) == {"mine": {1.0: [1.0, 1.0], 2.0: [0.5, 0.7], 4.0: [0.0, 0.0]}}
