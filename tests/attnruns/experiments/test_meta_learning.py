"""The experiment about learning within a sequence, with few steps and few tests."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.worlds.episodes import online_recall
from attnbook.models.few_shot import EpisodeReader, PixelNeighbour, PrototypicalNetwork
from attnbook.models.snail import CausalAttentionBlock, Snail
from attnruns.experiments import meta_learning
from attnruns.shared.runner import Job

RECALL = [name for name, recipe in meta_learning.RECIPES.items() if recipe.task == "recall"]
GLYPHS = [name for name, recipe in meta_learning.RECIPES.items() if recipe.task == "glyphs"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small batches and few tests."""
    monkeypatch.setattr(meta_learning, "TESTS", 20)
    monkeypatch.setitem(meta_learning.TRAINING, "batch", 4)


@pytest.mark.parametrize("name, best", once_on_the_card([*RECALL, *GLYPHS]), indirect=["best"])
def test_a_run_trains_and_measures_the_model_of_its_name(name, best, tmp_path):
    figures = checked_run(meta_learning, Job(name, 0, 2), tmp_path, best, kept=name.endswith("snail"))
    assert 0 <= figures["right"] <= 1
    if name in RECALL:
        assert figures["right_by_gap"].keys() == {"1", "2", "4", "8", "16", "32"}
    if "pixels" in name:
        assert figures["parameters"] == 0
        assert "losses" not in figures
    else:
        assert {"parameters", "seconds", "loss", "losses"} < figures.keys()


def test_each_model_is_of_its_kind():
    kinds = {name: type(meta_learning.build(name)) for name in meta_learning.RECIPES}
    assert kinds["recall_snail"] is Snail
    assert kinds["recall_attention_positions"] is nn.Sequential
    assert kinds["glyphs_snail"] is EpisodeReader
    assert kinds["glyphs_prototypes"] is PrototypicalNetwork
    assert kinds["glyphs_pixels"] is kinds["glyphs_pixels_blurred"] is PixelNeighbour
    blurs = [meta_learning.build(name).blur for name in ("glyphs_pixels", "glyphs_pixels_blurred")]
    assert blurs == [1, 3]


@pytest.mark.parametrize("task", ["recall", "glyphs"])
def test_each_half_of_snail_has_one_kind_of_block_only(task):
    def kinds(name):
        model = meta_learning.build(name)
        return {type(block) for block in getattr(model, "reader", model).blocks}

    assert len(kinds(f"{task}_snail")) == 2
    assert kinds(f"{task}_attention") == {CausalAttentionBlock}
    assert kinds(f"{task}_convolutions") == kinds(f"{task}_snail") - {CausalAttentionBlock}


# ---- tasks and figures


def test_training_and_test_share_no_sequence_and_no_class():
    train = meta_learning.RecallTask().batch_at(0, 4)
    assert torch.equal(train.inputs, online_recall(4, 1_000_003).inputs)
    assert not torch.equal(train.inputs, online_recall(4, meta_learning.TEST_SEED).inputs)
    steps = [meta_learning.GlyphTask().batch_at(step, 2, seed).images for step, seed in ((0, 0), (1, 0), (0, 1))]
    assert not torch.equal(steps[0], steps[1])
    assert not torch.equal(steps[0], steps[2])


class Remembering(nn.Module):
    """Finds the nearest earlier key and reads the value that came one step after it."""

    def forward(self, x):
        keys, values = x[..., :8], x[..., 8:]
        apart = torch.cdist(keys, keys)[:, :, :-1]
        earlier = torch.ones(x.shape[1], x.shape[1] - 1, dtype=torch.bool).tril(diagonal=-1)
        nearest = apart.masked_fill(~earlier, torch.inf).argmin(dim=-1)  # (B, T)
        return values.gather(1, (nearest + 1)[..., None].expand(-1, -1, 4)), None


class Constant(nn.Module):
    """Always the value 0."""

    def forward(self, x):
        return torch.tensor([1.0, 0, 0, 0]).expand(*x.shape[:2], 4), None


def test_recall_can_be_solved_from_what_is_shown_and_a_constant_is_at_chance(monkeypatch):
    monkeypatch.setattr(meta_learning, "TESTS", 300)
    good, bad = meta_learning.recall_figures(Remembering()), meta_learning.recall_figures(Constant())
    assert good["right"] > 0.99
    assert min(good["right_by_gap"].values()) > 0.97
    assert bad["right"] == pytest.approx(0.25, abs=0.04)


def test_the_loss_of_recall_is_taken_where_the_key_occurred_before():
    batch = online_recall(3)
    logits = torch.randn(3, 48, 4)
    wanted = torch.nn.functional.cross_entropy(logits[batch.seen], batch.values[batch.seen])
    assert torch.equal(meta_learning.recall_loss(lambda x: (logits, None), batch), wanted)
    logits[~batch.seen] += 100 * torch.randn(int((~batch.seen).sum()), 4)
    assert torch.equal(meta_learning.recall_loss(lambda x: (logits, None), batch), wanted)


def test_steps_since_seen_by_hand():
    which = torch.tensor([[3, 1, 3, 3, 1, 0]])
    assert meta_learning.steps_since_seen(which).tolist() == [[0, 0, 2, 1, 3, 0]]


def test_steps_since_seen_are_those_of_a_search():
    which = online_recall(5, seed=1).which
    found = meta_learning.steps_since_seen(which).tolist()
    for row, steps in zip(which.tolist(), found, strict=True):
        wanted = [next((ago for ago in range(1, t + 1) if row[t - ago] == key), 0) for t, key in enumerate(row)]
        assert steps == wanted
