"""The experiment on two photographs, with a tiny network in place of DINOv2; nothing is fetched."""

import gc
import pickle
import weakref

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.pictures.photographs import photographs
from attnbook.models import TransformerConfig
from attnbook.models.vision import VisionTransformer
from attnruns.experiments import photographs as experiment
from attnruns.shared.runner import Job, seeds_of


@pytest.fixture
def tiny(monkeypatch):
    """Two layers of two heads, which read images of 32 pixels in 16 patches."""
    config = TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24, positions="learned", feed_forward="gelu")
    torch.manual_seed(0)
    model = VisionTransformer(None, config, 32, 8, 3).eval()
    monkeypatch.setattr(experiment, "dinov2", lambda: model)
    return model


def test_a_run_measures_each_head_and_random_ones(tiny, tmp_path):
    figures = checked_run(experiment, Job("dinov2", 0, 3), tmp_path, "cpu")
    assert figures["photographs"] == ["temple", "flowers"]
    for name, width in {"inside": 2, "other_photograph": 2, "random_inside": 6, "class_token": 2}.items():
        assert [len(row) for row in figures[name]] == [width, width], name
    assert all(0 < share < 1 for row in figures["inside"] for share in row)
    assert -1 < figures["between_photographs"] < 1
    assert [len(of) for of in figures["weights"][0]] == [16, 16]
    assert [len(of) for of in figures["best_random_weights"]] == [16, 16]


def test_a_run_says_what_one_flower_gives_to_the_other_by_layer_and_head(tiny):
    found = experiment.run(Job("dinov2", 0, 3)).figures["flowers"]
    for name in ("lower_to_upper", "background_to_upper"):
        assert [len(heads) for heads in found[name]] == [2, 2], name
    assert [len(heads) for heads in found["near"]] == [2, 2]
    assert len(found["random_between"]) == len(found["random_near"]) == 3
    layer, head = found["chosen"]
    difference = torch.tensor(found["lower_to_upper"]) - torch.tensor(found["background_to_upper"])
    assert difference[layer - 1, head - 1] == difference.max()
    assert [len(row) for row in found["maps"]] == [16, 16]
    assert [sum(row) for row in found["maps"]] == pytest.approx([1, 1], abs=1e-3)


def test_patches_are_left_out_and_the_others_stay_where_they_were(tiny):
    images = torch.rand(2, 3, 32, 32)
    whole = experiment.class_vector(tiny, images[:1], torch.arange(16))
    torch.testing.assert_close(whole, tiny(images[:1])[0][0])
    other_order = experiment.class_vector(tiny, images[:1], torch.arange(16).flip(0))  # positions belong to the patches
    torch.testing.assert_close(other_order, whole)
    unseen = images[:1].clone()
    unseen[:, :, :8] = 0  # the first row of patches
    kept = torch.arange(4, 16)
    torch.testing.assert_close(
        experiment.class_vector(tiny, unseen, kept), experiment.class_vector(tiny, images[:1], kept)
    )


def test_an_eighth_a_quarter_and_a_half_are_left_out_by_weight_and_by_chance(tiny):
    weights = torch.rand(2, 2, 16)
    images = torch.rand(2, 3, 32, 32)
    objects = torch.zeros(2, 32, 32, dtype=torch.bool)
    objects[:, :, :16] = True  # the first two of four columns of patches
    found = experiment.left_out(tiny, images, weights, objects)
    assert list(found) == ["2", "4", "8"]
    for count, of in found.items():
        assert [len(row) for row in of["by_head"]] == [2, 2]
        assert [[len(set(head)) for head in heads] for heads in of["heads"]] == [[int(count)] * 2] * 2
        assert [len(row) for row in of["by_chance"]] == [experiment.DRAWS] * 2
        assert [len(set(row)) for row in of["drawn"]] == [int(count)] * 2
    kept = weights[1, 0].topk(8, largest=False).indices
    assert {*kept.tolist(), *found["8"]["heads"][1][0]} == {*range(16)}
    vectors = [experiment.class_vector(tiny, images[1:], which) for which in (kept, torch.arange(16))]
    expected = torch.nn.functional.cosine_similarity(*vectors, dim=0).item()
    assert found["8"]["by_head"][1][0] == pytest.approx(expected, abs=1e-4)
    right = torch.arange(16).view(4, 4)[:, 2:].flatten()
    vectors[0] = experiment.class_vector(tiny, images[1:], right)
    expected = torch.nn.functional.cosine_similarity(*vectors, dim=0).item()
    assert found["8"]["by_object"][1] == pytest.approx(expected, abs=1e-4)


