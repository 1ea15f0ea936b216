"""Answers of lab 4 that came near to passing, passed once, or were once told another mistake than theirs."""

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


def window(centre, lengths, half_width, max_length):
    s = torch.arange(max_length)
    return ((s - centre[:, None]).abs() <= half_width) & (s < lengths[:, None])


def half_width_cut_down(centre, lengths, half_width, max_length):
    return window(centre.clamp(min=0).minimum(lengths - 1), lengths, int(half_width), max_length)


def moved_only_from_the_length_on(centre, lengths, half_width, max_length):
    moved = torch.where(centre >= lengths, (lengths - 1).to(centre), centre)
    return window(torch.where(centre <= -1, 0.0, moved), lengths, half_width, max_length)


def never_moved_back(centre, lengths, half_width, max_length):
    return window(torch.relu(centre), lengths, half_width, max_length)


def moved_to_the_row_s_end(centre, lengths, half_width, max_length):
    return window(centre.clamp(0, max_length - 1), lengths, half_width, max_length)


def moved_to_the_longest_sentence_s_end(centre, lengths, half_width, max_length):
    return window(centre.clamp(0, lengths.max().item() - 1), lengths, half_width, max_length)


def one_too_far_left(centre, lengths, half_width, max_length):
    s = torch.arange(1, max_length + 1)
    p = centre.clamp(min=0).minimum(lengths - 1)[:, None]
    return ((s - p).abs() <= half_width) & (s <= lengths[:, None])


def gaussian_of_a_whole_centre(centre, half_width, max_length):
    return torch.exp(-((torch.arange(max_length) - centre.long()[:, None]) ** 2) / (half_width**2 / 2))


def a_step(combined=None, asked=None, weights=None):
    """A step that is right, but for what is exchanged; a part of another width than its place stays as it is."""

    def answer(embedded, attentional, state, annotations, mask, score, cell, W_c):
        old, state = state, cell(torch.cat([embedded, attentional], -1), state)
        query = asked(old, attentional) if asked and attentional.shape == state.shape else state
        scores = score(query[:, None], annotations)[:, 0]
        found = weights(scores, mask) if weights else scores.masked_fill(~mask, -torch.inf).softmax(-1)
        context = (found[:, None] @ annotations)[:, 0]
        beside = combined(old, attentional) if combined and attentional.shape == state.shape else state
        return (torch.cat([context, beside], -1) @ W_c.mT).tanh(), state, found

    return answer


def first_words(scores, mask):
    rows = [row[: int(real.sum())].softmax(0) for row, real in zip(scores, mask, strict=True)]
    return torch.stack([torch.nn.functional.pad(row, (0, mask.shape[1] - len(row))) for row in rows])


fills_with_a_hundred = a_step(weights=lambda scores, mask: torch.where(mask, scores, -100.0).softmax(-1))
attends_to_the_first_words = a_step(weights=first_words)
WRONG = {
    "attentional_state": [weights_shared_by_the_batch],
    "input_feeding_step": {
        "combines what was fed, where it fits": a_step(combined=lambda old, attentional: attentional),
        "asks with what was fed, where it fits": a_step(asked=lambda old, attentional: attentional),
        "fills with a hundred": fills_with_a_hundred,
        "attends to the first words": attends_to_the_first_words,
    },
    "local_window_mask": [
        window_moved_at_the_end,
        half_width_cut_down,
        moved_only_from_the_length_on,
        never_moved_back,
        moved_to_the_row_s_end,
        moved_to_the_longest_sentence_s_end,
        one_too_far_left,
    ],
    "gaussian_window": [gaussian_of_a_whole_centre],
    "predicted_centre": [centre_of_the_mean_state],
}
NAMED = {
    fills_with_a_hundred: "a number not small enough",
    attends_to_the_first_words: "as many words from the first",
    half_width_cut_down: "half width cut to a whole number",
    never_moved_back: "a centre behind the last word",
    moved_to_the_row_s_end: "behind the row's end only",
    moved_to_the_longest_sentence_s_end: "moved into the longest sentence",
    one_too_far_left: "positions counted from 1",
    gaussian_of_a_whole_centre: "centre of the Gaussian cut down",
}
