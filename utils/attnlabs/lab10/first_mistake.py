"""Lab 10: what a first mistake leads to."""

import torch

from misread.exercise import About, Exercise


def error_after_first_mistake(written, target, pad):
    """Rates of wrong words before and after a first mistake: (B, T), (B, T) -> (before, after)."""
    wrong, real = written != target, target != pad  # (B, T)
    wrong = wrong & real
    spoilt = wrong.long().cumsum(1) - wrong.long() > 0  # (B, T): a mistake was made before this position
    right_before, wrong_before = real & ~spoilt, real & spoilt
    before = (wrong & right_before).sum().item() / max(right_before.sum().item(), 1)
    after = (wrong & wrong_before).sum().item() / max(wrong_before.sum().item(), 1)
    return before, after


def _texts(draw):
    batch, length = draw.sizes(2, low=4)
    for count, size, pad, rate in ((batch + 2, length + 2, 0, 0.3), (3, 5, 7, 0.5), (1, 6, 0, 0.4), (4, 4, 0, 0.4)):
        target = draw.integers(1, 7, count, size)
        changed = draw.uniform(count, size) < rate
        changed[0, 1], changed[0, 2] = True, False  # right again afterwards
        if count > 2:
            changed[1], changed[2, 0] = False, True  # no mistake at all; a mistake at once
        written = torch.where(changed, target % 6 + 1, target)
        written[0, 1] = pad  # a model may say so, too
        real = torch.arange(size) < draw.lengths(count, size, shortest=size - 2 if count > 1 else size)[:, None]
        real[3:, 0] = False  # padding in front, too
        yield written, target.masked_fill(~real, pad), pad  # what was written at padding is of no interest
    words = draw.integers(1, 7, 2, 3)
    yield words, words.clone(), 0  # no mistake anywhere
    late = words.clone()
    late[:, -1] = late[:, -1] % 6 + 1
    yield late, words, 0  # mistakes, but nothing after them
    yield torch.tensor([[3], [4]]), torch.tensor([[3], [5]]), 0  # one position
    yield draw.integers(1, 7, 2, 4), torch.full((2, 4), 3), 3  # padding throughout: no positions at all
    if draw.number == 1:
        long = draw.integers(1, 7, 2, 400)
        yield torch.where(draw.uniform(2, 400) < 0.9, long % 6 + 1, long), long, 0  # hundreds of mistakes


ERROR_AFTER_FIRST_MISTAKE = Exercise(
    error_after_first_mistake,
    cases=_texts,
    returns=("before", "after"),
    tolerance=1e-6,  # a rate of two whole tensors is float32
    about=About(points=3, minutes=12, difficulty=3, read_again=("10_decoding_evidence", "After the model's own error")),
)

must = ERROR_AFTER_FIRST_MISTAKE.properties
must(
    "no mistake, no error",
    lambda result, written, target, pad: not (written == target)[target != pad].all() or sum(result) == 0,
).says("""
    If every word is right, both rates are 0. If no position follows a mistake, `after` is 0.""")
must("between 0 and 1", lambda result, *others: all(0 <= rate <= 1 for rate in result)).says("""
    Both rates are proportions, so they must lie between 0 and 1.""")

_SPOILT, _MASKS = "wrong.long().cumsum(1) - wrong.long() > 0", "real & ~spoilt, real & spoilt"
_BEFORE, _AFTER = "max(right_before.sum().item(), 1)", "max(wrong_before.sum().item(), 1)"
_RATES = "((wrong & part).sum(1) / part.sum(1))"
_OF_EACH = f"before, after = ({_RATES}.nanmean().nan_to_num() for part in (%s))\n    return "
_OR_ZERO = _OF_EACH.replace("part.sum(1)", "part.sum(1).clamp(min=1)")

wrong = ERROR_AFTER_FIRST_MISTAKE.mistakes
wrong("first mistake counted as after", {_SPOILT: "wrong.long().cumsum(1) > 0"}).says("""
    You counted the first mistake itself as *after* a mistake. All words in front of it are right, so it belongs
    to `before`.""")
wrong("padding spoils what follows", {"wrong = wrong & real": "pass"}).says("""
    You counted what was written at padding as a mistake, so that the words behind it count as *after*. Where the
    target is `pad` nothing can be wrong, and padding may also stand in front: (written != target) & real.""")
_ABOVE = {"(wrong & right_before)": "(wrong & ~spoilt)", "(wrong & wrong_before)": "(wrong & spoilt)"}
wrong("padding where either says so", {"target != pad": "(target != pad) & (written != pad)"}).says("""
    You left out the positions where `pad` was *written*, too. What is real is told by the target alone: a model that
    writes `pad` where the target has a word makes a mistake, and the words behind it come after a mistake.""")
wrong("mistakes at padding counted", {"wrong = wrong & real": "pass", **_ABOVE}).says("""
    You divided by the number of real positions, but still count mistakes at padding above. Where the target is `pad`
    nothing can be wrong: (written != target) & real.""")
wrong("padding looked for in what was written", {"target != pad": "written != pad"}).says("""
    You took positions for padding where `pad` was *written*. What is real is told by the target: a model may write
    `pad` too early, and this is a mistake, or write other words behind the end, which are of no interest.""")
