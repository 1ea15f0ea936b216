"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab06",
    {
        "image_to_annotations": [{"features.flatten(2)": "features.squeeze(1).flatten(-2)"}],
        "doubly_stochastic_penalty": [
            {".mean()": "[mask.any(1)].mean()"},
            {"((1 - received) ** 2)": "((1 - received) ** 2 * mask.any(1, keepdim=True))"},
        ],
        "pointing_accuracy": [{"hits[naming]": "hits[naming & (inside.sum(-1) < inside.shape[-1])]"}],
        "sample_location": [
            {"drawn.view(weights.shape[:2])": "drawn.view(weights.shape[:2]).squeeze()"},
            {"drawn.view(weights.shape[:2])": "drawn.view(weights.shape[:2]).squeeze(0)"},
            {"drawn.view(weights.shape[:2])": "drawn.view(weights.shape[:2]).squeeze(1)"},
        ],
        "reinforce_loss": [
            {"return -(advantage * log_prob).mean()": "return -(advantage * log_prob)[mask.any(1)].mean()"},
            {"(log_probs * mask": "(log_probs.float() * mask"},
            {".sum(dim=-1)  # (B, N, T)": ".sum(dim=-1) / mask.any(1, keepdim=True)  # (B, N, T)"},
        ],
    },
)
