"""A made-up record of the experiment ``translate``: its shape is right, and none of its numbers was measured.

``python tests/helpers/made_up_translations.py FOLDER`` writes it there, to try chapter 18 with ``ATTNBOOK_RESULTS``.
"""

import json
import sys
from pathlib import Path

import torch

from attnbook.measure.translation import bleu_from_counts
from attnruns.experiments.translate import EXPERIMENT, RECIPES
from attnruns.shared.translation import BEAMS

SENTENCES = 300
SOURCE = ["▁Ein", "▁Hund", "▁läuft", "▁durch", "▁den", "▁Schnee", "."]
TARGET = ["▁A", "▁dog", "▁runs", "▁through", "▁the", "▁snow", "."]
LEVEL = {"plain": 0.60, "bahdanau": 0.70, "luong": 0.70, "gnmt": 0.68, "transformer": 0.74}  # share of right words
LAYERS = {"plain": 0, "transformer": 3}  # of cross-attention; one for the others


def made_up_counts(share: float, seed: int) -> tuple[torch.Tensor, list[int]]:
    """``(N, 10)`` as ``bleu_counts`` gives them, and how many words each source has; long sentences do worse."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(5, 25, (SENTENCES,), generator=torch.Generator().manual_seed(9))
    rows = []
    for length in words.tolist():
        totals = [length, length - 1, length - 2, length - 3]
        chance = share - 0.006 * length
        right = [
            int(torch.binomial(torch.tensor(float(total)), torch.tensor(chance**order), generator=generator))
            for order, total in zip((1, 1.6, 2.2, 2.8), totals, strict=True)
        ]
        rows.append([length, length, *right, *totals])
    return torch.tensor(rows), words.tolist()


def made_up_run(model: str, seed: int) -> dict:
    """What the experiment writes of one training."""
    recipe = RECIPES[model]
    counts, words = made_up_counts(LEVEL[recipe.kind], seed)
    bleu = round(float(bleu_from_counts(counts)), 2)
    score = {"bleu": bleu, "bleu_signature": "made up", "chrf": bleu + 20, "chrf_signature": "made up"}
    score["bleu_lower"] = bleu + 1
    both = {"greedy": {**score, "bleu": bleu - 0.8, "bleu_lower": bleu + 0.2}, "beam": score}
    layers = LAYERS.get(recipe.kind, 1)
    sharp = torch.eye(len(TARGET)) * 0.6 + 0.4 / len(TARGET)
    maps = [{"source": SOURCE, "target": TARGET, "weights": sharp.tolist()}] * 4
    run = {
        "model": model, "seed": seed, "steps": recipe.steps, "parameters": 3_000_000, "device": "cpu",
        "seconds": 3400.0 + 20 * seed, "wall_seconds": 3600.0, "pieces_per_second": 20_000,
        "losses": [1.5 + 5 / (1 + step / 4) for step in range(40)],
        "validations": [(recipe.steps * part // 20, 1.3 + 3 / part) for part in range(1, 21)],
        "validation_before_averaging": {"loss": 1.5, "bleu": bleu - 0.5}, "validation_loss": 1.45,
        "validation_loss_per_word": 2.0, "ended_at": recipe.steps,
        "scores": dict.fromkeys(("validation", "test_2016_flickr", "test_2017_flickr"), both),
        "bleu_counts": [" ".join(map(str, row)) for row in counts.tolist()], "source_words": words,
        "later_bleu_counts": {"test_2017_flickr": [" ".join(map(str, row)) for row in counts.tolist()]},
        "samples": [{"source": "Ein Hund läuft.", "reference": "A dog runs.", "translation": "A dog is running."}] * 20,
        "alignments": maps if layers else [],
        "alignment_error_rates": [0.5 - 0.1 * layer for layer in range(layers)] if recipe.pair == "de-en" else [],
    }  # fmt: skip
    if model == "transformer_de_en" and seed == 0:
        run["beams"] = [
            {"width": width, "alpha": alpha, "bleu": bleu + 0.1 * width, "length_ratio": 0.95 + 0.03 * alpha}
            for width, alpha in BEAMS
        ]
    return run


def made_up_translations(seeds: int = 3) -> dict:
    """The record of the ten models with that many seeds each."""
    models = [name for name, recipe in RECIPES.items() if recipe.text == "multi30k" and recipe.tested]
    return {
        "name": "translate", "command": "none: these numbers are made up", "commit": "0000000", "device": "cpu",
        "threads": 1, "seconds": 0.0, "versions": {"python": "3"}, "seeds": list(range(seeds)),
        "settings": EXPERIMENT.settings, "runs": [made_up_run(name, seed) for name in models for seed in range(seeds)],
    }  # fmt: skip


if __name__ == "__main__":
    (Path(sys.argv[1]) / "translate.json").write_text(json.dumps(made_up_translations()), encoding="utf-8")
