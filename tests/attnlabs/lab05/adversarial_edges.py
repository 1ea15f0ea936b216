"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab05",
    {
        "residual_stack": [
            {"layer(inputs)": "layer(inputs).squeeze(1)"},
            {"layer(inputs)": "layer(inputs).squeeze(0)"},
        ],
        "bidirectional_first_layer": [
            {"last - positions, positions)[..., None]": "last - positions, positions).squeeze()[..., None]"},
            {"forward_layer(x)": "forward_layer(x).squeeze(-1)"},
        ],
        "length_penalty": [{".sum(-1)": ".sum(-1).clamp(min=1)"}],
        "coverage_penalty": [
            {"received.clamp(least, 1.0).log()": "(received / written.any(1, keepdim=True)).clamp(least, 1.0).log()"},
            {"(covered * mask).sum(-1)": "(covered * mask).sum(-1) * written.any(-1)"},
            {"(covered * mask).sum(-1)": "(covered * mask).sum(-1) / mask.any(-1)"},
        ],
    },
)
