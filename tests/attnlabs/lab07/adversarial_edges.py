"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab07",
    {
        "self_attention": [
            {"return weights @ v, weights": "return (weights @ v).squeeze(-1), weights"},
            {"scores = q @ k.mT": "scores = q.squeeze(-1) @ k.mT"},
            {"q.shape[-1] ** 0.5": "max(q.shape[-1], 2) ** 0.5"},
        ]
    },
)
