"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab16",
    {
        "feature_map_attention": [
            {"(query @ key.mT)": "(query.squeeze(-1) @ key.mT)"},
            {"batch, -1, height, width)": "batch, -1, height, width).squeeze(-1)"},
        ],
        "gated_residual": [{"gamma * attended": "gamma * attended.squeeze(1)"}],
        "spectral_norm_step": [
            {"weight.flatten(1)": "weight.squeeze().flatten(1)"},
            {"sigma = u @ matrix @ v": "sigma = u.float() @ matrix.float() @ v.float()"},
            {
                "weight.flatten(1)": "weight.flatten(1).squeeze(0).view(len(u), -1)",
                "matrix @ v, dim=0": "(matrix @ v).squeeze() , dim=0",
            },
        ],
    },
)
