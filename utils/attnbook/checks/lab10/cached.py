"""Lab 10: reading new words with the keys and values of the old ones kept."""

from __future__ import annotations

import torch

from attnbook.lab_material.tiny_weights import TinyWeights

from ..engine.exercise import Exercise, Property


def read_cached(words, state, weights):
    keys, values = state  # (B, t, D) each, of the words read before
    before, new = keys.shape[1], words.shape[1]
    x = weights.embedding[words] + weights.positions[before : before + new]  # (B, n, D)
    keys = torch.cat([keys, x @ weights.W_k], dim=1)  # (B, t + n, D)
    values = torch.cat([values, x @ weights.W_v], dim=1)  # (B, t + n, D)
    scores = (x @ weights.W_q) @ keys.mT / x.shape[-1] ** 0.5  # (B, n, t + n)
    allowed = torch.ones_like(scores[0], dtype=torch.bool).tril(before)  # (n, t + n)
    context = scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ values  # (B, n, D)
    return (x + context) @ weights.W_o, (keys, values)  # (B, n, V)


def _weights(draw, words, dim, places):
    """Random weights, no two of them alike."""
    square = [draw.normal(dim, dim) for _ in range(3)]
    return TinyWeights(draw.normal(words, dim), draw.normal(places, dim), *square, draw.normal(dim, words))


def _words_and_cache(draw):
    for cached, new in ((2, 1), (0, 3), (3, 2), (2, 2)):  # one more; a beginning; two at once; as many as before
        batch, dim, words = draw.sizes(3)
        weights = _weights(draw, words + 2, dim, cached + new + 2)
        state = draw.normal(batch, cached, dim), draw.normal(batch, cached, dim)
        yield draw.integers(0, words + 2, batch, new), state, weights
    weights = _weights(draw, 3, 3, 6)  # square
    yield draw.integers(0, 3, 3, 3), (draw.normal(3, 3, 3), draw.normal(3, 3, 3)), weights
    weights = _weights(draw, 4, 2, 5)
    yield draw.integers(0, 4, 1, 1), (draw.normal(1, 3, 2), draw.normal(1, 3, 2)), weights  # one sentence, one word
    yield draw.integers(0, 4, 2, 1), (draw.normal(2, 0, 2), draw.normal(2, 0, 2)), weights  # the very first word
    weights = _weights(draw, 4, 3, 26)
    yield draw.integers(0, 4, 2, 6), (draw.normal(2, 18, 3), draw.normal(2, 18, 3)), weights  # a longer text
    weights = _weights(draw, 4, 3, 9)
    weights = weights._replace(W_q=1000 * weights.W_q)  # scores of thousands: exp of them is infinite
    yield draw.integers(0, 4, 2, 4), (draw.normal(2, 3, 3), draw.normal(2, 3, 3)), weights


READ_CACHED = Exercise(
    read_cached,
    cases=_words_and_cache,
    returns=("logits", "state"),
    tolerance=1e-8,
    properties=[
        Property(
            "the cache grows by the new words",
            "After n new words each sentence must have n keys and n values more, behind the old ones, which stay as "
            "they were.",
            lambda result, words, state, weights: all(
                new.shape[1] == old.shape[1] + words.shape[1] and torch.equal(new[:, : old.shape[1]], old)
                for new, old in zip(result[1], state, strict=True)
            ),
        ),
        Property(
            "the new keys are right",
            "The new keys must be (embedding + position) @ W_k, with positions counted on from the words before.",
            lambda result, words, state, weights: torch.allclose(
                result[1][0][:, state[0].shape[1] :], _new(words, state, weights) @ weights.W_k
            ),
        ),
        Property(
            "the new values are right",
            "The new values must be (embedding + position) @ W_v, with positions counted on from the words before.",
            lambda result, words, state, weights: torch.allclose(
                result[1][1][:, state[0].shape[1] :], _new(words, state, weights) @ weights.W_v
            ),
        ),
        Property(
            "the last word sees everything",
            "The cache is right, the logits are not. The last new word attends to all keys, old and new; then "
            "(x + context) @ W_o.",
            lambda result, words, state, weights: torch.allclose(
                result[0][:, -1], read_cached(words, state, weights)[0][:, -1]
            ),
        ),
    ],
)

wrong = READ_CACHED.mistakes
wrong("places counted from 0 again", {"weights.positions[before : before + new]": "weights.positions[:new]"}).says("""
    You gave the new words the places 0, 1, … With t words in the cache the next one stands at place t: take
    positions[t : t + n].""")
wrong("one place too far", {"[before : before + new]": "[before + 1 : before + new + 1]"}).says("""
    You counted the places from t + 1. Places begin with 0, so after t words the next one stands at place t.""")
wrong("all new words at one place", {"[before : before + new]": "[before]"}).says("""
    You gave all n new words the position of the first of them. They stand at t, t + 1, … : a slice, positions[t : t +
    n].""")
wrong("no positions", {" + weights.positions[before : before + new]": ""}).says("""
    You left the positions out. Then the model does not know in which order the words came.""")
wrong(
    "cache not used",
    "old_keys, old_values = state\nbefore, new = old_keys.shape[1], words.shape[1]\n"
    "x = weights.embedding[words] + weights.positions[before : before + new]\n"
    "keys, values = x @ weights.W_k, x @ weights.W_v\n"
    "scores = (x @ weights.W_q) @ keys.mT / x.shape[-1] ** 0.5\n"
    "allowed = torch.ones_like(scores[0], dtype=torch.bool).tril()\n"
    "context = scores.masked_fill(~allowed, float('-inf')).softmax(-1) @ values\n"
    "return (x + context) @ weights.W_o, (torch.cat([old_keys, keys], 1), torch.cat([old_values, values], 1))",
).says("""
    Your new words attend to each other only. What was read before lies in the cache: put the new keys and values
    behind the old ones, and attend to all of them.""")
