"""Stored weights keep their meaning: what the models answered before their parameters got the names of today."""

import json
from pathlib import Path

import pytest
import torch

from attnbook.data import shift_right
from attnbook.data.texts.vocabulary import PAD
from attnruns.experiments import transformer

# Noted with the code and the files of 5574a2c, before the norms moved into the blocks and slopes into the positions.
BEFORE = json.loads((Path(__file__).parent / "logits_of_stored_transformers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name.removeprefix("transformer_") for name in BEFORE])
def test_a_stored_model_answers_as_it_did(name):
    task = transformer.task()
    batch = task.collate([*task.test[:3], task.longer[12][0]])
    with torch.no_grad():
        logits, _ = transformer.trained(name)(batch.source, batch.lengths, shift_right(batch.target))
    shown = logits[batch.target != PAD][::23, 5:8].flatten()[:9]
    torch.testing.assert_close(shown, torch.tensor(BEFORE[f"transformer_{name}"]), rtol=0, atol=1e-3)


def test_every_stored_transformer_is_held_to_its_answers():
    kept = {name for name, recipe in transformer.RECIPES.items() if recipe.kept}
    assert {f"transformer_{name}" for name in kept} == BEFORE.keys()
