"""Lab 20: which of the guessed tokens stay, and the token after them."""

import torch

from misread.exercise import About, Exercise

from .guesses import guesses


def speculative_accept(guessed, draft, model, chances):
    """guessed (k,), draft q (k, V), model p (k + 1, V), chances (k + 1,) -> how many guesses stay, the next token."""
    count = len(guessed)
    at = torch.arange(count, device=guessed.device)
    ratios = model[at, guessed] / draft[at, guessed]  # (k,): p / q of each guess
    stays = chances[:count] < ratios  # (k,)
    kept = int(stays.int().cumprod(dim=0).sum())  # as many as there are before the first that does not stay
    left = model[count] if kept == count else (model[kept] - draft[kept]).clamp(min=0)  # (V,)
    ends = (left / left.sum()).cumsum(dim=0)  # (V,): where each token's piece of [0, 1] ends
    return kept, int((ends <= chances[count] * ends[-1]).sum())  # rounding may leave the last end below 1


SPECULATIVE_ACCEPT = Exercise(
    speculative_accept,
    cases=guesses,
    gradients=False,
    returns=("kept", "token"),
    about=About(points=4, minutes=25, difficulty=4, read_again=("20_attention_today_evidence", "Fewer forward passes")),
)

must = SPECULATIVE_ACCEPT.properties
must("from 0 to k guesses are kept", lambda result, guessed, *rest: 0 <= result[0] <= len(guessed)).says("""
    How many guesses stay is a number from 0 to k. The token after them is not counted.""")
must(
    "a token that the model can write",
    lambda result, guessed, draft, model, chances: model[int(result[0]), int(result[1])] > 0,
).says("""
    The next token must have a probability above 0 in the row of `model` at which it is drawn, the row number
    `kept`.""")
must(
    "a token that the draft guessed too seldom",
    lambda result, guessed, draft, model, chances: (
        int(result[0]) == len(guessed) or model[int(result[0]), int(result[1])] > draft[int(result[0]), int(result[1])]
    ),
).says("""
    In the place of a guess that does not stay, only a token can be drawn that the model finds likelier than the
    draft: its probability is (p − q) where p > q, and 0 elsewhere.""")

_RATIOS, _STAYS = "model[at, guessed] / draft[at, guessed]", "chances[:count] < ratios"
_KEPT, _LEFT = "int(stays.int().cumprod(dim=0).sum())", "(model[kept] - draft[kept]).clamp(min=0)"
_ENDS, _TOKEN = "(left / left.sum()).cumsum(dim=0)", "int((ends <= chances[count] * ends[-1]).sum())"
_LAST_END = " * ends[-1]"
_LAST = f"model[count] if kept == count else {_LEFT}"

wrong = SPECULATIVE_ACCEPT.mistakes
wrong("q divided by p", {_RATIOS: "draft[at, guessed] / model[at, guessed]"}).says("""
    You divided q by p. A guess stays with the probability min(1, p / q): surely where the model finds it at
    least as likely as the draft, and more seldom where the draft guesses it too often.""")
wrong("accepted with p", {_RATIOS: "model[at, guessed]"}).says("""
    You let a guess stay with probability p. The draft proposes it with probability q already, so it would be
    written with q · p. Let it stay with min(1, p / q).""")
wrong("accepted with q", {_RATIOS: "draft[at, guessed]"}).says("""
    You let a guess stay with probability q, in which the model has no part. Let it stay with min(1, p / q).""")
wrong("accepted with 1 − q", {_RATIOS: "1 - draft[at, guessed]"}).says("""
    You let a guess stay with probability 1 − q, in which the model has no part. Let it stay with min(1, p / q).""")
wrong("a small number added to q", {_RATIOS: "model[at, guessed] / (draft[at, guessed] + 1e-8)"}).says("""
    You added a small number to q. Each guess has a probability above 0 in the draft, so nothing must be added. As it
    is, a guess that the model finds as likely as the draft can fall.""")
