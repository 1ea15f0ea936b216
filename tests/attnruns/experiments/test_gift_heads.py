"""Heads that point to a name are replaced in a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_names

from attnruns.experiments import gift_heads
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    pretrained = tiny_for_names(monkeypatch, gift_heads)
    values = {"GROUP": 2, "DRAWS": 1, "CHOOSE": 2, "FOR_MEAN": 2, "THINGS": ("7", "8")}
    for name, value in (values | {"FRAME": "1 {giver} 2 {receiver} {thing} 3 {again} 4 {thing} 5"}).items():
        monkeypatch.setattr(gift_heads, name, value)
    monkeypatch.setattr(gift_heads, "make_name", lambda draw: str(int(torch.randint(10, 120, (), generator=draw))))
    return pretrained


def test_a_run_measures_with_and_without_heads(tmp_path):
    figures = checked_run(gift_heads, Job("gifts", 0, 4), tmp_path, "cpu")
    assert len(figures["heads"]) == 4
    assert len(figures["others"]) == 1
    weights = [weight for *_, weight in figures["heads"]]
    assert weights == sorted(weights, reverse=True)
    for name in ("all", "once", "first", "group"):
        assert figures[name].keys() == {"receiver", "giver", "right"}
    assert figures["all"]["receiver"] != figures["group"]["receiver"]


def test_a_sentence_breaks_off_before_the_receiver(tiny):
    once, twice = (gift_heads.gift_of(tiny, "50", "60", "7", of) for of in (False, True))
    assert once.ids.tolist() == [[1, 50, 2, 60, 7, 3, 50, 4, 7, 5]]
    assert (once.receiver, once.giver, once.at, once.twice) == (60, 50, [3], False)
    assert twice.ids.tolist() == [[1, 50, 2, 60, 7, 3, 60, 4, 7, 5]]
    assert twice.at == [3, 6]
    assert gift_heads.gift_of(tiny, "50", "50", "7", False) is None  # nothing tells the two apart
    assert gift_heads.gift_of(tiny, "50", "7", "7", False) is None  # the thing has the receiver's name


def test_every_second_sentence_names_the_receiver_twice(tiny):
    assert [gift.twice for gift in gift_heads.gifts(tiny, 4, seed=0)] == [False, True, False, True]
    first, again = ([gift.ids.tolist() for gift in gift_heads.gifts(tiny, 3, seed=0)] for _ in range(2))
    assert first == again


def test_heads_are_ordered_by_their_weight_on_the_receiver(tiny, monkeypatch):
    monkeypatch.setattr(gift_heads, "CHOOSE", 1)
    found = gift_heads.pointing_heads(tiny, seed=0)
    (gift,) = gift_heads.gifts(tiny, 1, seed=gift_heads.FOR_CHOICE)
    (layer, head), weight = found[0]
    assert len(found) == 6
    assert weight == pytest.approx(tiny.model.maps(gift.ids)[layer][0, head, -1, gift.at].sum().item(), abs=1e-3)


def test_what_is_told_are_the_probabilities_of_both_names():
    gift = gift_heads.Gift(torch.tensor([[1]]), receiver=2, giver=0, at=[0], twice=False)
    assert gift_heads.told(torch.tensor([1.0, 2.0, 3.0]).log(), gift) == pytest.approx([1 / 2, 1 / 6, 1])
    assert gift_heads.told(torch.tensor([3.0, 2.0, 1.0]).log(), gift)[2] == 0
    assert gift_heads.means_of([[0.1, 0.2, 1], [0.3, 0.2, 0]]) == {"receiver": 0.2, "giver": 0.2, "right": 0.5}


def test_sentences_differ_by_their_seed(tiny):
    one, other = (list(gift_heads.gifts(tiny, 2, seed)) for seed in (0, 1))
    assert [gift.ids.tolist() for gift in one] != [gift.ids.tolist() for gift in other]
