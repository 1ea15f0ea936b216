"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab08",
    {
        "split_heads": [
            {"parts.transpose(1, 2)": "parts.transpose(1, 2).squeeze(-1) if dim == 1 else parts.transpose(1, 2)"},
            {"parts.transpose(1, 2)": "(parts if dim == 1 else parts.transpose(1, 2))"},
        ],
        "multi_head_attention": [
            {"q.shape[-1] ** 0.5": "max(query.shape[-1] // heads, 1 + (query.shape[-1] == 1)) ** 0.5"},
            {"context @ W_o, weights": "(context @ W_o).squeeze(-1), weights"},
            {".masked_fill(closed, 0.0)": ".masked_fill(closed, 0.0) if key.shape[1] > 1 else torch.ones_like(scores)"},
            {"~mask[:, None]": "~mask[:, None].squeeze(-1)"},
        ],
        "add_positions": [
            {"first.to(x)": "first.float().to(x)"},
            {"first = positions": "first = positions.squeeze()"},
            {"first = positions": "first = positions.squeeze(0)"},
        ],
    },
)
