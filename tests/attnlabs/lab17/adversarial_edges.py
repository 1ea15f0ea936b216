"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited("lab17", {"relative_bias": [{"-slopes[:, None, None]": "-slopes.float()[:, None, None].to(slopes)"}]})
