"""Lab 4, first part: Luong's attentional state, and the decoder step that feeds it back."""

import torch

from misread.exercise import About, Exercise

from ..fakes.attention import FakeCell, FakeScore
from ..families.attention_properties import weights_of_a_step


def attentional_state(context, hidden, W_c):
    """tanh(W_c [context; hidden]): (B, Dv), (B, D), (A, Dv + D) -> (B, A)."""
    joined = torch.cat([context, hidden], dim=-1)  # (B, Dv + D)
    return (joined @ W_c.mT).tanh()  # (B, Dv + D) @ (Dv + D, A) -> (B, A)


def _contexts(draw):
    batch, values, dim, out = draw.sizes(4)
    for b, dv, d, a in ((batch, values, dim, out), (3, 3, 3, 6), (1, dim, dim, dim), (2, 2, 2, 2)):
        yield draw.normal(b, dv), draw.normal(b, d), draw.normal(a, dv + d)


ATTENTIONAL_STATE = Exercise(
    attentional_state,
    cases=_contexts,
    about=About(points=2, minutes=9, difficulty=2, read_again="Two decoders, two orders"),
)

must = ATTENTIONAL_STATE.properties
must("between −1 and 1", lambda result, *args: (result.abs() <= 1).all()).says("""
    An attentional state is the result of tanh, so all its numbers lie between −1 and 1.""")

wrong = ATTENTIONAL_STATE.mistakes
HALVES = "left, right = context @ W_c[:, : context.shape[1]].mT, hidden @ W_c[:, context.shape[1] :].mT\nreturn "
wrong("tanh of the context only", f"{HALVES}left.tanh() + right").says("""
    Your tanh encloses only the part of the context. It belongs around the sum of both parts: tanh(W_c [c; h]).""")
wrong("tanh of the state only", f"{HALVES}left + right.tanh()").says("""
    Your tanh encloses only the part of the state. It belongs around the sum of both parts: tanh(W_c [c; h]).""")
wrong("state before context", {"[context, hidden]": "[hidden, context]"}).says("""
    You laid the state before the context. The formula has [c; h], because the first Dv columns of `W_c` belong to the
    context and the last D to the state.""")
wrong("tanh of each part, then the sum", f"{HALVES}left.tanh() + right.tanh()").says("""
    You took the tanh of each part and added the two. There is one tanh, around the sum: tanh(W_c [c; h]).""")
wrong("no tanh", {".tanh()": ""}).says("""
    You returned the linear combination itself. The attentional state is its tanh, which keeps all numbers between
    −1 and 1; otherwise it would be fed back unbounded.""")
wrong(
    "tanh of each part",
    {"torch.cat([context, hidden], dim=-1)": "torch.cat([context, hidden], dim=-1).tanh()", ".mT).tanh()": ".mT)"},
).says("""
    You applied tanh *before* the product with `W_c`. Context and hidden state are first combined by `W_c`, and then
    tanh is taken of the result.""")
wrong("tanh twice", {"dim=-1)": "dim=-1).tanh()"}).says("""
    You applied tanh to context and hidden state as well as to the result. The formula has only one tanh, after the
    product with `W_c`.""")
wrong(
    "context and hidden added", "half = W_c.shape[1] // 2\nreturn ((context + hidden) @ W_c[:, :half].mT).tanh()"
).says("""
    You added the context to the hidden state. They are laid side by side, which gives Dv + D features, so that `W_c`
    has columns of its own for each of them.""")
wrong("softmax for tanh", {".tanh()": ".softmax(-1)"}).says("""
    You used a softmax, so that the features of a state sum to 1. An attentional state is not a distribution: the
    formula has tanh, entry by entry.""")


def input_feeding_step(embedded, attentional, state, annotations, mask, score, cell, W_c):
    """One step of Luong's decoder: the attentional state (B, A), the new state (B, D), weights (B, Tk)."""
    state = cell(torch.cat([embedded, attentional], dim=-1), state)  # (B, D)
    scores = score(state[:, None], annotations)  # (B, 1, Tk)
    weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)  # (B, 1, Tk)
    context = (weights @ annotations)[:, 0]  # (B, D)
    return attentional_state(context, state, W_c), state, weights[:, 0]


