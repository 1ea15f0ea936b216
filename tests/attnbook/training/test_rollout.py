"""REINFORCE on a distribution that is small enough to be written out, and a baseline that follows the network."""

from itertools import permutations

import pytest
import torch

from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import batch_of, tour_batch
from attnbook.data.points.tours import tour_length
from attnbook.models.pointer import PointerNetwork, answer_log_probs
from attnbook.seeding import generator
from attnbook.training import fit, rollout
from attnbook.training.reinforce import reinforce_loss
from attnbook.training.rollout import (
    Challenge,
    RolloutLoss,
    RolloutPolicy,
    greedy_lengths,
    sample_several_tours,
    sample_tours,
    significantly_lower,
)

TOURS = torch.tensor([[0, *rest] for rest in permutations((1, 2, 3))])  # all six trips of four cities


def network(**options):
    """An untrained network with unequal probabilities."""
    torch.manual_seed(1)
    model = PointerNetwork(hidden=6, encoder="lstm", **{"first": 0} | options)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 4
        model.score.hidden_to_score.weight *= 8
    return model


def flat_gradient(number, model):
    """The gradient of a number, as one vector; zeros where a parameter is not used."""
    gradients = torch.autograd.grad(number, list(model.parameters()), allow_unused=True)
    pairs = zip(gradients, model.parameters(), strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in pairs])


def all_tours(points):
    """Four cities six times, once for each trip: points, lengths of the source, lengths of the trips."""
    six = points.expand(6, -1, -1)
    return six, torch.full((6,), 4), tour_length(six, TOURS)


def exact_gradient(model, points):
    """∇ Σ_π p(π) L(π), written out."""
    six, lengths, cost = all_tours(points)
    probability = answer_log_probs(model, six, lengths, TOURS).sum(dim=1).exp()  # (6,)
    assert probability.sum().item() == pytest.approx(1, abs=1e-5)
    assert probability.max() > 2 * probability.min()
    return flat_gradient((probability * cost.to(probability)).sum(), model), probability.detach()


@pytest.mark.parametrize("baseline", [0.0, 2.5, "greedy"])
def test_the_mean_of_the_estimates_over_all_trips_is_the_gradient_of_the_expected_length(baseline):
    model, points = network().double(), random_points(4, 1, generator(3)).double()
    wanted, probability = exact_gradient(model, points)
    b = greedy_lengths(model, points).item() if baseline == "greedy" else baseline
    six, lengths, cost = all_tours(points)
    mean = torch.zeros_like(wanted)
    for i in range(6):
        log_probs = answer_log_probs(model, six[i : i + 1], lengths[i : i + 1], TOURS[i : i + 1])
        loss = reinforce_loss(log_probs, -cost[i].view(1, 1), torch.tensor([[-b]]))
        mean += probability[i] * flat_gradient(loss, model)
    assert torch.allclose(mean, wanted, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, 4])
def test_the_loss_of_many_draws_has_nearly_that_gradient(draws):
    model, points = network(), random_points(4, 1, generator(3))
    wanted, _ = exact_gradient(model, points)
    batch = batch_of(points.expand(20_000, -1, -1), torch.zeros(20_000, 1, dtype=torch.long))
    both = RolloutPolicy(model)
    found = flat_gradient(RolloutLoss(0, draws).at(0)(both, batch), model)
    assert torch.cosine_similarity(found, wanted, dim=0) > 0.98
    assert found.norm().item() == pytest.approx(wanted.norm().item(), rel=0.2)
    assert all(parameter.grad is None for parameter in both.baseline.parameters())


def test_several_draws_per_set_need_no_greedy_trips(monkeypatch):
    asked = []
    monkeypatch.setattr(rollout, "greedy_lengths", lambda policy, points: asked.append(points) or torch.zeros(16))
    seen = []
    monkeypatch.setattr(rollout, "sample_tours", lambda p, points, g: seen.append(points) or sample_tours(p, points, g))
    both, batch = RolloutPolicy(network()), tours_at(0)
    assert RolloutLoss(0, draws=4).at(0)(both, batch).isfinite()
    assert asked == []
    assert torch.equal(seen[0], batch.source[:4].repeat_interleave(4, dim=0))
    assert RolloutLoss(0).at(0)(both, batch).isfinite()
    assert torch.equal(asked[0], batch.source)
    with pytest.raises(ValueError, match="draws must be at least 1"):
        RolloutLoss(0, draws=0)


