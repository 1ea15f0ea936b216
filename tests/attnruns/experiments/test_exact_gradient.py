"""Chapter 6's captioner on the exact gradient: the tree is the file's decoder, and drawn gradients have it as mean."""

from itertools import product

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import exact_gradient, hard_attention
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def file():
    return hard_attention.names_of(0)


@pytest.fixture
def model(file):
    torch.manual_seed(4)
    return file["Captioner"](file["feature_map"]())


@pytest.fixture
def batch(file, monkeypatch):
    """Two canvases, which every loss of the file then receives."""
    torch.manual_seed(5)
    fixed = file["canvases"](2)
    monkeypatch.setitem(file, "canvases", lambda: fixed)
    monkeypatch.setitem(file["hard_loss"].__globals__, "canvases", lambda: fixed)
    return fixed


def read_in_turn(file, sequence):
    """A way to read that takes these cells, one per word."""
    cells = iter(sequence)
    return lambda alpha, a: file["at"](torch.full((len(a),), next(cells)), alpha, a)


def listed(file, model, image, caption):
    """Log p of the correct words, log p of the draws, and the entropies, of all sequences: ``(729, B, 3)`` each."""
    found = []
    for sequence in product(range(9), repeat=3):
        log_p, alpha, drawn = file["run"](model, image, read_in_turn(file, sequence), caption)
        right = log_p.gather(2, caption[:, :, None])[:, :, 0]
        found.append((right, drawn, torch.special.entr(alpha).sum(dim=2)))
    return [torch.stack(each) for each in zip(*found, strict=True)]


def test_the_tree_is_the_decoder_with_every_sequence_of_cells(file, model, batch):
    image, caption, _ = batch
    right, drawn, entropy = listed(file, model, image, caption)
    p = drawn.sum(dim=2).exp()  # (729, B)
    torch.testing.assert_close(p.sum(dim=0), torch.ones(2))
    reward, bonus = exact_gradient.expected(exact_gradient.tree(file, model, image, caption))
    torch.testing.assert_close(reward, (p * right.sum(dim=2)).sum(dim=0))
    torch.testing.assert_close(bonus, (p * entropy.sum(dim=2)).sum(dim=0))


def test_what_is_left_out_hardly_matters(file, model, batch, monkeypatch):
    image, caption, _ = batch
    with torch.no_grad():
        model.v.weight *= 3000  # weights close to 0 and 1
    found = {}
    for skipped in (0.0, exact_gradient.SKIPPED):
        monkeypatch.setattr(exact_gradient, "SKIPPED", skipped)
        found[skipped] = exact_gradient.tree(file, model, image, caption)
    kept = [(levels[-1][0].sum(dim=2) > 0).sum().item() for levels in found.values()]
    assert kept[0] > kept[1]
    for whole, part in zip(*(exact_gradient.expected(levels) for levels in found.values()), strict=True):
        torch.testing.assert_close(whole, part, atol=1e-3, rtol=1e-4)


def test_the_most_probable_sequences_are_kept():
    p, at = torch.tensor([[0.2, 0.8, 0.0], [1e-9, 0.0, 1.0]]), torch.tensor([[4, 5, 6], [7, 8, 9]])
    states = torch.arange(6.0).view(2, 3, 1)
    kept, numbers, h, m = exact_gradient.likely(p, at, states, -states)
    assert numbers.tolist() == [[5, 4], [9, 7]]
    assert kept[0].tolist() == pytest.approx([0.8, 0.2])
    assert h[:, :, 0].tolist() == [[1, 0], [5, 3]]
    assert torch.equal(h, -m)


def test_what_was_left_out_is_zero():
    found = exact_gradient.full(torch.ones(1, 2, 3), torch.tensor([[3, 0]]), 4)
    assert found.sum(dim=2).tolist() == [[3, 0, 0, 3]]


def test_the_gradient_is_that_of_the_listed_expectation(file, model, batch):
    image, caption, _ = batch
    right, drawn, entropy = listed(file, model, image, caption)
    p = drawn.sum(dim=2).exp()
    value = p * right.sum(dim=2) + hard_attention.ENTROPY * p.detach() * entropy.sum(dim=2)
    wanted = torch.autograd.grad(-value.sum(dim=0).mean() / 3, [*model.parameters()])
    found = torch.autograd.grad(exact_gradient.exact_loss(file, model), [*model.parameters()])
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-3)


def test_the_mean_of_many_drawn_gradients_approaches_it(file, model, batch):
    for loss in (file["hard_loss"], hard_attention.HardLoss(file, "moving")):
        torch.manual_seed(6)
        exact = hard_attention.gradient(exact_gradient.exact_loss(file, model), model)
        rows = torch.stack([hard_attention.gradient(loss(model), model) for _ in range(200)])
        distance = [(rows[:n].mean(dim=0) - exact).square().sum().item() for n in (4, 200)]
        by_chance = rows.var(dim=0).sum().item() / 200  # of the mean of 200, if it is unbiased
        assert distance[1] < 2 * by_chance
        assert distance[1] < distance[0] / 4


@pytest.mark.parametrize("name", exact_gradient.STEPS)
def test_a_run_is_measured_at_its_points_and_at_its_end(name, tmp_path, monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    figures = checked_run(exact_gradient, Job(name, 1, 2), tmp_path, "cpu")
    assert [point["step"] for point in figures["curve"]] == [0, 2]
    assert set(figures["curve"][0]) == {"step", "exact", "pointing", "relation"}


def test_it_starts_where_the_other_trainings_start(monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    monkeypatch.setattr(hard_attention, "REPEATS", 2)
    ours, theirs = (module.run(Job(name, 3, 1)).figures["curve"][0]
                    for module, name in ((exact_gradient, "exact"), (hard_attention, "leave_one_out")))  # fmt: skip
    assert all(ours[key] == theirs[key] for key in ours)


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="there is: exact"):
        exact_gradient.run(Job("nothing", 0, 1))