wrong("a small number added to the sum of the remainder", {
    _ENDS: "(left / (left.sum() + 1e-8)).cumsum(dim=0)", _LAST_END: ""
}).says("""
    You added a small number to the sum by which you divide. A guess falls only where the model has
    less than the draft, so it has more of another token, and the sum is above 0.""")  # fmt: skip
wrong("only where p is at least q", {_STAYS: "ratios >= 1"}).says("""
    You kept a guess only where p ≥ q. Where p is smaller, it stays with the probability p / q: if its random
    number is below p / q.""")
wrong("only where p is above q", {_STAYS: "ratios > 1"}).says("""
    You kept a guess only where p > q. Where p is as large as q it always stays, and where p is smaller, it stays with
    the probability p / q: if its random number is below p / q.""")
wrong("only where p is at least q, redrawn from p", {_STAYS: "ratios >= 1", _LEFT: "model[kept]"}).says("""
    You kept a guess only where p ≥ q, and drew from p in place of another one. A guess with p < q stays if its
    random number is below p / q; otherwise a token is drawn from max(0, p − q), divided by its sum.""")
wrong("the likeliest token only", {_STAYS: "guessed == model[:count].argmax(dim=-1)"}).says("""
    You kept a guess only if it is the model's likeliest token, which is right for greedy search alone. Compare
    its random number with p / q.""")
wrong("the likeliest token only, and the likeliest after it", {
    _STAYS: "guessed == model[:count].argmax(dim=-1)", f"return kept, {_TOKEN}":
    "return kept, int(model[kept].argmax())"
}).says("""
    You wrote greedy search: a guess stays if it is the model's likeliest token, and the next token
    is the likeliest one. Here the model draws. Compare the random numbers with p / q, and draw the
    next token.""")  # fmt: skip
wrong("accepted and rejected exchanged", {_STAYS: "chances[:count] >= ratios"}).says("""
    You went on past guesses that fall, and stopped at the first that *stays*. A guess stays if its random number
    is below p / q; go on as long as guesses stay, and stop at the first that does not.""")
wrong("an impossible token stays", {_STAYS: "chances[:count] <= ratios"}).says("""
    You let a guess stay if its random number *equals* p / q. Where p is 0, the random number 0 would keep a
    token that the model never writes: u < p / q, and not ≤.""")
wrong("guesses counted behind the first that falls", {_KEPT: "int(stays.sum())"}).says("""
    You counted all guesses that are acceptable by themselves. What comes behind the first one that does not stay
    was guessed after another text, so it is thrown away: count up to the first only.""")
wrong("0 where all stay", {_KEPT: "int(stays.int().argmin()) if count else 0"}).says("""
    You let 0 guesses stay where all of them do. `argmin` and `argmax` find the first guess that does not stay only if
    there is one, and give 0 otherwise. If there is none, all k guesses stay.""")
wrong("the last guess not judged", {_STAYS: "(chances[:count] < ratios) | (at == count - 1)"}).says("""
    You did not judge the last guess: it stays whenever those before it do. There are k guesses, and each is compared
    with its own random number, so a loop over them is `range(k)`.""")
wrong("one guess at most", {_KEPT: "int(stays[:1].sum())"}).says("""
    You looked at the first guess only. As long as guesses stay, the next one is looked at.""")
wrong("stops where all guesses stay", {
    _KEPT: "int((~stays).nonzero()[0])"
}).says("""
    Your function stops where there is no guess that does not stay: you look for the first one, and take it as found.
    There may be none, and k may be 0. Then all k guesses stay.""")  # fmt: skip
wrong("all or none", {_KEPT: "count * int(stays.all())"}).says("""
    You kept all guesses or none. Those before the first that does not stay are kept.""")
wrong("the next token counted as well", {"return kept, ": "return kept + 1, "}).says("""
    You counted the next token among the guesses that stay. Return how many *guesses* stay, from 0 to k.""")