def test_the_greedy_trip_can_be_the_baseline_of_several_draws(monkeypatch):
    asked = []
    monkeypatch.setattr(
        rollout, "greedy_lengths", lambda policy, points: asked.append(points) or torch.arange(float(len(points)))
    )
    expected = []
    monkeypatch.setattr(
        rollout,
        "reinforce_loss",
        lambda log_probs, rewards, baseline: expected.append(-baseline[:, 0]) or log_probs.sum(),
    )
    batch = tours_at(0)
    RolloutLoss(0, draws=4, greedy=True).at(0)(RolloutPolicy(network()), batch)
    assert torch.equal(asked[0], batch.source[:4])
    assert expected[0].tolist() == [0.0] * 4 + [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    with pytest.raises(ValueError, match="has no others to be compared with"):
        RolloutLoss(0, draws=1, greedy=False)


def test_during_the_warmup_the_baseline_is_a_mean_of_earlier_draws(monkeypatch):
    expected = []
    monkeypatch.setattr(
        rollout, "reinforce_loss", lambda log_probs, rewards, baseline: expected.append(-baseline) or log_probs.sum()
    )
    lengths = iter((torch.full((16,), 4.0), torch.full((16,), 9.0), torch.full((16,), 7.0)))
    monkeypatch.setattr(rollout, "tour_length", lambda points, tours: next(lengths))
    monkeypatch.setattr(rollout, "greedy_lengths", lambda policy, points: torch.full((16,), 3.0))
    both, loss = RolloutPolicy(network()), RolloutLoss(0, warmup=2)
    for step in range(3):
        loss.at(step)(both, tours_at(0))
    assert [b.unique().item() for b in expected] == [4.0, 4.0, 3.0]  # the second batch's own 9 does not count
    assert both.running.item() == pytest.approx(0.8 * 4 + 0.2 * 9)
    assert "running" in both.state_dict()
    with pytest.raises(ValueError, match="cannot be negative, got -1"):
        RolloutLoss(0, warmup=-1)


def test_trips_are_drawn_as_often_as_the_network_says():
    model, points = network(), random_points(4, 1, generator(3))
    drawn = sample_tours(model, points.expand(6000, -1, -1), generator(0))
    share = (drawn[:, None] == TOURS).all(dim=-1).float().mean(dim=0)  # (6,)
    assert share.sum().item() == pytest.approx(1)
    assert torch.allclose(share, exact_gradient(model, points)[1], atol=0.03)
    assert sample_tours(model, points[:, :1], generator(0)).tolist() == [[0]]


def test_several_trips_per_instance_are_drawn_as_often_as_the_network_says():
    model, points = network(), random_points(4, 2, generator(3))
    drawn = sample_several_tours(model, points, 4000, generator(0))
    assert drawn.shape == (2, 4000, 4)
    for trips, cities in zip(drawn, points, strict=True):
        share = (trips[:, None] == TOURS).all(dim=-1).float().mean(dim=0)  # (6,)
        assert torch.allclose(share, exact_gradient(model, cities[None])[1], atol=0.03)
        both = [(half[:, None] == TOURS).all(dim=-1).float().mean(dim=0) for half in trips.split(2000)]
        assert torch.allclose(*both, atol=0.05)  # they come in no order
    assert sample_several_tours(model, points[:, :1], 3, generator(0)).tolist() == [[[0]] * 3] * 2


@pytest.mark.parametrize("options, count", [({"first": None}, 2), ({"may_stop": True}, 2), ({}, 0)])
def test_several_trips_need_a_given_first_city_no_early_stop_and_a_count(options, count):
    with pytest.raises(ValueError, match="needs a given first city"):
        sample_several_tours(network(**options), random_points(4, 1, generator(3)), count, generator(0))


def test_the_first_city_is_drawn_if_it_is_not_given():
    model, points = network(first=None), random_points(3, 1, generator(3))
    orders = torch.tensor(list(permutations(range(3))))  # (6, 3)
    drawn = sample_tours(model, points.expand(6000, -1, -1), generator(0))
    share = (drawn[:, None] == orders).all(dim=-1).float().mean(dim=0)  # (6,)
    with torch.no_grad():
        log_probs = answer_log_probs(model, points.expand(6, -1, -1), torch.full((6,), 3), orders).sum(dim=1)
    assert torch.allclose(share, log_probs.exp(), atol=0.03)
    assert sample_tours(model, points[:, :1], generator(0)).tolist() == [[0]]


def test_only_round_trips_are_drawn():
    with pytest.raises(ValueError, match="may not stop before the last city"):
        sample_tours(network(may_stop=True), random_points(4, 1, generator(0)), generator(0))


def test_the_t_test_is_the_one_in_the_books():
    old = torch.arange(100.0)
    difference = torch.tensor([-1.0, 0.5]).repeat(50)  # mean −0.25, standard deviation 0.754: t = −3.3
    assert significantly_lower(old + difference, old)
    assert not significantly_lower(old + difference, old, level=0.0003)  # p = 0.0005
    assert significantly_lower(old + difference, old, level=0.0007)
    assert not significantly_lower(old - difference, old)
    assert not significantly_lower(old, old)
    assert significantly_lower(old - 1, old)


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 1)])
def test_costs_must_be_pairs(shape):
    with pytest.raises(ValueError, match=r"must both have shape \(B,\) with B > 1"):
        significantly_lower(torch.zeros(shape), torch.zeros(4 if shape != (1,) else 1))


