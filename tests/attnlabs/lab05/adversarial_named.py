"""Wrong answers as students write them, and the names under which they are known."""

import torch


def joined(x, context):
    return x if context is None else torch.cat([x, context], -1)


def only_from_the_first_residual_layer(x, context, layers, first_residual):
    for number, layer in enumerate(layers, 1):
        out = layer(joined(x, context))
        if number >= first_residual:
            x = x + out
    return x


def outputs_summed_beside_the_stack(x, context, layers, first_residual):
    result = 0
    for number, layer in enumerate(layers, 1):
        x = layer(joined(x, context))
        result = result + x if number >= first_residual else x
    return result


def old_input_kept_too_long(x, context, layers, first_residual):
    skip = x
    for i, layer in enumerate(layers):
        out = layer(joined(x, context))
        new = out if i + 1 < first_residual else out + (x if i + 1 == first_residual else skip)
        skip, x = x, new
    return x


def real(x, lengths):
    return (torch.arange(x.shape[1]) < lengths[:, None])[..., None]


def turned(x, lengths):
    return torch.stack([torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(x, lengths.tolist(), strict=True)])


def one_length_for_all(x, lengths, forward_layer, backward_layer):
    same = lengths[:1].expand(len(x))
    return torch.cat([forward_layer(x), turned(backward_layer(turned(x, same)), same)], -1) * real(x, lengths)


def outputs_flipped(x, lengths, forward_layer, backward_layer):
    return torch.cat([forward_layer(x), backward_layer(turned(x, lengths)).flip(1)], -1) * real(x, lengths)


def words_flipped(x, lengths, forward_layer, backward_layer):
    return torch.cat([forward_layer(x), turned(backward_layer(x.flip(1)), lengths)], -1) * real(x, lengths)


def reads_the_other_layer(x, lengths, forward_layer, backward_layer):
    forward = forward_layer(x)
    return torch.cat([forward, turned(backward_layer(turned(forward, lengths)), lengths)], -1) * real(x, lengths)


def or_for_and(tokens, bos, pad, alpha):
    length = ((tokens != bos) | (tokens != pad)).sum(-1)
    return ((5 + length) / 6) ** alpha


def loop_that_keeps_the_last(tokens, bos, pad, alpha):
    for row in tokens:
        length = ((row != bos) & (row != pad)).sum()
    return ((5 + length) / 6) ** alpha * torch.ones(len(tokens))


def count_never_reset(tokens, bos, pad, alpha):
    count, found = 0, []
    for row in tokens.tolist():
        for word in row:
            count += word not in (bos, pad)
        found.append(((5 + count) / 6) ** alpha)
    return torch.tensor(found)


def zeros_only(weights, written, mask, beta, least=1e-6):
    received = (weights * written[..., None]).sum(1)
    received = torch.where(received == 0, least, received).clamp(max=1)
    return beta * (received.log() * mask).sum(-1)


def raised_before_the_sum(weights, written, mask, beta, least=1e-6):
    received = (weights.clamp(least, 1) * written[..., None]).sum(1)
    return beta * (received.clamp(max=1).log() * mask).sum(-1)


def sum_from_the_first_worker(gradients, words):
    sums = [words[0] / sum(words) * part for part in gradients[0]]
    for parts, n in list(zip(gradients, words, strict=True))[1:]:
        if n:
            sums = [total + n / sum(words) * part for total, part in zip(sums, parts, strict=True)]
    return sums


def broken_off(gradients, words):
    sums = [torch.zeros_like(part) for part in gradients[0]]
    for parts, n in zip(gradients, words, strict=True):
        if n == 0:
            break
        for total, part in zip(sums, parts, strict=True):
            total += n / sum(words) * part
    return sums


def shares_as_a_float32_tensor(gradients, words):
    shares = torch.tensor(words) / sum(words)
    return [sum(s * g for s, g in zip(shares, parts, strict=True) if s > 0) for parts in zip(*gradients, strict=True)]


NAMED = {
    only_from_the_first_residual_layer: "the lower layers skipped",
    outputs_summed_beside_the_stack: "the outputs added up",
    old_input_kept_too_long: "the input of the layer below added",
    one_length_for_all: "the first sentence's length for all",
    outputs_flipped: "the outputs reversed as whole rows",
    words_flipped: "the words reversed as whole rows",
    reads_the_other_layer: "the backward layer reads the forward outputs",
    or_for_and: "all columns counted",
    loop_that_keeps_the_last: "the last sentence's length for all",
    count_never_reset: "the count goes on in the next row",
    zeros_only: "only zeros replaced",
    raised_before_the_sum: "each weight raised to least",
    sum_from_the_first_worker: "the sum begins with NaN",
    broken_off: "stops at a worker without words",
    shares_as_a_float32_tensor: "shares in single precision",
}
WRONG = {
    "residual_stack": [only_from_the_first_residual_layer, outputs_summed_beside_the_stack, old_input_kept_too_long],
    "bidirectional_first_layer": [one_length_for_all, outputs_flipped, words_flipped, reads_the_other_layer],
    "length_penalty": [or_for_and, loop_that_keeps_the_last, count_never_reset],
    "coverage_penalty": [zeros_only, raised_before_the_sum],
    "average_gradients": [sum_from_the_first_worker, broken_off, shares_as_a_float32_tensor],
}
