"""Photographs whose patches are in another order, with a tiny network in place of DINOv2; nothing is fetched."""

import json

import pytest
import torch
from experiment_runs import checked_run

from attnbook.models import TransformerConfig
from attnbook.models.vision import VisionTransformer
from attnruns.experiments import shuffled_patches as experiment
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """Three layers of two heads, which read images of 32 pixels in 16 patches."""
    config = TransformerConfig(d_model=16, heads=2, layers=3, d_ff=24, positions="learned", feed_forward="gelu")
    torch.manual_seed(0)
    model = VisionTransformer(None, config, 32, 8, 3).eval()
    monkeypatch.setattr(experiment, "dinov2", lambda: model)
    return model


def test_patches_in_their_own_order_are_the_image_and_another_order_moves_them():
    images = torch.rand(2, 3, 32, 32)
    torch.testing.assert_close(experiment.reordered(images, torch.arange(16), 8), images)
    swapped = torch.tensor([5, *range(1, 5), 0, *range(6, 16)])
    moved = experiment.reordered(images, swapped, 8)
    torch.testing.assert_close(moved[..., :8, :8], images[..., 8:16, 8:16])
    torch.testing.assert_close(moved[..., 16:, :], images[..., 16:, :])


def test_without_position_vectors_a_network_follows_the_patches_to_their_new_positions(tiny):
    with torch.no_grad():
        tiny.add_positions.vectors.zero_()
    figures = experiment.run(Job("dinov2", 0, 3)).figures
    layer, head = (number - 1 for number in figures["chosen"])
    for photo in range(2):
        assert figures["by_content"][photo] == pytest.approx([figures["beside"][photo][layer][head]] * 3, abs=2e-4)


def test_a_run_measures_both_photographs_and_keeps_the_weights_for_the_page(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "LIVE", ((3, 1), (12, 6)))
    figures = checked_run(experiment, Job("dinov2", 0, 3), tmp_path, "cpu")
    assert [len(of) for of in figures["by_position"]] == [3, 3]
    assert figures["similar_by_distance"][0] == 1
    assert [sum(row) for row in figures["maps"]] == pytest.approx([1, 1], abs=2e-3)
    kept = json.loads(experiment.run(Job("dinov2", 0, 1)).texts[experiment.STORED])
    assert [(one["layer"], one["head"], len(one["most"])) for one in kept["heads"]] == [(3, 1, 16)]


def test_the_patch_that_is_shown_is_the_one_nearest_to_the_means_and_not_at_an_edge():
    shares = torch.tensor([0.0, 1.0]).repeat(2, 18)  # means near 0.5
    shares[:, 7], shares[:, 15] = 0.5, 0.6  # the first lies one row and one column from the corner
    assert experiment.typical(shares, 6) == 15


def test_the_record_holds_one_network_and_all_orders():
    (run,) = load_result("shuffled_patches")["runs"]
    assert run["steps"] == experiment.ORDERS
    assert sorted(run["order"]) == list(range(256))


def test_the_means_of_all_heads_agree_with_the_chosen_head_of_the_record():
    (run,) = load_result("shuffled_patches")["runs"]
    layer, head = (number - 1 for number in run["chosen"])
    for name in ("by_position", "by_content"):
        mean = torch.tensor(run[name]).mean().item()
        assert run[f"heads_{name}"][layer][head] == pytest.approx(mean, abs=2e-4)
    around = [of[layer][head] for of in run["beside"]]
    assert all(left < beside for left, beside in zip(run["left"], around, strict=True))
