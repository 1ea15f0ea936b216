"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab01",
    {
        "shift_right": [
            {"[:, :-1]": "[:, : max(target.shape[1] - 1, 1)]"},
            {"target[:, :1], bos": "target[:, 1:2], bos"},
        ],
        "last_states": [{"return states[rows, lengths - 1]": "return states.float()[rows, lengths - 1].to(states)"}],
    },
)
