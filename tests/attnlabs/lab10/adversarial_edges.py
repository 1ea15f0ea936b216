"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab10",
    {
        "sample_with_temperature": [
            {"(logits / temperature).softmax(-1)": "F.normalize((logits / temperature).exp(), p=1, dim=-1, eps=0)"}
        ],
        "length_normalised": [
            {"(tokens == eos).any(-1)": "(tokens == eos).squeeze().any(-1)"},
            {"(tokens == eos).any(-1)": "(tokens[..., -1] == eos) * (tokens.shape[-1] > 1)"},
        ],
    },
)