BESIDE = "the last attentional state"


def _steps(draw):
    batch, keys, dim, out = draw.sizes(4)
    shapes = [(batch, dim + 1, out), (3, dim, dim)]  # in the second all is equally wide: mix-ups give values
    if draw.number == 1:
        shapes += [(1, dim + 9, out), (2, 1, out)]  # one sentence; one feature of a word
    if draw.compact:
        shapes.append((1, 2, 2))
    for b, embedding, fed in shapes:
        mask = torch.arange(keys) < draw.lengths(b, keys)[:, None]
        if embedding == dim:
            mask = mask.flip(1)  # a window need not begin at the first word
        score = FakeScore(draw.normal(dim, dim))
        cell = FakeCell(draw.normal(embedding + fed, dim), draw.normal(dim, dim), BESIDE)
        word, before = draw.normal(b, embedding), draw.normal(b, fed)
        yield word, before, draw.normal(b, dim), draw.normal(b, keys, dim), mask, score, cell, draw.normal(fed, 2 * dim)
    if draw.number == 3:
        yield _far_below_zero(draw, batch, keys, dim, out)


def _far_below_zero(draw, batch, keys, dim, out):
    """All scores are about −84: above −100, and so that even in float32 no exponential is rounded to 0."""
    mask = torch.arange(keys) < draw.lengths(batch, keys)[:, None]
    score = FakeScore(torch.full((dim, dim), -84.0 / dim**2, dtype=torch.float64))
    cell = FakeCell(8 + draw.uniform(dim + out, dim), draw.normal(dim, dim), BESIDE)  # a new state of almost 1
    word, before, state = 1 + draw.uniform(batch, dim), 1 + draw.uniform(batch, out), draw.uniform(batch, dim)
    annotations = 1 + 0.02 * draw.normal(batch, keys, dim).clamp(-2, 2)
    return word, before, state, annotations, mask, score, cell, draw.normal(out, 2 * dim)


INPUT_FEEDING_STEP = Exercise(
    input_feeding_step,
    cases=_steps,
    returns=("new_attentional", "new_state", "weights"),
    about=About(points=3, minutes=19, difficulty=3, read_again="Two decoders, two orders"),
)

must = INPUT_FEEDING_STEP.properties
must += weights_of_a_step(mask=4)
must(
    "the state is the cell's",
    lambda result, embedded, attentional, state, annotations, mask, score, cell, W_c: torch.allclose(
        result[1], cell(torch.cat([embedded, attentional], dim=-1), state)
    ),
).says("""
    The new state is what `cell` returns for the word and the last attentional state side by side.""")
must(
    "the output joins context and state",
    lambda result, embedded, attentional, state, annotations, mask, score, cell, W_c: torch.allclose(
        result[0], attentional_state((result[2][:, None] @ annotations)[:, 0], result[1], W_c)
    ),
).says("""
    The first result is `attentional_state(context, state, W_c)`, with the new state and the context that was read with
    it.""")

wrong = INPUT_FEEDING_STEP.mistakes
OF_ONE = {
    "scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)": "scores.softmax(1).masked_fill(~mask[:, None], 0.0)"
}
wrong("softmax over the single query", OF_ONE).says("""
    Your softmax runs over the axis of the query, which has length 1, so each weight is 1. The weights of a sentence sum
    to 1 over its source words, which are the last axis.""")
wrong(
    "asked with the old state",
    {"    state = cell": "    old, state = state, cell", "score(state[:, None]": "score(old[:, None]"},
).says("""
    Your query is the state *before* the step, h_{t−1}, as in Bahdanau's decoder. Luong's decoder calls the cell first,
    and its query is the new state h_t.""")
wrong(
    "the old state joined",
    {"    state = cell": "    old, state = state, cell", "(context, state, W_c)": "(context, old, W_c)"},
).says("""
    You combined the context with the state *before* the step. The attentional state is made of c_t and the *new* state
    h_t.""")
wrong("mask the wrong way round", {"~mask": "mask"}).says("""
    You masked the real words, so all the weight went to the padding. True in the mask means that a position *may be
    attended to*.""")
