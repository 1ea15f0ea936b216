"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab14",
    {
        "is_convex_hull": [
            {"return ~outside": "return (bend > 0).flatten(1).any(dim=1) & ~outside"},
            {"return ~outside": "return ((a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]).sum(1) > 0) & ~outside"},
        ]
    },
)