wrong("all that are acceptable counted", {"return kept, ": "return int(stays.sum()), "}).says("""
    Your next token is right, but you counted all guesses that are acceptable by themselves. What comes behind the
    first one that does not stay is thrown away: count up to the first only.""")
wrong("the guess that falls counted as well", {"return kept, ": "return min(kept + 1, count), "}).says("""
    You counted the guess that does not stay as well. Return how many guesses *stay*: those before it.""")
wrong("no guess stays", "\n".join([
    "left = model[0] if len(guessed) == 0 else (model[0] - draft[0]).clamp(min=0)",
    "left = left if left.sum() > 0 else model[0]",
    "return 0, int(((left / left.sum()).cumsum(dim=0) <= chances[-1]).sum())",
])).says("""
    You let no guess stay. Guess i stays if its random number is below p / q, and then the next one is
    judged.""")  # fmt: skip
wrong("product of the ratios", {_STAYS: "chances[:count] < ratios.cumprod(dim=0)"}).says("""
    You compared each random number with the product of the ratios so far. That the guesses before it have stayed is
    known by then: guess i is judged by its own ratio p / q alone.""")
wrong("how many fall", {"return kept, ": "return count - kept, "}).says("""
    You returned how many guesses do not stay. Wanted is how many stay.""")
wrong("redrawn from p", {_LEFT: "model[kept]"}).says("""
    In the place of a guess that does not stay you drew from p. But the draft has already written the tokens that
    it likes, so they would come too often. Draw from what p has more than q: max(0, p − q), divided by its sum.""")
wrong("redrawn from p without the guess", {_LEFT: "model[kept].scatter(0, guessed[kept : kept + 1], 0.0)"}).says("""
    You drew from p without the token that did not stay. Draw from what p has more than q, max(0, p − q),
    divided by its sum: other tokens that the draft guesses too often must come more seldom, too.""")
wrong("redrawn from p where it is larger", {_LEFT: "model[kept] * (model[kept] > draft[kept])"}).says("""
    You drew from p, with 0 where the draft has as much or more. The tokens with p > q get what p has *more* than q, and
    not all of p: max(0, p − q), divided by its sum.""")
wrong("the guess that falls written", {
    "return kept, int(": "return kept, int(guessed[kept]) if kept < count else int("
}).says("""
    You returned the guess that does not stay as the next token. It is thrown away, and in its place a token is drawn
    from max(0, p − q), divided by its sum.""")  # fmt: skip
wrong("redrawn from q", {_LEFT: "draft[kept]"}).says("""
    In the place of a guess that does not stay you drew from the draft. Draw from what the model has more than
    the draft: max(0, p − q), divided by its sum.""")
wrong("q − p", {_LEFT: "(draft[kept] - model[kept]).clamp(min=0)"}).says("""
    You drew from q − p. What is missing is what the model has *more* than the draft: max(0, p − q).""")
wrong("negative remainders kept", {_LEFT: "model[kept] - draft[kept]", _LAST_END: ""}).says("""
    You left negative numbers in p − q. They are no probabilities: replace them by 0 before you renormalise.""")
wrong("absolute differences", {_LEFT: "(model[kept] - draft[kept]).abs()"}).says("""
    You took the absolute value of p − q. Where q is larger, the remainder is 0 and not positive.""")
wrong("remainder not renormalised", {_ENDS: "left.cumsum(dim=0)", _LAST_END: ""}).says("""
    You did not divide max(0, p − q) by its sum. Its entries sum to less than 1, so divide before you draw.""")
wrong("remainder not renormalised, the last token", {
    _ENDS: "left.cumsum(dim=0)", _TOKEN: "min(int((ends <= chances[count]).sum()), len(ends) - 1)"
}).says("""
    You did not divide max(0, p − q) by its sum, and took the last token where the random number fell behind
    all pieces. Its entries sum to less than 1, so divide before you draw.""")  # fmt: skip
wrong("softmax of the remainder", {_ENDS: "(left if kept == count else left.softmax(dim=0)).cumsum(dim=0)"}).says("""
    You applied a softmax to max(0, p − q), which gives tokens with a remainder of 0 a probability. Divide by
    the sum.""")
