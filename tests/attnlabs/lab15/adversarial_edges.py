"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab15",
    {
        "causal_convolution": [
            {
                "F.pad(x.mT": "F.pad(x.float().mT",
                "padded, weight,": "padded, weight.float(),",
                "dilation=dilation).mT": "dilation=dilation).mT.to(x)",
            },
            {"dilation=dilation).mT": "dilation=dilation).mT.squeeze(-1)"},
            {"dilation=dilation).mT": "dilation=dilation).mT.squeeze(0)"},
        ],
        "dense_block": [
            {"new * open_by": "(new * open_by).float()"},
            {"causal_convolution(x, gate, dilation)": "causal_convolution(x, gate, dilation).squeeze(-1)"},
        ],
        "causal_attention_block": [
            {"weights @ value], dim=-1": "(weights @ value).squeeze(-1)], dim=-1"},
            {"dim=-1), weights": "dim=-1), weights.squeeze(0)"},
            {"query.shape[-1] ** 0.5": "max(query.shape[-1], 2) ** 0.5"},
        ],
        "few_shot_episode": [{"[:ways]": "[: max(ways, 2)]"}],
        "regret": [{"probabilities.amax(dim=1, keepdim=True)": "probabilities.float().amax(dim=1, keepdim=True)"}],
    },
)
