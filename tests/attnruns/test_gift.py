"""What chapter 14 shows of SmolLM2 is what the model does."""

import json
from pathlib import Path

import pytest
import torch

from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import fetch, kept

STORED = Path(__file__).parents[2] / "results/weights/smollm2_gift.json"
TEXT = "Gife gave Ruvis a violin and then Ruvis went home. So a violin was given to Ruvis by"


@torch.no_grad()
def measured() -> dict:
    """Two heads' rows over the source, the head with the largest weight on Ru at *to*, and the most probable pieces."""
    smollm2 = load(fetch("smollm2"))
    tokens = torch.tensor([smollm2.tokenizer.encode(TEXT).ids])  # (1, 23)
    maps = torch.stack([of[0] for of in smollm2.model.maps(tokens)])  # (30, 9, T, T)
    following = smollm2.model(tokens)[0][0].softmax(dim=-1)  # (T, V)
    pieces = [smollm2.tokenizer.decode([token]).strip() for token in tokens[0].tolist()]
    at = {name: pieces.index(name) if name != "Ru" else 20 for name in ("to", "Ru", "by")}
    likely = {name: following[row].max(dim=0) for name, row in at.items()}
    largest = maps[:, :, at["to"], [3, 9]].sum(dim=-1).argmax().item()
    return {
        "pieces": pieces,
        "weights": {
            "to": [round(x, 4) for x in maps[24, 4, at["to"], :14].tolist()],
            "Ru": [round(x, 4) for x in maps[18, 6, at["Ru"], :14].tolist()],
        },
        "largest": [largest // 9 + 1, largest % 9 + 1],
        "next": {
            name: [smollm2.tokenizer.decode([of.indices.item()]).strip(), round(of.values.item(), 4)]
            for name, of in likely.items()
        },
    }


@pytest.mark.skipif(kept("smollm2") is None, reason="SmolLM2 is not here: python -m attnbook.pretrained smollm2")
def test_what_is_stored_is_what_the_model_does():
    stored, now = json.loads(STORED.read_text(encoding="utf-8")), measured()
    assert [stored["pieces"], stored["largest"]] == [now["pieces"], now["largest"]]
    for name, row in stored["weights"].items():
        assert now["weights"][name] == pytest.approx(row, abs=2e-3)
    for name, (piece, probability) in stored["next"].items():
        assert now["next"][name][0] == piece
        assert now["next"][name][1] == pytest.approx(probability, abs=2e-3)