wrong("softmax of what is left, always", {_ENDS: "left.softmax(dim=0).cumsum(dim=0)"}).says("""
    You applied a softmax to probabilities. p is a distribution already, and max(0, p − q) becomes one when it is
    divided by its sum.""")
wrong("the likeliest of the remainder", {_TOKEN: "int(left.argmax())"}).says("""
    You took the likeliest token as the next one. It is *drawn*: the token in whose piece the last random number
    falls.""")
wrong("the likeliest token where all stay", {
    "return kept, int(": "return kept, int(left.argmax()) if kept == count else int("
}).says("""
    Where all guesses stay you took the likeliest token of model[k]. It is *drawn* there as well: the
    token in whose piece the last random number falls.""")  # fmt: skip
wrong("the likeliest token in place of a guess", {
    "return kept, int(": "return kept, int(left.argmax()) if kept < count else int("
}).says("""
    In the place of a guess that does not stay you took the likeliest token of max(0, p − q). It is *drawn*
    there as well: divide by the sum, and take the token in whose piece the last random number
    falls.""")  # fmt: skip
wrong("the bonus token left out", {_LAST: f"draft[count - 1] if kept == count else {_LEFT}"}).says("""
    When all guesses stay you drew the next token from the draft's last row. The model has read all guesses, so
    its last row says what comes after them: draw from model[k].""")
wrong(
    "the last guess again", {"return kept, int(": "return kept, int(guessed[-1]) if kept == count else int("}
).says("""
    When all guesses stay you returned the last guess again. The model has read it, so its last row gives one
    more token: draw it from model[k].""")
wrong("the last guess again, where there is one", {
    "return kept, int(": "return kept, int(guessed[-1]) if 0 < kept == count else int("
}).says("""
    When all guesses stay you returned the last guess once more, and drew a token only where nothing was guessed. The
    model has read all guesses, so its last row gives one more token: draw it from model[k].""")  # fmt: skip
wrong("bonus token from the row before", {_LAST: f"model[count - 1] if kept == count else {_LEFT}"}).says("""
    When all guesses stay you drew from model[k − 1], the row that has judged the last guess. What comes after it
    is in the row model[k].""")
wrong("remainder for the bonus token, too", {
    _LAST: f"(model[count] - draft[count - 1]).clamp(min=0) if kept == count else {_LEFT}"
}).says("""
    When all guesses stay you subtracted a row of the draft. The draft has guessed nothing at that
    position, so draw from model[k] as it is.""")  # fmt: skip
wrong("always from the last row", {_LAST: "model[count]"}).says("""
    You always drew from the last row of `model`. It belongs to the text with *all* guesses. If guess i does not
    stay, the next token is drawn at its position, from max(0, model[i] − draft[i]), divided by its sum.""")
wrong("model one row too far", {_RATIOS: "model[at + 1, guessed] / draft[at, guessed]"}).says("""
    You judged guess i by row i + 1 of `model`, which says what comes *after* it. Row i says what comes at its
    position.""")
wrong("remainder one row too far", {_LEFT: "(model[kept + 1] - draft[kept]).clamp(min=0)"}).says("""
    You took the remainder from row i + 1 of `model`, which belongs to the text with a guess that did not stay.
    Use row i of both.""")
wrong("remainder always of row 0", {_LEFT: "(model[0] - draft[0]).clamp(min=0)"}).says("""
    You took the remainder from the first rows. It belongs to the position of the first guess that does not stay.""")
wrong("one random number for all guesses", {_STAYS: "chances[0] < ratios"}).says("""
    You used the first random number for all guesses. Guess i has its own, chances[i].""")
wrong("the last random number for the guesses", {_STAYS: "chances[count] < ratios"}).says("""
    You used the last random number for the guesses. Guess i has its own, chances[i], and the last one draws the
    next token.""")
