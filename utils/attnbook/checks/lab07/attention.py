"""Lab 7: self-attention. The layer itself."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..families.attention_properties import closed_get_nothing, rows_sum_to_one
from .attention_mistakes import MASKED_WRONGLY, SCALED_WRONGLY


def self_attention(x, W_q, W_k, W_v, mask=None):
    query, key, value = x @ W_q, x @ W_k, x @ W_v  # (B, T, A), (B, T, A), (B, T, Dv)
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, T, T)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
    return weights @ value, weights  # (B, T, Dv), (B, T, T)


def _far_apart(draw):
    """Large scores and a mask. No word is like itself here: where it sees itself alone, what is closed scores far
    higher."""
    alone = torch.eye(4, dtype=torch.bool)
    some_closed = draw.mask(3, 4, 4) & torch.tensor([True, True, True, False])
    for steep in (900, 1e6):
        W = draw.normal(3, 5)
        for mask in (torch.ones_like(alone).tril(), alone, some_closed):
            yield draw.normal(3, 4, 3), steep * W, -W, draw.normal(3, 2), mask


def _quarters(draw):
    """Single precision. All scores are 0 and 1, 2, 4 words or none are seen: every weight is a round number."""
    x, *tables = (draw.integers(-4, 5, *shape).float() / 4 for shape in ((2, 4, 3), (3, 4), (3, 2)))
    seen = torch.tensor([4, 2, 1, 0])
    return x, torch.zeros(3, 4), *tables, torch.arange(4) < seen[:, None]


def _sentences(draw):
    batch, places, dim, hidden, value_dim = draw.sizes(5, low=3)
    x, mask = draw.normal(batch, places, dim), draw.mask(batch, places, places)
    tables = draw.normal(dim, hidden), draw.normal(dim, hidden), draw.normal(dim, value_dim)
    yield draw.normal(2, 3, 2), draw.normal(2, 4), draw.normal(2, 4), draw.normal(2, 5), None
    yield x, *tables, None
    yield x, *tables, mask
    yield x, *tables, torch.ones(places, places, dtype=torch.bool).tril()  # one mask for all sentences
    yield x, *tables, draw.mask(batch, 1, places)  # padding; the last sentence is nothing else
    yield x[:1], *tables, mask[-1:]  # an axis of length 1 stays an axis; its last row is closed
    square = [draw.normal(3, 3) for _ in range(3)]  # mix-ups of axes give values here, no error
    yield draw.normal(3, 3, 3), *square, draw.mask(3, 3, 3)
    yield draw.normal(3, 3, 3), *square, None
    yield x, *tables, draw.mask(places, places)  # one mask for all sentences, with a closed row
    if draw.number == 0:
        yield from _far_apart(draw)
        yield _quarters(draw)
    if draw.number == 1:
        yield x, *tables, draw.mask(1, places, places)
        yield x[:, :1], *tables, None  # one word
        yield 1000 * x, *tables, None  # large scores: no exp without a care
    if draw.compact:  # to be read: one sentence of two words
        small = draw.normal(1, 2, 3), draw.normal(3, 2), draw.normal(3, 2), draw.normal(3, 1)
        yield *small, None
        for mask in ([[True, False], [True, True]], [[True, False]], [[True, True], [False, False]]):
            yield *small, torch.tensor([mask])


SELF_ATTENTION = Exercise(
    self_attention,
    cases=_sentences,
    returns=("context", "weights"),
    tolerance=1e-9,
    properties=[
        Property(
            "closed places get nothing",
            "Where the mask is False the weight must be exactly 0.",
            lambda result, x, W_q, W_k, W_v, mask: closed_get_nothing(result[1], mask),
        ),
        Property(
            "each row sums to one",
            "The weights of a word must sum to 1 over all words of its sentence (to 0 where everything is closed).",
            lambda result, x, W_q, W_k, W_v, mask: rows_sum_to_one(result[1], mask),
        ),
        Property(
            "context is the weighted sum of the values",
            "The context must be weights @ value, and the values are x @ W_v.",
            lambda result, x, W_q, W_k, W_v, mask: torch.allclose(result[0], result[1] @ (x @ W_v)),
        ),
    ],
)

wrong = SELF_ATTENTION.mistakes
wrong("not scaled", {" / query.shape[-1] ** 0.5": ""}).says("""
    You did not divide the scores by the root of the number of features of a query. The softmax then becomes a hard
    choice, and hardly any gradient comes through it.""")
wrong("scaled by the features of x", {"query.shape[-1]": "x.shape[-1]"}).says("""
    You divided by the root of the number of features of x. The dot product sums over the features of a *query*, after
    its projection: take the root of query.shape[-1].""")
wrong("scaled by the features of the values", {"query.shape[-1]": "value.shape[-1]"}).says("""
    You divided by the root of the number of features of a *value*. Values take no part in the scores. The dot product
    sums over the features of a query: take the root of query.shape[-1].""")
wrong(
    "words compared as they are", {"query @ key.mT / query.shape[-1] ** 0.5": "x @ x.mT / x.shape[-1] ** 0.5"}
).says("""
    You compared the words x with each other, without W_q and W_k. Then each word finds words like itself. The tables
    let it ask for something else: compare x W_q with x W_k.""")
wrong("scaled by the length of the sentence", {"query.shape[-1]": "query.shape[-2]"}).says("""
    You divided by the root of the number of words. What makes scores grow is the number of features that they sum
    over, not how many words there are.""")
wrong("divided without the root", {" ** 0.5": ""}).says("""
    You divided by the number of features itself. The *variance* of a dot product is that large, so its spread is the
    root of it: divide by the root.""")
wrong("tables transposed", {"x @ W_q, x @ W_k, x @ W_v": "x @ W_q.mT, x @ W_k.mT, x @ W_v.mT"}).says("""
    You multiplied with the transposed tables, x @ W.T, as nn.Linear does inside. Here the tables are (D, D'), rows
    belong to the features of x: x @ W_q.""")
wrong("queries and keys swapped", {"x @ W_q, x @ W_k,": "x @ W_k, x @ W_q,"}).says("""
    You let the keys ask and the queries answer. Row i of the weights belongs to word i as the one who *asks*: its
    query is x_i W_q, and the keys are x_j W_k.""")
wrong("keys made with W_q", {"x @ W_q, x @ W_k,": "x @ W_q, x @ W_q,"}).says("""
    You made queries and keys with the same table. Then each word asks for words like itself, and i finds j just as
    much as j finds i. Keys have a table of their own, W_k.""")
wrong("nothing projected", {"x @ W_q, x @ W_k, x @ W_v": "x, x, x"}).says("""
    You used x itself as query, key and value. The three tables make three roles of one word: what it asks for, how it
    is found, and what it tells.""")
wrong("values not projected", {"weights @ value, weights": "weights @ x, weights"}).says("""
    You summed the words x themselves. What a word hands over is its value, x @ W_v.""")
wrong("key in the place of value", {"weights @ value, weights": "weights @ key, weights"}).says("""
    You summed the keys. Keys are what is compared; *values* are what is handed over.""")
wrong(
    "softmax over the queries",
    "query, key, value = x @ W_q, x @ W_k, x @ W_v\n"
    "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
    "if mask is not None:\n    scores = scores.masked_fill(~mask, float('-inf'))\n"
    "weights = scores.softmax(1).nan_to_num(0)\nreturn weights @ value, weights",
).says("""
    Your weights sum to 1 over the words that *ask*. Each word spreads one unit of attention over the words that it
    looks at: softmax over the last axis.""")
wrong("weights turned", {"weights @ value, weights": "weights.mT @ value, weights"}).says("""
    You multiplied the transposed weights with the values. Row i of the weights belongs to word i, and mixes the
    values for word i: weights @ value.""")
wrong(
    "mask the wrong way round",
    "query, key, value = x @ W_q, x @ W_k, x @ W_v\n"
    "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
    "if mask is not None:\n    scores = scores.masked_fill(mask, float('-inf'))\n"
    "weights = scores.softmax(-1).nan_to_num(0)\nreturn weights @ value, weights",
).says("""
    You closed the places where the mask is True. In this book True means *may attend*.""")
wrong("zeroed after the softmax", {'scores.masked_fill(~mask, float("-inf"))': "scores"}).says("""
    You took the softmax over all places and zeroed the closed ones afterwards. What is left sums to less than 1:
    closed places still took their share. Close them before you normalise.""")
wrong(
    "score 0 is not closed",
    {'scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': "(scores * mask).softmax(-1)"},
).says("""
    You set closed scores to 0 (or multiplied by the mask) before the softmax. exp(0) is 1, so closed places still get
    a share. Their score must be −∞.""")
wrong(
    "NaN where all is closed", {'float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': 'float("-inf")).softmax(-1)'}
).says("""
    A word that may attend to nothing became NaN. A softmax of nothing but −∞ is 0 / 0: give such a row zero weights.""")
wrong(
    "a large number, not minus infinity", {'float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': "-1e9).softmax(-1)"}
).says("""
    You filled closed places with a large negative number. A row in which all is closed then shares its attention
    equally among closed places. Its weights must all be 0.""")
wrong(
    "mask ignored",
    {'scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)': "scores.softmax(-1)"},
).says("""
    You never used the mask. Padding, or the future, would get a share of the attention.""")
wrong(
    "causal though nobody asked",
    {
        "    if mask is None:": "    causal = torch.ones_like(scores, dtype=torch.bool).tril()\n"
        "    mask = causal if mask is None else causal & mask\n    if mask is None:"
    },
).says("""
    You closed the future in every case. Without a mask each word sees the whole sentence, before it and after it; the
    future is closed by a mask, when somebody passes one.""")
wrong(
    "no word sees itself",
    {
        "    if mask is None:": "    others = ~torch.eye(x.shape[1], dtype=torch.bool, device=x.device)\n"
        "    mask = others if mask is None else others & mask\n    if mask is None:"
    },
).says("""
    You closed the diagonal. Without a mask a word may attend to itself as well: often it is its own best witness.""")
wrong("batch mixed", {"key.mT": "key[0].mT"}).says("""
    You scored the words of all sentences against those of sentence 0. Sentences never look into each other.""")
wrong("input added", {"weights @ value, weights": "x + weights @ value, weights"}).says("""
    You added x to the context. That is a residual connection; it comes around this layer later, in the Transformer,
    and does not belong inside.""")
wrong("scores returned", {"weights @ value, weights": "weights @ value, scores"}).says("""
    Your second result is the scores. Return the weights: what is left after mask and softmax.""")
wrong("results swapped", {"return weights @ value, weights": "return weights, weights @ value"}).says("""
    You returned the weights first. The interface of the whole book is (context, weights).""")
wrong += MASKED_WRONGLY
wrong += SCALED_WRONGLY
