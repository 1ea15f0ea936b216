"""Answers that came near to passing, or passed once: students' slips that no list of mistakes foresees."""

import pytest
import torch
from torch.nn import functional as F

from attnbook.checks import evaluate


def attend(scores, mask, value):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ value, weights


def scaled(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def skips_a_closed_mask(query, key, value, mask=None):
    if mask is None or mask.sum() == 0:
        return attend(scaled(query, key), None, value)
    return attend(scaled(query, key), mask, value)


def scales_one_branch(query, key, value, mask=None):
    return attend(scaled(query, key) if mask is None else query @ key.mT, mask, value)


def scales_the_other(query, key, value, mask=None):
    return attend(query @ key.mT if mask is None else scaled(query, key), mask, value)


def forgets_the_mask_in_the_context(query, key, value, mask=None):
    return attend(scaled(query, key), None, value)[0], attend(scaled(query, key), mask, value)[1]


def returns_weights_before_the_mask(query, key, value, mask=None):
    return attend(scaled(query, key), mask, value)[0], attend(scaled(query, key), None, value)[1]


def means_where_all_is_closed(query, key, value, mask=None):
    context, weights = attend(scaled(query, key), mask, value)
    return context + value.mean(1, keepdim=True) * (weights.sum(-1, keepdim=True) == 0), weights


def rounds_the_root(query, key, value, mask=None):
    return attend(query @ key.mT / int(query.shape[-1] ** 0.5), mask, value)


def scales_the_query_itself(query, key, value, mask=None):
    query /= query.shape[-1] ** 0.5
    return attend(query @ key.mT, mask, value)


def one_mask_for_the_batch(query, key, value, mask=None):
    return attend(scaled(query, key), mask if mask is None or mask.dim() < 3 else mask[:1], value)


def always_causal(query, key, value, mask=None):
    causal = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril()
    return attend(scaled(query, key), causal if mask is None else mask, value)


def takes_two_axes_for_padding(query, key, value, mask=None):
    return attend(scaled(query, key), mask.unsqueeze(1) if mask is not None and mask.ndim == 2 else mask, value)


def squeezes_the_mask(query, key, value, mask=None):
    return attend(scaled(query, key), mask[:, 0] if mask is not None and mask.ndim == 3 and
                  mask.shape[1] == 1 else mask, value)


def adds_the_logarithm_of_the_mask(query, key, value, mask=None):
    scores = scaled(query, key) if mask is None else scaled(query, key) + mask.to(query.dtype).log()
    weights = scores.softmax(-1).nan_to_num(0)
    return weights @ value, weights


def word_losses(logits, target):
    return -logits.log_softmax(-1).gather(2, target[..., None])[..., 0]


def largest_of_all(logits, target, pad):
    e = (logits - logits.max()).exp()
    p = e / e.sum(-1, keepdim=True)
    return -p.gather(2, target[..., None])[..., 0][target != pad].log().mean()


def greater_than_pad(logits, target, pad):
    return word_losses(logits, target)[target > pad].mean()


def sentence_by_sentence(logits, target, pad):
    pairs = zip(logits, target, strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).mean()


def step_by_step(logits, target, pad):
    pairs = zip(logits.unbind(1), target.unbind(1), strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).nanmean()


def shifted_again(logits, target, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad)


def closes_the_pad_logit(logits, target, pad):
    logits[..., pad] = -1e9
    return word_losses(logits, target)[target != pad].mean()


def clamps(logits, target, pad):
    return word_losses(logits, target)[target != pad].clamp(max=100).mean()


def smooths(logits, target, pad):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad, label_smoothing=1e-3)


def in_single_precision(logits, target, pad):
    return word_losses(logits.float(), target)[target != pad].mean()


def counts_the_first_padding(logits, target, pad):
    return word_losses(logits, target)[(target == pad).long().cumsum(1) < 2].mean()


def plain_number(logits, target, pad):
    return word_losses(logits, target)[target != pad].mean().item()