wrong("masked scores as 0", {"-torch.inf": "0.0"}).says("""
    You gave the scores of padding the value 0. The softmax turns 0 into exp(0) = 1, so that padding still receives
    weight: fill with −∞, because exp(−∞) = 0.""")
wrong(
    "mask after the softmax",
    {"scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)": "scores.softmax(-1) * mask[:, None]"},
).says("""
    You closed padding *after* the softmax, so that the other weights sum to less than 1. Fill the scores of padding
    with −∞ before the softmax.""")
wrong("mask without the query's axis", {"~mask[:, None]": "~mask"}).says("""
    Your mask has the shape (B, Tk) and your scores have (B, 1, Tk). Torch then reads the mask as (1, B, Tk), and each
    sentence gets the mask of the first one. Give the mask the axis of the query: `mask[:, None]` is (B, 1, Tk).""")
wrong("softmax over the query", {".softmax(-1)": ".softmax(1)"}).says("""
    You took the softmax along the axis of the query, which has one entry, so that all weights are 1 (and not a number
    where a score is −∞). The weights of the *source words* sum to 1: `softmax(-1)`.""")
wrong("the mean for the context", {"(weights @ annotations)[:, 0]": "annotations.mean(1)"}).says("""
    Your context is the mean of the annotations, and your weights have no influence on it. The context is their weighted
    sum, `weights @ annotations`.""")
wrong(
    "the cell called twice",
    {"    scores = score": "    state = cell(torch.cat([embedded, attentional], dim=-1), state)\n    scores = score"},
).says("""
    You called the cell twice, the second time with the state of the first call. One step of the decoder is
    one call.""")
wrong(
    "attentional state for the state",
    {
        "return attentional_state(context, state, W_c), state,": "fed = attentional_state(context, state, W_c)\n"
        "    return fed, fed,"
    },
).says("""
    Your second result is the attentional state again. It is the state h_t that the cell returned: the next call of the
    cell continues from it.""")
wrong("the context returned", {"attentional_state(context, state, W_c), state": "context, state"}).says("""
    Your first result is the context itself. The decoder feeds back, and predicts from, the *attentional* state:
    `attentional_state(context, state, W_c)`.""")
wrong("weights squeezed", {"weights[:, 0]": "weights.squeeze()"}).says("""
    You squeezed the weights, which also removes the batch axis when the batch holds one sentence. Remove only the axis
    of the query, with `weights[:, 0]`.""")
wrong("attentional state as query", {"state[:, None]": "torch.tanh(state)[:, None]"}).says("""
    Your query is not the new state itself, but a function of it. Score the state h_t as the cell returns it.""")
wrong(
    "Bahdanau's order",
    """
    weights = score(state[:, None], annotations).masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    context = (weights @ annotations)[:, 0]
    state = cell(torch.cat([embedded, context], dim=-1), state)
    return attentional_state(context, state, W_c), state, weights[:, 0]""",
).says("""
    You attended with the old state and gave the context to the cell, as Bahdanau's decoder does. In Luong's the cell
    comes first, with the word and the last attentional state, and its *new* state is the query.""")
wrong("the cell starts from the attentional state", {"dim=-1), state)": "dim=-1), attentional)"}).says("""
    You gave the last attentional state to the cell as its state. Its state is h_{t−1}, `state`; the attentional state
    is a part of its *input*.""")
wrong("asked with the last attentional state", {"state[:, None]": "attentional[:, None]"}).says("""
    Your query is the attentional state of the last step. It is a part of the cell's input only, and the query is the
    new state h_t.""")
wrong(
    "question and annotations swapped", {"(state[:, None], annotations)": "(annotations, state[:, None]).mT"}
).says("""
    You gave the annotations to `score` as its first argument. Its first argument is the query, which is the new state,
    and its second is the keys: `score(query, key)`.""")
wrong("mask with its axis behind the keys", {"~mask[:, None]": "~mask[..., None]"}).says("""
    You put the new axis of the mask behind the keys, (B, Tk, 1), so that the entry of a sentence's first
    word decides for all its words. The query's axis stands in front of the keys: `mask[:, None]`.""")