wrong("new words not kept", {"(keys, values)  # (B, n, V)": "state"}).says("""
    You returned the cache as it came, without the new words. The next step would not know of them. Return the longer
    keys and values.""")
wrong("only the new words kept", {"(keys, values)  # (B, n, V)": "(keys[:, before:], values[:, before:])"}).says("""
    Your state holds the new words alone, and all that was read before is lost. Return old and new together, (B, t +
    n, D).""")
wrong(
    "new words in front",
    {"[keys, x @ weights.W_k]": "[x @ weights.W_k, keys]", "[values, x @ weights.W_v]": "[x @ weights.W_v, values]"},
).says("""
    You put the new keys and values in front of the old ones. They came later: behind.""")
wrong("mask in the wrong corner", {".tril(before)": ".tril()"}).says("""
    Your mask begins in the upper left corner, as if no word had come before. Row i is word t + i: it may see t + i +
    1 keys. `.tril(t)` moves the diagonal.""")
wrong("no mask", {".tril(before)": ""}).says("""
    Your new words see each other freely, also those after them. Read at once or one by one must give the same: a word
    sees itself and what was before it.""")
wrong("score 0 is not closed", {'scores.masked_fill(~allowed, float("-inf"))': "(scores * allowed)"}).says("""
    You multiplied the scores by the mask. A closed place then has the score 0, and exp(0) = 1: it still gets a share.
    Closed is −∞.""")
wrong(
    "zeroed after the softmax",
    {'scores.masked_fill(~allowed, float("-inf")).softmax(-1)': "(scores.softmax(-1) * allowed)"},
).says("""
    You took the softmax over all places and zeroed the closed ones afterwards. They took their share, and what is
    left does not sum to 1. Close them before.""")
wrong("diagonal moved by n", {".tril(before)": ".tril(new)"}).says("""
    You moved the diagonal by the number of *new* words. Before the first new word stand t old ones, and it sees all
    of them and itself: `.tril(t)`.""")
wrong("mask turned round", {".tril(before)": ".triu(before)"}).says("""
    Your mask lets a word see itself and what comes *after* it: triu. What came before stands to the left of the
    diagonal: tril.""")
wrong("a word does not see itself", {".tril(before)": ".tril(before - 1)"}).says("""
    Your mask hides each word from itself. A word attends to what was before it *and* to itself.""")
wrong(
    "new words do not see each other",
    {".tril(before)": ".tril(before).triu(before) | (torch.arange(before + new, device=x.device) < before)"},
).says("""
    Your new words see the cache and themselves, but not the new words before them. Those came earlier too.""")
wrong("words cached, not keys", {"x @ weights.W_k": "x", "x @ weights.W_v": "x"}).says("""
    You put the words' vectors x into the cache. What is kept is what would otherwise be computed again: x @ W_k and x
    @ W_v.""")
wrong(
    "cached keys projected again",
    {
        "W_q) @ keys.mT": "W_q) @ (torch.cat([state[0], x], 1) @ weights.W_k).mT",
        "softmax(-1) @ values": "softmax(-1) @ (torch.cat([state[1], x], 1) @ weights.W_v)",
    },
).says("""
    You multiplied the whole cache by W_k and W_v. The old keys and values are finished; only the new words go through
    the weights.""")
wrong(
    "keys and values mixed up",
    {"[keys, x @ weights.W_k]": "[keys, x @ weights.W_v]", "[values, x @ weights.W_v]": "[values, x @ weights.W_k]"},
).says("""
    You put the new keys behind the old *values* and the other way round. The state is (keys, values), in this order.""")
wrong("state returned as (values, keys)", {"(keys, values)  # (B, n, V)": "(values, keys)"}).says("""
    You returned (values, keys). The state goes out as it came in: (keys, values).""")
wrong("not scaled", {" / x.shape[-1] ** 0.5": ""}).says("""
    You did not divide the scores by √D. A cache changes nothing about the attention itself.""")
wrong("scaled by the number of keys", {"x.shape[-1] ** 0.5": "keys.shape[1] ** 0.5"}).says("""
    You divided the scores by √(t + n), the root of the number of keys. It is the number of *features* that makes a
    dot product large: √D.""")
wrong(
    "joined along the batch",
    {"x @ weights.W_k], dim=1": "x @ weights.W_k], dim=0", "x @ weights.W_v], dim=1": "x @ weights.W_v], dim=0"},
).says("""
    You joined old and new along axis 0, the batch: more sentences, not more words. The cache (B, t, D) grows along
    its words: `torch.cat(…, dim=1)`.""")
wrong("no way around", {"(x + context)": "context"}).says("""
    You sent the context alone through W_o. The word itself goes on as well: (x + context) @ W_o, the residual
    connection of Lab 09.""")
wrong(
    "logits for the last word only", {"@ weights.W_o, (keys": "@ weights.W_o)[:, -1], (keys", "return (x": "return ((x"}
).says("""
    You returned logits (B, V) of the last new word. `read_cached` gives them for all n new words, (B, n, V); who
    calls it takes what it needs.""")
wrong("softmax over the queries", {"softmax(-1)": "softmax(1).nan_to_num(0)"}).says("""
    Your weights sum to 1 over the new words. Each new word spreads one unit over the keys: last axis.""")


def _new(words, state, weights):
    before = state[0].shape[1]
    return weights.embedding[words] + weights.positions[before : before + words.shape[1]]
