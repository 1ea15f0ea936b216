"""The experiment about one letter and a gap."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.attention import Sinusoidal
from attnbook.data.symbols.recall import recall_batch
from attnbook.models.sequence_layers import Recurrent, SelfAttention
from attnruns.experiments import distance
from attnruns.shared.runner import Job


def test_attention_learns_a_short_gap_and_the_share_right_says_so():
    torch.manual_seed(0)
    model = distance.Answerer(SelfAttention(32, causal=True))
    test = recall_batch(3, 100)
    assert distance.share_right(model, test) < 0.5
    losses = distance.train(model, 3, 150, seed=0)
    assert losses[-1] < losses[0]
    assert distance.share_right(model, test) > 0.9


def test_positions_are_added_where_they_are_wanted():
    torch.manual_seed(0)
    model = distance.Answerer(Recurrent(32), positions=Sinusoidal(32))
    batch = recall_batch(3, 2)
    with_positions = model(batch.source)
    model.positions = torch.nn.Identity()
    assert not torch.allclose(with_positions, model(batch.source))


def test_with_letters_in_the_gap_attention_is_told_places_and_an_lstm_is_not():
    assert isinstance(distance.build("attention_busy").positions, Sinusoidal)
    for name in ("attention", "lstm_open_busy"):
        assert isinstance(distance.build(name).positions, torch.nn.Identity)


@pytest.mark.parametrize("name, best", once_on_the_card(distance.STEPS), indirect=["best"])
def test_a_run_trains_a_model_at_each_distance_and_tests_it_at_all(name, monkeypatch, best, tmp_path):
    monkeypatch.setattr(distance, "DISTANCES", (1, 3))
    figures = checked_run(distance, Job(name, 0, 2), tmp_path, best)
    assert figures["right"] == {d: figures["right_elsewhere"][d][d] for d in ("1", "3")}
    assert figures["loss"].keys() == {"1", "3"}
    assert figures["parameters"] > 1000


def test_no_string_of_the_test_is_drawn_by_its_seed_in_training():
    seeds = {1_000_003 * (seed + 1) + step for seed in range(3) for step in range(2000)}
    assert 0 not in seeds
