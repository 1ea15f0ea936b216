"""Answers of lab 4 that came near to passing: slips that no list of mistakes foresees."""

import torch
import torch.nn.functional as F


def window_of_the_first_sentence(centre, lengths, half_width, max_length):
    s = torch.arange(max_length)
    p = torch.minimum(centre.clamp(min=0), (lengths - 1).to(centre.dtype))
    return ((s - p[0]).abs() <= half_width) & (s < lengths[:, None])


def window_moved_at_the_end(centre, lengths, half_width, max_length):
    """Keeps the window's width at the end of the sentence, as some libraries do."""
    s = torch.arange(max_length)
    p = torch.minimum(centre, (lengths - 1 - half_width).to(centre.dtype)).clamp(min=0)[:, None]
    return ((s - p).abs() <= half_width) & (s < lengths[:, None])


def gaussian_cut_at_the_window(centre, half_width, max_length):
    distance = torch.arange(max_length) - centre[:, None]
    return torch.exp(-2 * (distance / half_width) ** 2) * (distance.abs() <= half_width)


def centre_of_the_mean_state(hidden, lengths, W_p, v_p):
    return lengths * ((hidden.mean(0) @ W_p.mT).tanh() @ v_p).sigmoid()


def features_of_the_peak(previous, filters):
    peak = F.one_hot(previous.argmax(-1), previous.shape[1]).to(previous.dtype)
    return F.conv1d(peak[:, None], filters[:, None], padding=filters.shape[1] // 2).mT


def query_is_what_was_fed(embedded, attentional, state, annotations, mask, score, cell, W_c):
    new = cell(torch.cat([embedded, attentional], 1), state)
    scores = score(new[:, None], annotations).masked_fill(~mask[:, None], -1e9)
    weights = scores.softmax(-1)
    context = (weights @ annotations).mean(1)
    return torch.tanh(torch.cat([context, new], 1) @ W_c.mT), state, weights[:, 0]


def weights_shared_by_the_batch(context, hidden, W_c):
    return (torch.cat([context.mean(0).expand_as(context), hidden], 1) @ W_c.mT).tanh()


WRONG = {
    "attentional_state": [weights_shared_by_the_batch],
    "input_feeding_step": [query_is_what_was_fed],
    "local_window_mask": [window_of_the_first_sentence, window_moved_at_the_end],
    "gaussian_window": [gaussian_cut_at_the_window],
    "predicted_centre": [centre_of_the_mean_state],
    "location_features": [features_of_the_peak],
}
