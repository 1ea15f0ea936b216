"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WEIGHTS = "masked_softmax(scores, mask[:, None])"
FILLED = "scores.masked_fill(~mask[:, None], {}).softmax(-1)"
AS_IF_WORDS_CAME_FIRST = "    mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)\n"

WRONG = edited(
    "lab02",
    {
        "additive_score": [
            {"pairs.tanh() @ v": "pairs.tanh().squeeze(-1) @ v if len(v) > 1 else pairs.tanh().squeeze(-1)"}
        ],
        "weight_sum": [{"weights @ value": "(weights[..., None] * value[:, None]).squeeze(-1).sum(2)"}],
        "attention_backward": [{"(weights * grad_weights).sum": "(weights * grad_weights).squeeze(-1).sum"}],
        "decoder_step": [
            {WEIGHTS: FILLED.format("-torch.inf")},
            {WEIGHTS: FILLED.format("-torch.inf") + ".nan_to_num(1 / mask.shape[1])"},
            {WEIGHTS: FILLED.format("torch.finfo(scores.dtype).min")},
            {"    scores = ": AS_IF_WORDS_CAME_FIRST + "    scores = "},
        ],
    },
)
