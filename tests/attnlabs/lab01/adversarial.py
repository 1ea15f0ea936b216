"""Answers that came near to passing, or passed once: slips that no list of mistakes foresees."""

import torch
from torch.nn import functional as F


def word_losses(logits, target):
    return -logits.log_softmax(-1).gather(2, target[..., None])[..., 0]


def sentence_by_sentence(logits, target, pad):
    pairs = zip(logits, target, strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).mean()


def in_single_precision(logits, target, pad):
    return word_losses(logits.float(), target)[target != pad].mean()


def drops_end_symbols(target, bos):
    rows = [[bos] + [word for word in row[:-1] if word != 2] for row in target.tolist()]
    return torch.tensor([row + [0] * (target.shape[1] - len(row)) for row in rows])


def padding_summed(logits, target, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="sum") / (target != pad).sum()


def each_word_selected_everywhere(logits, target, pad):
    real = target != pad
    return -(logits.log_softmax(-1)[:, :, target] * real).sum() / real.sum()


def returns_in_the_loop(logits, target, pad):
    total, count = 0, 0
    for sentence, words in zip(logits, target, strict=True):
        for numbers, word in zip(sentence, words, strict=True):
            if word != pad:
                total, count = total - numbers.log_softmax(0)[word], count + 1
        return total / count


def minus_a_billion_for_pad(logits, target, pad):
    logits = logits.index_fill(2, torch.tensor(pad), -1e9)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad)


def joined_below(target, bos):
    return torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]])


def only_words_shifted(target, bos):
    moved = torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]], 1)
    return torch.where(target == 0, 0, moved)


def in_place_by_slices(target, bos):
    target[:, 0] = bos
    target[:, 1:] = target[:, :-1]
    return target


def sentence_by_sentence_into_zeros(step, state, bos, eos, max_length):
    result = torch.zeros(len(state), max_length, dtype=torch.long)
    for b in range(len(state)):
        token, own = torch.tensor([bos]), state[b : b + 1]
        for t in range(max_length):
            logits, own = step(token, own)
            token = logits.argmax(-1)
            result[b, t] = token[0]
            if token[0] == eos:
                break
    return result


def rest_filled_with_zeros(step, state, bos, eos, max_length):
    words = _until_all_end(step, state, bos, eos, max_length, lambda logits: logits.argmax(-1))
    return F.pad(words, (0, max_length - words.shape[1]))


def largest_in_size(step, state, bos, eos, max_length):
    return _until_all_end(step, state, bos, eos, max_length, lambda logits: logits.abs().argmax(-1))


def best_begins_with_0(step, state, bos, eos, max_length):
    def search(logits):
        found = [0] * len(logits)
        for row, numbers in enumerate(logits.tolist()):
            best = 0.0
            for word, number in enumerate(numbers):
                if number > best:
                    best, found[row] = number, word
        return torch.tensor(found)

    return _until_all_end(step, state, bos, eos, max_length, search)


def until_all_have_ended(step, state, bos, eos, max_length):
    return _until_all_end(step, state, bos, eos, 10**6, lambda logits: logits.argmax(-1))


def _until_all_end(step, state, bos, eos, max_length, choose):
    token, words = torch.full((len(state),), bos), []
    ended = torch.zeros(len(state), dtype=torch.bool)
    while len(words) < max_length and not ended.all():
        logits, state = step(token, state)
        token = choose(logits).masked_fill(ended, eos)
        ended = ended | (token == eos)
        words.append(token)
    return torch.stack(words, 1)


def mean_of(hits):
    return {length: sum(found) / len(found) for length, found in hits.items()}


def each_target_once(predictions, targets, source_lengths):
    hits, seen = {}, []
    for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
        if target not in seen:
            hits.setdefault(length, []).append(prediction == target)
            seen.append(target)
    return mean_of(hits)


def anywhere_among_targets(predictions, targets, source_lengths):
    hits = {}
    for prediction, length in zip(predictions, source_lengths, strict=True):
        hits.setdefault(length, []).append(any(prediction == target for target in targets))
    return mean_of(hits)


def all_words_of_a_length(predictions, targets, source_lengths):
    hits = {}
    for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
        found = hits.setdefault(length, [])
        for word, wanted in zip(prediction, target, strict=False):
            found.append(word == wanted)
    return mean_of(hits)


def overwrites_the_comparison(predictions, targets, source_lengths):
    hits = {}
    for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
        right = True
        for word, wanted in zip(prediction, target, strict=False):
            right = word == wanted
        hits.setdefault(length, []).append(right)
    return mean_of(hits)


def all_words_of_the_target(predictions, targets, source_lengths):
    hits = {}
    for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
        same = sum(word == wanted for word, wanted in zip(prediction, target, strict=False))
        hits.setdefault(length, []).append(same == len(target))
    return mean_of(hits)


WRONG = {
    "sequence_loss": {
        "sentence by sentence": sentence_by_sentence,
        "clamps": lambda logits, target, pad: word_losses(logits, target)[target != pad].clamp(max=100).mean(),
        "in single precision": in_single_precision,
        "sums the padding": padding_summed,
        "selects each word everywhere": each_word_selected_everywhere,
        "makes pad impossible": minus_a_billion_for_pad,
        "returns in the loop": returns_in_the_loop,
    },
    "shift_right": [drops_end_symbols, joined_below, only_words_shifted, in_place_by_slices],
    "greedy_decode": [
        until_all_have_ended,
        sentence_by_sentence_into_zeros,
        rest_filled_with_zeros,
        largest_in_size,
        best_begins_with_0,
    ],
    "exact_match_by_length": [
        each_target_once,
        anywhere_among_targets,
        overwrites_the_comparison,
        all_words_of_a_length,
        all_words_of_the_target,
    ],
}
NAMED = {
    sentence_by_sentence: "mean of the sentences' means",
    in_single_precision: "another dtype",
    padding_summed: "padding in the sum",
    each_word_selected_everywhere: "every step with every word",
    minus_a_billion_for_pad: "padding made impossible",
    returns_in_the_loop: "only the first sentence",
    overwrites_the_comparison: "the last word decides",
    drops_end_symbols: "end symbol left out",
    joined_below: "joined along the batch",
    only_words_shifted: "end symbol left out",
    in_place_by_slices: "bos everywhere",
    sentence_by_sentence_into_zeros: "0 after the end, up to max_length",
    rest_filled_with_zeros: "0 after the last end",
    best_begins_with_0: "logits below 0 passed over",
    anywhere_among_targets: "compared with all targets",
    all_words_of_a_length: "words counted over all sentences",
    all_words_of_the_target: "further words ignored",
}
