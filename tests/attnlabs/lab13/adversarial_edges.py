"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab13",
    {
        "interpolate": [{"gate * content": "gate * content.float()"}],
        "read": [{"(weights[:, None] @ memory)[:, 0]": "(weights.float()[:, None] @ memory.float())[:, 0].to(memory)"}],
        "erase_and_add": [{"portion * add[:, None]": "portion * add.float()[:, None]"}],
    },
)
