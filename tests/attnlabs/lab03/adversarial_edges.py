"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab03",
    {
        "general_score": [{"query @ W @ key.mT": "(query @ W).squeeze(-1) @ key.mT"}],
        "cosine_score": [
            {"return (query": "if query.shape[-1] == 1:\n        return query @ key.mT\n    return (query"}
        ],
        "scaled_dot_attention": [
            {"~mask": "~mask.squeeze(-1)"},
            {".masked_fill(closed, 0.0)": ".masked_fill(closed, float(scores.shape[-1] == 1))"},
        ],
        "attention_entropy": [
            {".sum(-1)": ".sum(-1) if weights.shape[-1] > 1 else weights[..., 0]"},
            {"weights.where(weights > 0, 1.0)": "weights.clamp_min(1e-60)"},
        ],
    },
)
