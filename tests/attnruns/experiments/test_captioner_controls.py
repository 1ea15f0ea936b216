"""Chapter 6's captioner without attention, without a pretrained CNN and trained straight-through."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import captioner_controls, hard_attention, hard_maps
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    monkeypatch.setattr(hard_maps, "TESTS", 20)


def test_without_attention_the_weights_do_not_matter():
    a = torch.randn(2, 9, 4)
    first, second = (torch.rand(2, 9).softmax(dim=1) for _ in range(2))
    assert torch.equal(captioner_controls.average(first, a)[0], captioner_controls.average(second, a)[0])


def test_straight_through_reads_one_position_and_gives_all_scores_a_gradient():
    torch.manual_seed(0)
    a, scores = torch.randn(5, 9, 4), torch.randn(5, 9, requires_grad=True)
    context, _ = captioner_controls.straight_through(scores.softmax(dim=1), a)
    assert all(any(torch.allclose(z, one, atol=1e-5) for one in cells) for z, cells in zip(context, a, strict=True))
    (slope,) = torch.autograd.grad(context.sum(), scores)
    assert (slope != 0).all()


@pytest.mark.parametrize("name", captioner_controls.STEPS)
def test_a_run_keeps_the_weights_that_the_chapter_draws(name, tmp_path):
    kept = name == "no_attention"
    figures = checked_run(captioner_controls, Job(name, 0, 2), tmp_path, "cpu", kept=kept)
    assert set(figures) >= {"exact", "relation", "pointing", "which", "order"}
    assert figures["order"] <= figures["which"]


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="there is: no_attention"):
        captioner_controls.run(Job("nothing", 0, 1))
