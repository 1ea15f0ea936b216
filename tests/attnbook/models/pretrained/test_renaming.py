"""Names of files become ours, and what our blocks are not is refused."""

import pytest
import torch

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.renaming import refuse, renamed


def test_names_are_ours_and_a_name_without_a_rule_stays():
    names = ["tok.weight", "blk.12.q.bias", "blk.x.q.bias", "blk.3.other.weight", "lonely"]
    found = renamed({name: torch.zeros(0) for name in names}, {"tok": "words"}, "blk.{}.", {"q": "query"})
    ours = ["words.weight", "blocks.layers.12.query.bias", "blk.x.q.bias", "blk.3.other.weight", "lonely"]
    assert list(found) == ours


def test_a_fact_that_is_said_must_be_ours():
    refuse({"hidden_act": "gelu", "bias": None}, hidden_act="gelu", bias=True, scale=1.0)
    with pytest.raises(WeightsError, match="the model has hidden_act = 'relu', and the book's blocks have 'gelu' only"):
        refuse({"hidden_act": "relu"}, hidden_act="gelu")
