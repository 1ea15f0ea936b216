"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab11",
    {
        "grouped_query_attention": [
            {"weights @ v, weights": "weights @ v, weights.squeeze(1)"},
            {".masked_fill(closed, 0.0)": ".masked_fill(closed, 0.0) if key.shape[2] > 1 else torch.ones_like(scores)"},
        ],
        "mask_for_bert": [{"draw[1] *": "draw.squeeze()[1] *"}],
        "perplexity": [{"losses.where(real, 0)": "losses.float().where(real, 0)"}],
    },
)
