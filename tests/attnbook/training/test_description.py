"""Descriptions: what a training is made of can be written down, is the same each time, and tells two apart."""

import json
import threading
from collections import namedtuple
from dataclasses import fields, replace
from functools import partial

import pytest
import torch
from torch import nn

from attnbook.attention import LocationAware
from attnbook.models import AttentionSeq2Seq, LanguageModel, Transformer, TransformerConfig
from attnbook.models.captioning import Captioner
from attnbook.training import ScheduledSampling, TwoPass, linear_decay, r_drop_loss
from attnbook.training.captioning import CaptionLoss, HardCaptionLoss
from attnbook.training.description import INSIDE, describe, differences
from attnbook.training.reinforce import MovingBaseline
from attnbook.training.rollout import RolloutLoss

SMALL = TransformerConfig(d_model=8, d_ff=16, layers=1, heads=2)
OTHER = {
    "d_model": 16, "heads": 4, "layers": 2, "d_ff": 8, "dropout": 0.1, "norm": "post", "positions": "learned",
    "cross_positions": "rotary", "max_length": 20, "window": 3, "tied": False, "fused": True, "normalisation": "rms",
    "feed_forward": "swiglu", "key_value_heads": 1, "bias": False,
    "rotary_base": 5000.0, "eps": 1e-6, "scale_words": False, "norm_words": True,
}  # fmt: skip


def differ(there, here) -> list[str]:
    """The names under which two things are described differently."""
    return [name for name, *_ in differences(*(json.loads(json.dumps(describe(one))) for one in (there, here)))]


def test_each_field_of_a_transformers_configuration_can_be_changed_here():
    assert OTHER.keys() == {one.name for one in fields(TransformerConfig)}


@pytest.mark.parametrize("name", OTHER)
def test_each_choice_about_a_transformer_shows(name):
    there, here = (Transformer(7, 7, config) for config in (SMALL, replace(SMALL, **{name: OTHER[name]})))
    assert differ(there, here)
    assert not differ(there, Transformer(7, 7, SMALL))


@pytest.mark.parametrize(
    "there, here",
    [
        (Captioner(9, "soft"), Captioner(9, "hard")),
        (AttentionSeq2Seq(7, 7), AttentionSeq2Seq(7, 7, cell="lstm")),
        (LocationAware(4, 4, 4), nn.Linear(4, 4)),
        (nn.Dropout(0.1), nn.Dropout(0.2)),
        (nn.GRU(3, 3, num_layers=2), nn.GRU(3, 3, num_layers=2, dropout=0.5)),
        (nn.LayerNorm(4), nn.LayerNorm(4, eps=1e-3)),
        (r_drop_loss, partial(r_drop_loss, weight=1.0)),
        (partial(r_drop_loss, weight=2.0), partial(r_drop_loss, weight=1.0)),
        (CaptionLoss(), CaptionLoss(1.0)),
        (HardCaptionLoss(), HardCaptionLoss(entropy=0.1)),
        (HardCaptionLoss(), HardCaptionLoss(baseline=MovingBaseline(0.5))),
        (RolloutLoss(), RolloutLoss(warmup=1)),
        (TwoPass(partial(linear_decay, slope=0.1)), TwoPass(partial(linear_decay, slope=0.2))),
        (TwoPass(partial(linear_decay, slope=0.1)), ScheduledSampling(partial(linear_decay, slope=0.1))),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.zeros(2, dtype=torch.bool), torch.tensor([False, True])),
        ([1.0, float("inf")], [1.0, float("nan")]),
        ({1, 2}, {1}),
    ],
)
def test_what_differs_is_described_differently(there, here):
    assert differ(there, here)
    assert not differ(there, there)


def test_a_function_shows_what_it_keeps_from_around_it():
    def loss_with(weight, task):
        return lambda model, batch: weight * task

    assert differ(loss_with(1.0, object()), loss_with(2.0, object())) == ["weight"]
    assert not differ(loss_with(1.0, object()), loss_with(1.0, object()))


def test_what_changes_while_it_is_used_is_not_described():
    loss, used = HardCaptionLoss(), HardCaptionLoss()
    used.baseline.update(torch.ones(2, 1, 3))
    assert not differ(loss, used)
    config = replace(SMALL, dropout=0.1)
    model, trained = LanguageModel(7, config), LanguageModel(7, config).train()
    trained(torch.ones(2, 3, dtype=torch.long))[0].sum().backward()
    assert not differ(model, trained.eval())


def test_a_batch_is_described_field_by_field():
    both = namedtuple("Both", "words length")
    there, here = both(torch.arange(3), 3), both(torch.arange(4), 3)
    assert differ(there, here) == ["words.shape.0", "words.digest"]
    assert describe(there)["class"] == "Both"


class Scaled:
    """A loss that keeps its scale under other names, and what changes while it is used."""

    def __init__(self, scale, hidden=0.0):
        self.k, self._secret = scale, hidden
        self.calls, self.cache, self.lock, self.generator = 0, {}, threading.Lock(), torch.Generator()

    def method(self, x):
        self.calls += 1
        self.cache[x] = self.k * x + torch.rand(1, generator=self.generator)


def called(does):
    return type("Called", (), {"__call__": does})()


def closed_over(kept):
    return lambda model, batch: kept


def with_default(kept):
    def loss(model, batch, weight=kept):
        return weight

    return loss


@pytest.mark.parametrize(
    "there, here",
    [
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: x in {"a", "b"}, lambda x: x in {"a", "c"}),
        (lambda x: [y + 1 for y in x], lambda x: [y + 2 for y in x]),
        (closed_over(torch.zeros(2)), closed_over(torch.ones(2))),
        (closed_over(lambda x: x + 1), closed_over(lambda x: x + 2)),
        (closed_over((1, 2)), closed_over((1, 3))),
        (with_default(1.0), with_default(2.0)),
        (Scaled(1.0), Scaled(2.0)),
        (called(lambda self, x: x + 1), called(lambda self, x: x + 2)),
        (Scaled(1.0), Scaled(1.0, hidden=1.0)),
        (Scaled(torch.zeros(2)), Scaled(torch.ones(2))),
        (Scaled(1.0).method, Scaled(2.0).method),
        (partial(Scaled(1.0).method, 3), partial(Scaled(2.0).method, 3)),
    ],
)
def test_what_is_inside_is_described(there, here):
    assert differ(there, here)
    assert not differ(there, there)


def test_what_an_object_counts_or_keeps_while_it_is_used_is_not_described():
    there, here = Scaled(1.0), Scaled(1.0)
    here.method(3)
    assert not differ(there, here)
    assert not differ(there.method, here.method)


def test_the_code_of_another_python_is_not_compared():
    there, here = (describe(one) for one in (with_default(1.0), with_default(1.0)))
    there[INSIDE]["code"] = {"python": "3.1", "digest": "another"}
    assert not list(differences(there, here))


def test_what_contains_itself_is_described_all_the_same():
    class Ring:
        def __init__(self, follows=None):
            self.follows = follows or self

    assert json.dumps(describe(Ring())).count("Ring") > 1


def test_differences_are_named_by_the_way_that_leads_there():
    there, here = {"a": {"b": [1, 2]}, "c": None, "d": 4}, {"a": {"b": [1, 3, 5]}, "d": {"e": 4}}
    assert list(differences(there, here)) == [("a.b.1", 2, 3), ("a.b.2", None, 5), ("d", 4, {"e": 4})]