@pytest.mark.parametrize(("change", "copied"), [(-0.1, True), (0.1, False)])
def test_the_baseline_is_copied_when_the_policy_is_better_and_stays_otherwise(change, copied, monkeypatch):
    both = RolloutPolicy(network())
    lengths = torch.linspace(2, 3, 50)
    monkeypatch.setattr(rollout, "greedy_lengths", lambda model, _: lengths + change * (model is both.policy))
    with torch.no_grad():
        both.policy.end += 1.0
    assert both.challenge(torch.zeros(50, 5, 2)) == pytest.approx(2.5 + change)
    assert torch.equal(both.policy.end, both.baseline.end) is copied
    assert both.challenges.item() == 1
    with torch.no_grad():
        both.policy.end += 1.0  # the two are two
    assert not torch.equal(both.policy.end, both.baseline.end)


def test_the_baseline_does_not_train():
    both = RolloutPolicy(network()).train()
    assert (both.policy.training, both.baseline.training) == (True, False)
    assert not any(parameter.requires_grad for parameter in both.baseline.parameters())


def tours_at(step):
    return tour_batch(5, 16, step + 1)


def trained(checkpoint=None, batch_at=tours_at):
    torch.manual_seed(0)
    model = RolloutPolicy(PointerNetwork(hidden=8, first=0))
    history = fit(
        model, batch_at, 6, loss=RolloutLoss(0), validate=Challenge(5, 50, 0), validate_every=2, checkpoint=checkpoint,
        progress=False,
    )  # fmt: skip
    return model, history


@pytest.mark.slow
def test_a_resumed_training_ends_where_the_uninterrupted_one_does(tmp_path):
    whole, history = trained()

    def stop(step):
        if step == 4:
            raise KeyboardInterrupt
        return tours_at(step)

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "a.ckpt", stop)
    resumed, again = trained(tmp_path / "a.ckpt")
    assert all(torch.equal(value, resumed.state_dict()[name]) for name, value in whole.state_dict().items())
    assert history.validations == again.validations
    assert len(history.validations) == 3


@pytest.mark.slow
def test_trips_become_shorter_without_any_label():
    torch.manual_seed(0)
    model, points = RolloutPolicy(PointerNetwork(hidden=16, first=0)), random_points(5, 300, generator(9))
    before = greedy_lengths(model.policy, points).mean()
    fit(
        model, lambda step: tour_batch(5, 64, step), 80, loss=RolloutLoss(0), validate=Challenge(5, 100, 0),
        validate_every=10, learning_rate=1e-2, warmup=1, progress=False,
    )  # fmt: skip
    assert greedy_lengths(model.policy, points).mean() < 0.95 * before


def test_more_draws_per_set_than_there_are_sets_are_refused():
    batch = tour_batch(5, 3)
    with pytest.raises(ValueError, match="draws is 4, more than the batch has sets: 3"):
        RolloutLoss(draws=4).at(0)(RolloutPolicy(PointerNetwork(hidden=8)), batch)


def test_a_challenge_may_have_any_seed():
    assert Challenge(4, 10, seed=2**32 - 1)(RolloutPolicy(network())) < 0