def test_patches_come_by_their_part_of_the_object_and_then_by_how_near_it_is():
    objects = torch.zeros(1, 12, 12, dtype=torch.bool)  # 6 × 6 patches of 2 × 2 pixels
    objects[0, :2, :2] = True  # the whole of patch 0
    objects[0, 0, 2] = True  # a quarter of patch 1
    order = experiment.from_object(objects, 6)
    assert sorted(order[0].tolist()) == [*range(36)]
    assert order[0, :2].tolist() == [0, 1]
    near = {row * 6 + column for row in range(3) for column in range(4)}  # within two patches of one of the two
    assert {*order[0, :12].tolist()} == near


def test_equal_weights_give_a_flower_its_area_whoever_attends():
    upper, lower = experiment.flowers(16)
    shares = experiment.to_upper([torch.full((1, 2, 257, 257), 1 / 257)], upper, lower)
    for share in shares:
        torch.testing.assert_close(share, upper.mean().expand(1, 2))
    assert 0.3 < upper.mean() < 0.32
    assert 0.03 < lower.mean() < 0.04


def test_a_patch_has_nine_neighbours_with_itself_and_fewer_at_the_edge():
    equal = torch.full((1, 2, 10, 10), 0.1)  # nine patches: 4 corners, 4 edges and the middle
    torch.testing.assert_close(experiment.to_neighbours([equal]), torch.full((1, 2), (4 * 4 + 4 * 6 + 9) / 81))
    to_itself = torch.eye(10)[None, None]
    assert experiment.to_neighbours([to_itself]).item() == 1


def test_the_random_head_that_is_kept_is_the_one_with_the_largest_share(tiny):
    figures = experiment.run(Job("dinov2", 0, 3)).figures
    best = torch.tensor(figures["best_random_weights"])[:, None]
    found = experiment.inside(best, photographs(32).objects)[:, 0]
    torch.testing.assert_close(found, torch.tensor(figures["random_inside"]).amax(dim=1), rtol=0, atol=1e-3)


def test_equal_weights_lie_on_an_object_as_its_area_says():
    objects = torch.zeros(1, 4, 4, dtype=torch.bool)
    objects[0, :2, :3] = True
    assert experiment.inside(torch.full((1, 1, 4), 0.25), objects).tolist() == [[6 / 16]]
    one_patch = torch.tensor([[[0.0, 1.0, 0.0, 0.0]]])
    assert experiment.inside(one_patch, objects).tolist() == [[0.5]]


def test_what_goes_to_the_class_token_itself_is_left_out():
    weights = torch.tensor([[[[0.5, 0.1, 0.4], [1, 0, 0], [1, 0, 0]]]])
    torch.testing.assert_close(experiment.to_patches(weights), torch.tensor([[[0.2, 0.8]]]))


def test_norms_are_multiples_of_the_median_and_leave_nothing_behind(tiny):
    images = torch.rand(2, 3, 32, 32)
    found = experiment.norms(tiny, images)
    assert found.shape == (2, 2)
    assert (found >= 1).all()
    assert not any(layer._forward_hooks for layer in tiny.blocks.layers)


def test_random_networks_have_the_same_sizes_and_differ_by_seed(tiny):
    one, again, other = (experiment.random_network(tiny, seed).state_dict() for seed in (0, 0, 1))
    assert {name: tensor.shape for name, tensor in one.items()} == {
        name: tensor.shape for name, tensor in tiny.state_dict().items()
    }
    assert torch.equal(one["embed.weight"], again["embed.weight"])
    assert not torch.equal(one["embed.weight"], other["embed.weight"])


def test_there_is_one_seed_because_there_is_one_pretrained_network():
    assert seeds_of(experiment.EXPERIMENT, None) == [0]
    assert pickle.loads(pickle.dumps(experiment.EXPERIMENT)).stored_seeds() == [0]  # a run has a process of its own


def test_each_network_computes_its_maps_once_and_is_gone_before_the_next_one(tiny, monkeypatch):
    calls, alive = [], []
    real, make = VisionTransformer.maps, experiment.random_network
    monkeypatch.setattr(VisionTransformer, "maps", lambda self, images: calls.append(id(self)) or real(self, images))

    def watched(like, seed):
        gc.collect()
        alive.append(sum(ref() is not None for ref in networks))
        made = make(like, seed)
        networks.append(weakref.ref(made))
        return made

    networks: list = []
    monkeypatch.setattr(experiment, "random_network", watched)
    experiment.run(Job("dinov2", 0, 3))
    assert len(calls) == 4
    assert alive == [0, 0, 0]
