"""Answers of lab 5 that came near to passing: slips that no list of mistakes foresees."""

import torch


def residual_where_shapes_agree(x, context, layers, first_residual):
    for layer in layers:
        out = layer(x if context is None else torch.cat([x, context], -1))
        x = x + out if x.shape == out.shape else out
    return x


def residual_in_every_other_layer(x, context, layers, first_residual):
    for i, layer in enumerate(layers, 1):
        out = layer(x if context is None else torch.cat([x, context], -1))
        x = x + out if i >= first_residual and (i - first_residual) % 2 == 0 else out
    return x


def backward_rolled(x, lengths, forward_layer, backward_layer):
    """Moves the words to the front after flipping the row, but the outputs not back to the end."""
    back = torch.stack([row.flip(0).roll(int(n), 0) for row, n in zip(x, lengths, strict=True)])
    out = torch.cat([forward_layer(x), backward_layer(back).flip(1)], -1)
    return out * (torch.arange(x.shape[1]) < lengths[:, None])[..., None]


def padding_zeroed_before_the_flip(x, lengths, forward_layer, backward_layer):
    """Zeros at padding leave the state at zero, as long as it is zero: right, until x itself is zeroed only there."""
    real = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    return torch.cat([forward_layer(x), backward_layer(x.flip(1)).flip(1)], -1) * real


def length_of_the_first_sentence(tokens, bos, pad, alpha):
    length = ((tokens[0] != bos) & (tokens[0] != pad)).sum()
    return (((5 + length) / 6) ** alpha).expand(len(tokens))


def length_up_to_two(tokens, bos, pad, alpha):
    """Takes the end symbol to be number 2, whatever the numbers of the others."""
    length = ((tokens != bos) & (tokens != pad) & (tokens != 2)).sum(-1) + 1
    return ((5 + length) / 6) ** alpha


def coverage_of_the_last_word(weights, written, mask, beta, least=1e-6):
    return beta * (weights[:, -1].clamp(least, 1).log() * mask).sum(-1)


def coverage_by_the_largest_weight(weights, written, mask, beta, least=1e-6):
    return beta * ((weights * written[..., None]).amax(1).clamp(least, 1).log() * mask).sum(-1)


def rounded_up_instead_of_clamped(weights, written, mask, beta, least=1e-6):
    """Leaves forgotten words out: the log of 0 counts as 0."""
    received = (weights * written[..., None]).sum(1).clamp(max=1)
    return beta * torch.where((received > 0) & mask, received.log(), 0.0).sum(-1)


def words_squared(gradients, words):
    total = sum(n * n for n in words)
    kept = [(worker, n * n / total) for worker, n in zip(gradients, words, strict=True) if n]
    return [sum(share * worker[p] for worker, share in kept) for p in range(len(gradients[0]))]


def first_parameter_weighted(gradients, words):
    kept = [(worker, n / sum(words)) for worker, n in zip(gradients, words, strict=True) if n]
    first = sum(share * worker[0] for worker, share in kept)
    return [first, *(sum(worker[p] for worker, _ in kept) / len(kept) for p in range(1, len(gradients[0])))]


WRONG = {
    "residual_stack": [residual_where_shapes_agree, residual_in_every_other_layer],
    "bidirectional_first_layer": [backward_rolled, padding_zeroed_before_the_flip],
    "length_penalty": [length_of_the_first_sentence, length_up_to_two],
    "coverage_penalty": [coverage_of_the_last_word, coverage_by_the_largest_weight, rounded_up_instead_of_clamped],
    "average_gradients": [words_squared, first_parameter_weighted],
}