wrong("padding not left out", {"wrong = wrong & real": "pass", _MASKS: "~spoilt, spoilt"}).says("""
    You counted padding like real words, both in the mistakes and in the positions. Leave out all positions where the
    target is `pad`.""")
wrong("True and False subtracted", {_SPOILT: "wrong.cumsum(1) - wrong > 0"}).says("""
    torch can't subtract a tensor of True and False. Turn the mistakes into numbers first: `wrong.long()`.""")
wrong("padding counted", {_MASKS: "~spoilt, spoilt"}).says("""
    You left mistakes at padding out, but you still count its positions. Divide by the number of *real* positions.""")
wrong("only the word right after", {_SPOILT: "torch.nn.functional.pad(wrong, (1, 0))[:, :-1]"}).says("""
    You counted only the one word behind a mistake. *All* later words of the sentence come after it, so use cumsum
    to find out whether there was a mistake before.""")
wrong("only from the second mistake on", {_SPOILT: "wrong.long().cumsum(1) > 1"}).says("""
    You required a running count above 1, so that `after` begins with the *second* mistake. The right words between the
    first two mistakes come after a mistake, too: subtract from the count what stands at the position itself, and then
    ask for more than 0.""")
wrong("all words of a sentence with a mistake", {_SPOILT: "wrong.any(1, keepdim=True).expand_as(wrong)"}).says("""
    You counted all words of a sentence that has a mistake anywhere as *after* a mistake. Only the words behind its
    first mistake come after one. Those in front of it, and the first mistake itself, belong to `before`.""")
_REAL_UNTIL = {"target != pad": "(target != pad).long().cumprod(1) > 0"}
wrong("stopped at the first padding", _REAL_UNTIL).says("""
    You stopped at the first padding of a sentence. Padding may also stand in front of the words or between them, so
    leave out the positions where the target is `pad`, and go on behind them.""")
wrong("only after a single mistake", {_SPOILT: _SPOILT.replace("> 0", "== 1")}).says("""
    You required exactly *one* mistake in front (== 1). Positions behind a second mistake count, too: > 0.""")
_RUNS_ON = "wrong.flatten().long().cumsum(0).view_as(wrong) - wrong.long() > 0"
wrong("rolled around", {_SPOILT: "(wrong.long().cumsum(1) > 0).roll(1, 1)"}).says("""
    You moved the marks one position to the right with `roll`, so that the mark of the last position comes round to
    position 0. No word stands in front of position 0, so it never comes after a mistake.""")
_FIRST = "torch.arange(wrong.shape[1]) > wrong.long().argmax(1, keepdim=True)"
wrong("no mistake taken for one at position 0", {_SPOILT: _FIRST}).says("""
    You looked for the first mistake with `argmax`. In a sentence without any mistake nothing is True, and the argmax of
    nothing but False is 0, so that its words count as after a mistake at position 0. A running count (cumsum) needs no
    such case.""")
wrong("counted on from sentence to sentence", {_SPOILT: _RUNS_ON}).says("""
    Your count of mistakes runs on from one sentence to the next, so that all sentences behind the first mistake of the
    *batch* count as after a mistake. Each sentence begins anew: sum along axis 1, in (B, T).""")
wrong("mean of the sentences' rates", {"return ": _OF_EACH % _MASKS}).says("""
    You computed a rate for each sentence and then their mean, so that a sentence with one position weighs as much
    as one with twenty. Divide the number of all mistakes by the number of all positions.""")
wrong("mean of the sentences' rates, 0 where there is none", {"return ": _OR_ZERO % _MASKS}).says("""
    You computed a rate for each sentence (0 where it has no such position) and then their mean. Count all mistakes and
    all positions of the whole batch, and divide once. The rate is 0 only where the batch has no such position.""")
wrong("divided by one too many", {_BEFORE: "(right_before.sum() + 1)", _AFTER: "(wrong_before.sum() + 1)"}).says("""
    You added 1 to the numbers of positions, so as not to divide by 0. This makes each rate too small. Divide by the
    number itself, and by 1 only where it is 0: max(count, 1).""")
wrong("divided by all words", {_BEFORE: "real.sum().item()", _AFTER: "real.sum().item()"}).says("""
    You divided by the number of all real words. Each rate has its own positions: those with no mistake in front,
    and those with one.""")
wrong("divided by all positions", {_BEFORE: "real.numel()", _AFTER: "real.numel()"}).says("""
    You divided by the number of all positions, or took a mean over all of them. Each rate has its own positions: the
    real ones with no mistake in front, and the real ones with one.""")
wrong("divided by all mistakes", {_BEFORE: "max(wrong.sum().item(), 1)", _AFTER: "max(wrong.sum().item(), 1)"}).says("""
    You divided by the number of all mistakes, which says how they are shared out. A rate says at how many of its own
    positions the word is wrong: divide by the number of real positions of the kind.""")
wrong("nothing to divide by", {_BEFORE: "right_before.sum()", _AFTER: "wrong_before.sum()"}).says("""
    Where no position is of one kind you divided by 0 (or took a mean of nothing), which is NaN. If there is nothing to
    count, the rate is 0.""")
