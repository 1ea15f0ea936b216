"""The controls of chapter 05's residual connection: layers that begin as copies, and sums with another path around."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import depth_controls, residual_sides, sum_or_start
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(sum_or_start.RECIPES), indirect=["best"])
def test_a_translator_is_trained_and_measured(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(depth_controls, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(sum_or_start, Job(name, 0, 2), tmp_path, best)
    assert [len(figures["start"][what]) for what in ("signals", "gradients")] == [8, 8]
    assert (len(figures["signal"]), len(figures["exact_match"])) == (2, 1)


def built(name):
    torch.manual_seed(0)
    return sum_or_start.RECIPES[name].build(residual_sides.task())


def test_a_copying_layer_begins_near_its_input():
    lists = residual_sides.task()
    batch = lists.collate(lists.test[:4])
    with torch.no_grad():
        outputs, _ = built("copies").encoded(batch.source, batch.lengths)
        for below, above in pairwise(outputs):
            assert (above - below).norm() / below.norm() < 0.2


@pytest.mark.parametrize(
    "name", [name for name, recipe in sum_or_start.RECIPES.items() if not recipe.frozen and name != "plain_slowed"]
)
def test_each_keeps_signal_and_gradient_at_the_start(name):
    lists = residual_sides.task()
    kept = depth_controls.signals(built(name), *residual_sides.pairs(lists))
    norms = depth_controls.gradients(built(name), lists.collate(lists.train[:32]))
    assert kept[-1] / kept[2] > 0.1
    trained = norms[:2] if name == "matrices" else norms  # above, the matrices learn and the layers do not
    assert min(trained) / max(trained) > 0.1


def test_a_path_that_is_the_identity_makes_the_residual_translator():
    lists = residual_sides.task()
    batch = lists.collate(lists.test[:4])
    torch.manual_seed(0)
    residual = depth_controls.RECIPES["sgd_residual"].build(lists)
    torch.testing.assert_close(
        built("trained").encoded(batch.source, batch.lengths)[0], residual.encoded(batch.source, batch.lengths)[0]
    )


@pytest.mark.parametrize("name, learns", [("rotated", False), ("trained_rotation", True)])
def test_a_rotation_keeps_lengths_and_is_trained_where_its_name_says_so(name, learns):
    for around in built(name).paths.values():
        assert len(around) == 6
        for matrix in around:
            torch.testing.assert_close(matrix.weight @ matrix.weight.T, torch.eye(48), atol=1e-5, rtol=0)
            assert matrix.weight.requires_grad is learns


@pytest.mark.parametrize(
    "name, unfrozen", [(f"{start}_frozen", start) for start in ("copies", "orthogonal", "identity")]
)
def test_frozen_layers_begin_like_the_others_and_stay(name, unfrozen):
    lists = residual_sides.task()
    frozen = built(name)
    torch.manual_seed(0)
    other = (depth_controls.RECIPES | sum_or_start.RECIPES)[unfrozen].build(lists)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(frozen.parameters(), other.parameters(), strict=True))
    above = [*frozen.encoder.upper.parameters(), *frozen.upper.parameters()]
    assert not any(weight.requires_grad for weight in above)
    assert frozen.encoder.rnn.weight_ih_l0.requires_grad
    assert frozen.lowest.weight_ih_l0.requires_grad
    norms = depth_controls.gradients(frozen, lists.collate(lists.train[:32]))
    assert norms[0] > 0
    assert norms[1:] == [0.0] * 7


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_one_stack_is_frozen_and_the_other_learns(stack):
    model = built(f"copies_{stack}_frozen")
    learns = {"encoder": model.encoder.upper, "decoder": model.upper}
    for name, layers in learns.items():
        assert {weight.requires_grad for weight in layers.parameters()} == {name != stack}


@pytest.mark.parametrize("stack", ["encoder", "both"])
def test_slowed_layers_take_a_tenth_of_the_step_of_all_others(stack):
    name = {"encoder": "copies_encoder_slowed", "both": "copies_slowed"}[stack]
    model = built(name)
    slow = {id(weight) for weight in sum_or_start.above_lowest(model, stack)}
    begun = [weight.detach().clone() for weight in model.parameters()]
    optimiser = sum_or_start.RECIPES[name].optimiser_of(model)(model.parameters())
    for group in optimiser.param_groups:
        group |= {"lr": 0.01, "weight_decay": 0.0}
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    optimiser.step()  # the first step of Adam has the size of the rate
    for weight, before in zip(model.parameters(), begun, strict=True):
        step = 0.001 if id(weight) in slow else 0.01
        torch.testing.assert_close(before - weight, torch.full_like(weight, step), atol=1e-5, rtol=1e-2)
    assert [group["lr"] for group in optimiser.param_groups] == [0.01, 0.01]


def test_matrices_alone_leave_nothing_of_the_layers():
    lists = residual_sides.task()
    batch = lists.collate(lists.test[:4])
    model = built("matrices")
    outputs, _ = model.encoded(batch.source, batch.lengths)
    torch.testing.assert_close(outputs[2], outputs[1] @ model.paths["encoder"][0].weight.T)


def test_layers_are_put_back_to_where_they_began():
    model = built("copies_slowed")
    begun = {name: weight.clone() for name, weight in model.state_dict().items()}
    with torch.no_grad():
        for weight in sum_or_start.above_lowest(model, "both"):
            weight *= 1.5
    assert sum_or_start.put_back(model, begun, "both")["moved"] == 0.5
    assert all(torch.equal(weight, begun[name]) for name, weight in model.state_dict().items())


@pytest.mark.parametrize("field", ["path", "frozen", "slowed"])
def test_an_unknown_choice_is_named(field):
    with pytest.raises(ValueError, match=f"{field} is 'left'; it must be one of '', "):
        sum_or_start.Recipe(**{field: "left"})