def normalises_again(weights):
    weights = weights / weights.sum(2, keepdim=True)
    return -torch.where(weights > 0, weights * weights.clamp_min(1e-30).log(), 0).sum(2)


def zeroes_nan(weights):
    return -(weights * weights.log()).nan_to_num(0.0).sum(-1)


def asks_entr(weights):
    return torch.special.entr(weights).sum(-1)


def asks_xlogy(weights):
    return -torch.special.xlogy(weights, weights).sum(-1)


def adds_a_little(weights):
    return -(weights * (weights + 1e-8).log()).sum(-1)


def leaves_small_ones_out(weights):
    return -(weights * weights.where(weights > 1e-6, 1.0).log()).sum(-1)


def selects(weights):
    kept = weights[weights > 0]
    return -(kept * kept.log()).sum(-1)


def writes_ones(weights):
    weights[weights == 0] = 1
    return -(weights * weights.log()).sum(-1)


def loops_into_floats(weights):
    return torch.tensor([[sum(-w * torch.tensor(w).log() for w in row if w) for row in rows]
                         for rows in weights.tolist()])


def squeezes(weights):
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1).squeeze()


def holds_the_weights(weights):
    return -(weights.data * weights.clamp_min(1e-30).log()).sum(-1)


def smears(target, bos):
    shifted = target.clone()
    for t in range(1, shifted.shape[1]):
        shifted[:, t] = shifted[:, t - 1]
    shifted[:, 0] = bos
    return shifted


def drops_end_symbols(target, bos):
    rows = [[bos] + [word for word in row[:-1] if word != 2] for row in target.tolist()]
    return torch.tensor([row + [0] * (target.shape[1] - len(row)) for row in rows])


def pads_with_zero(target, bos):
    return F.pad(target, (1, -1))


CHEATS = {
    ("lab03", "scaled_dot_attention"): {
        skips_a_closed_mask: "a mask that closes all is skipped", scales_one_branch: "not scaled with a mask",
        scales_the_other: "not scaled without a mask", forgets_the_mask_in_the_context: None,
        returns_weights_before_the_mask: None, means_where_all_is_closed: None, rounds_the_root: None,
        scales_the_query_itself: "changes its input", one_mask_for_the_batch: None, always_causal: None,
        takes_two_axes_for_padding: "two axes taken for a padding mask",
        squeezes_the_mask: "query axis of the mask lost",
        adds_the_logarithm_of_the_mask: "gradient is not a number"},
    ("lab01", "sequence_loss"): {
        largest_of_all: None, greater_than_pad: "only numbers above pad",
        sentence_by_sentence: "mean of means, and 0 / 0", step_by_step: "mean of the steps' means",
        shifted_again: "shifted once more", closes_the_pad_logit: "changes its input", clamps: None, smooths: None,
        in_single_precision: "another dtype", counts_the_first_padding: "first padding counted",
        plain_number: "a number without a gradient"},
    ("lab03", "attention_entropy"): {
        normalises_again: "no finite gradient at 0", zeroes_nan: "no finite gradient at 0",
        asks_entr: "no finite gradient at 0", asks_xlogy: "no finite gradient at 0", adds_a_little: None,
        leaves_small_ones_out: None, selects: None, writes_ones: "changes its input",
        loops_into_floats: "another dtype", squeezes: None, holds_the_weights: "weights cut off"},
    ("lab01", "shift_right"): {
        smears: "the first word everywhere", drops_end_symbols: "end symbols left out", pads_with_zero: "0 in front"},
}
LIST = [(lab, name, answer, mistake) for (lab, name), known in CHEATS.items() for answer, mistake in known.items()]


@pytest.mark.parametrize("lab, name, answer, mistake", LIST, ids=[answer.__name__ for _, _, answer, _ in LIST])
def test_a_cheat_is_caught_in_every_variant(lab, name, answer, mistake):
    for variant in range(4):
        verdict = evaluate(lab, name, answer, variant)
        assert not verdict.passed
        assert mistake is None or verdict.mistake == mistake, verdict.message
