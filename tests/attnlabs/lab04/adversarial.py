"""Answers of lab 4 that came near to passing: slips that no list of mistakes foresees."""

import torch


def window_moved_at_the_end(centre, lengths, half_width, max_length):
    """Keeps the window's width at the end of the sentence, as some libraries do."""
    s = torch.arange(max_length)
    p = torch.minimum(centre, (lengths - 1 - half_width).to(centre.dtype)).clamp(min=0)[:, None]
    return ((s - p).abs() <= half_width) & (s < lengths[:, None])


def centre_of_the_mean_state(hidden, lengths, W_p, v_p):
    return lengths * ((hidden.mean(0) @ W_p.mT).tanh() @ v_p).sigmoid()


def weights_shared_by_the_batch(context, hidden, W_c):
    return (torch.cat([context.mean(0).expand_as(context), hidden], 1) @ W_c.mT).tanh()


WRONG = {
    "attentional_state": [weights_shared_by_the_batch],
    "local_window_mask": [window_moved_at_the_end],
    "predicted_centre": [centre_of_the_mean_state],
}