wrong("random number used twice", {_TOKEN: "int((ends <= chances[kept]).sum())"}).says("""
    You drew the next token with the random number that has just decided about the guess. It is known to be
    large, so it is no longer random. The last number, chances[k], is there for this.""")
wrong(
    "the first random number again", {_TOKEN: "int((ends <= chances[0 if kept < count else count] * ends[-1]).sum())"}
).says("""
    You drew the next token with chances[0], which belongs to the first guess. The last number, chances[k], draws the
    token.""")
wrong("the first random number always", {_TOKEN: "int((ends <= chances[0] * ends[-1]).sum())"}).says("""
    You always drew the next token with chances[0], which belongs to the first guess if there is one. The last number,
    chances[k], draws the token.""")
wrong("every token equally likely", {_TOKEN: "int(chances[count] * len(ends))"}).says("""
    You drew as if all tokens were equally likely. Each has a piece as long as its probability: count the ends of the
    pieces that are at or below the random number.""")
wrong("the random number of the next guess", {_TOKEN: "int((ends <= chances[min(kept + 1, count)]).sum())"}).says("""
    You drew the next token with the random number that belongs to the next guess. Here the *last* number,
    chances[k], draws the token, wherever the rule has stopped.""")
wrong("the last guess's random number", {_TOKEN: "int((ends <= chances[max(count - 1, 0)] * ends[-1]).sum())"}).says("""
    You drew the next token with chances[k − 1], which belongs to the last guess. The last number, chances[k], draws
    the token.""")
wrong("pieces in the order of their sizes", "\n".join([
    "at = torch.arange(len(guessed), device=guessed.device)",
    "stays = chances[:-1] < model[at, guessed] / draft[at, guessed]",
    "kept = int(stays.int().cumprod(dim=0).sum())",
    "left = model[-1] if kept == len(guessed) else (model[kept] - draft[kept]).clamp(min=0)",
    "sizes, words = (left / left.sum()).sort(descending=True)",
    "return kept, int(words[int((sizes.cumsum(dim=0) <= chances[-1]).sum().clamp(max=len(left) - 1))])",
])).says("""
    You sorted the probabilities before you laid the pieces side by side. The pieces lie in the order of the
    vocabulary.""")  # fmt: skip
wrong("one token too far", {_TOKEN: "min(int((ends <= chances[count]).sum()) + 1, len(ends) - 1)"}).says("""
    Your next token is the one behind the piece in which the random number falls. Tokens are counted from 0:
    count the pieces that *end* at or before it.""")
wrong("one token too early", {_TOKEN: "max(int((ends <= chances[count]).sum()) - 1, 0)"}).says("""
    Your next token is the one before the piece in which the random number falls. Count the pieces that *end* at
    or before it.""")
wrong("a piece contains its end", {_TOKEN: "int((ends < chances[count]).sum())"}).says("""
    You let a piece contain its end, so that a random number of 0 draws token 0 even if its piece is empty. A
    piece contains its beginning and not its end: count the ends that are at or below the random number.""")
wrong("pieces from the right", {_TOKEN: "int((ends <= 1 - chances[count]).sum())"}).says("""
    You compared the ends of the pieces with 1 − u. The pieces lie in the order of the vocabulary, beginning at
    0, so compare them with u itself.""")
wrong("pieces not summed up", {_TOKEN: "int(((left / left.sum()) <= chances[count]).sum())"}).says("""
    You compared the probabilities themselves with the random number. Compare their running sum, the ends of the
    pieces.""")
wrong("token first", {f"return kept, {_TOKEN}": "return int((ends <= chances[count]).sum()), kept"}).says("""
    You returned the token first. The order is: how many guesses stay, and the next token.""")
wrong("all tokens", {
    f"return kept, {_TOKEN}":
    "return torch.cat([guessed[:kept], (ends <= chances[count]).sum()[None]])"
}).says("""
    You returned the new tokens themselves. Wanted are two numbers: how many guesses stay, and the
    next token.""")  # fmt: skip
