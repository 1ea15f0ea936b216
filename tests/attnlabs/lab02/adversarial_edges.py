"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab02",
    {
        "additive_score": [
            {"pairs.tanh() @ v": "pairs.tanh().squeeze(-1) @ v if len(v) > 1 else pairs.tanh().squeeze(-1)"}
        ],
        "weight_sum": [{"weights @ value": "(weights[..., None] * value[:, None]).squeeze(-1).sum(2)"}],
        "attention_backward": [{"(weights * grad_weights).sum": "(weights * grad_weights).squeeze(-1).sum"}],
        "decoder_step": [
            {"softmax(-1).masked_fill(closed, 0.0)": "softmax(-1)"},
            {"softmax(-1).masked_fill(closed, 0.0)": "softmax(-1).nan_to_num(1 / mask.shape[1])"},
            {"-torch.inf": "torch.finfo(scores.dtype).min", ".masked_fill(closed, 0.0)": ""},
        ],
    },
)