wrong("mask without effect", {".masked_fill(~mask[:, None], -torch.inf)": ""}).says("""
    Padding is not masked in your weights. Perhaps you did not keep what `masked_fill` returns, which is a new tensor.
    The scores of padding must be −∞ before the softmax.""")
_FILL = "scores.masked_fill(~mask[:, None], -torch.inf)"
wrong("mask added to the scores", {_FILL: "(scores + mask[:, None])"}).says("""
    You added the mask to the scores, where True counts as 1 and False as 0, so that padding still receives weight. The
    scores of padding must be −∞: `masked_fill(~mask[:, None], -torch.inf)`.""")
wrong("0 · ∞ everywhere", {_FILL: "(scores + ~mask[:, None] * -torch.inf)"}).says("""
    You multiplied by −∞, which gives NaN for each real word, because 0 · ∞ is not a number. Put −∞ in the place of the
    scores of padding, with `masked_fill`.""")
wrong("a number not small enough", {"-torch.inf": "-100.0"}).says("""
    You filled the padding with a number such as −100. Other scores may be as low as this number, and then the padding
    receives weight. Fill with −∞.""")
wrong(
    "the mean of the real words",
    {"(weights @ annotations)[:, 0]": "(annotations * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)"},
).says("""
    Your context is the mean of the annotations of all real words, and your weights have no influence on it. The context
    is their weighted sum, `weights @ annotations`.""")
wrong(
    "the word with the largest weight",
    {"(weights @ annotations)[:, 0]": "annotations[torch.arange(len(annotations)), weights[:, 0].argmax(-1)]"},
).says("""
    Your context is the annotation of the word with the largest weight. The context is the weighted sum of all of them,
    `weights @ annotations`, and so the weights receive a gradient.""")
wrong("context squeezed", {"annotations)[:, 0]": "annotations).squeeze()"}).says("""
    You squeezed the context, which also removes the batch axis when the batch holds one sentence, and then `cat`
    fails. Remove only the axis of the query, with `[:, 0]`.""")
wrong(
    "state before context in the output",
    {"attentional_state(context, state, W_c)": "attentional_state(state, context, W_c)"},
).says("""
    Context and state are exchanged where they are combined. The context comes first, `attentional_state(context, h_t,
    W_c)`, because the first columns of `W_c` belong to it.""")
wrong(
    "a second step at the end",
    {
        "return attentional_state(context, state, W_c), state,": "fed = attentional_state(context, state, W_c)\n"
        "    return fed, cell(torch.cat([embedded, fed], dim=-1), state),"
    },
).says("""
    You called the cell once more with the new attentional state. This is the next step's work, with the next word:
    return the state h_t that was the query.""")
wrong(
    "the old state returned",
    {"    state = cell": "    old, state = state, cell", "(context, state, W_c), state": "(context, state, W_c), old"},
).says("""
    Your second result is the state that your function was given, h_{t−1}. Return the new one, h_t, or the next step
    starts from the same state again.""")
wrong(
    "the state in place of the attentional state", {"attentional_state(context, state, W_c), state": "state, state"}
).says("""
    Your first result is the state h_t itself, which has not seen the context. The decoder feeds back, and predicts
    from, `attentional_state(context, h_t, W_c)`.""")
wrong("scores returned", {"weights[:, 0]": "scores[:, 0]"}).says("""
    Your third result is the scores. Return the weights, which are what the softmax makes of them.""")
wrong("masked scores returned", {"weights[:, 0]": "scores.masked_fill(~mask[:, None], -torch.inf)[:, 0]"}).says("""
    Your third result is the masked scores, with −∞ at the padding. Return the weights, which the softmax makes of
    them, and which are 0 there.""")
wrong(
    "as many words from the first",
    """
    state = cell(torch.cat([embedded, attentional], dim=-1), state)
    first = torch.arange(mask.shape[1], device=mask.device) < mask.sum(-1, keepdim=True)
    weights = score(state[:, None], annotations).masked_fill(~first[:, None], -torch.inf).softmax(-1)
    return attentional_state((weights @ annotations)[:, 0], state, W_c), state, weights[:, 0]""",
).says("""
    You counted the True in the mask and attended to as many words from the first on. The mask says *which* words may be
    attended to, and a window need not begin at the first word.""")
