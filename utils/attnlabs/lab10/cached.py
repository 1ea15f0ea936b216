"""Lab 10: reading new words with the keys and values of the old ones kept."""

import torch

from attnlabs.material.tiny_weights import TinyWeights
from misread.exercise import About, Exercise


def read_cached(words, state, weights):
    """Read new words (B, n) after those in the cache: logits (B, n, V), and (keys, values), (B, t + n, D) each."""
    keys, values = state  # (B, t, D) each, of the words read before
    before, new = keys.shape[1], words.shape[1]
    x = weights.embedding[words] + weights.positions[before : before + new]  # (B, n, D)
    keys = torch.cat([keys, x @ weights.W_k], dim=1)  # (B, t + n, D)
    values = torch.cat([values, x @ weights.W_v], dim=1)  # (B, t + n, D)
    scores = (x @ weights.W_q) @ keys.mT / x.shape[-1] ** 0.5  # (B, n, t + n)
    allowed = torch.ones_like(scores[0], dtype=torch.bool).tril(before)  # (n, t + n)
    context = scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ values  # (B, n, D)
    return (x + context) @ weights.W_o, (keys, values)  # (B, n, V)


def _weights(draw, words, dim, positions):
    """Random weights, no two of them alike."""
    square = [draw.normal(dim, dim) for _ in range(3)]
    return TinyWeights(draw.normal(words, dim), draw.normal(positions, dim), *square, draw.normal(dim, words))


def _words_and_cache(draw):
    # one more; a beginning; two at once; as many as before; after a single word
    for cached, new in ((2, 1), (0, 3), (3, 2), (2, 2), (1, 2)):
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
    weights = _weights(draw, 4, 3, 5)
    weights = weights._replace(W_q=-1e4 * weights.W_k)  # no word likes itself: the first score is far below 0
    yield draw.integers(0, 4, 2, 3), (draw.normal(2, 0, 3), draw.normal(2, 0, 3)), weights


def _finished(part, table):
    """Whether the new rows of one part of the cache, 0 the keys and 1 the values, come from this table."""

    def holds(result, words, state, weights):
        before = state[0].shape[1]
        x = weights.embedding[words] + weights.positions[before : before + words.shape[1]]
        return torch.allclose(result[1][part][:, before:], x @ getattr(weights, table))

    return holds


READ_CACHED = Exercise(
    read_cached,
    cases=_words_and_cache,
    returns=("logits", "state"),
    parts={"state": ("keys", "values")},
    tolerance=1e-8,
    about=About(points=4, minutes=22, difficulty=4, read_again="The key–value cache: no position is computed twice"),
)

must = READ_CACHED.properties
must(
    "the cache grows by the new words",
    lambda result, words, state, weights: all(
        new.shape[1] == old.shape[1] + words.shape[1] and torch.equal(new[:, : old.shape[1]], old)
        for new, old in zip(result[1], state, strict=True)
    ),
).says("""
    After n new words each sentence must have n more keys and n more values than before. They stand behind the old ones,
    which stay as they were.""")
must("the new keys are right", _finished(0, "W_k")).says("""
    The new keys must be (embedding + position) @ W_k, and their positions follow those of the old words.""")
must("the new values are right", _finished(1, "W_v")).says("""
    The new values must be (embedding + position) @ W_v, and their positions follow those of the old words.""")
must(
    "the last word attends to everything",
    lambda result, words, state, weights: torch.allclose(
        result[0][:, -1], read_cached(words, state, weights)[0][:, -1]
    ),
).says("""
    The cache is right, but the logits are not. The last new word attends to all keys, old and new, and its logits are
    (x + context) @ W_o.""")

_POSITIONS, _STATE = "weights.positions[before : before + new]", "(keys, values)  # (B, n, V)"

wrong = READ_CACHED.mistakes
wrong("positions counted from 0 again", {_POSITIONS: "weights.positions[:new]"}).says("""
    You gave the new words the positions 0, 1, … With t words in the cache the next word has position t, so take
    positions[t : t + n].""")
wrong(
    "word vectors scaled by √D",
    {"weights.embedding[words] +": "weights.embedding[words] * weights.embedding.shape[1] ** 0.5 +"},
).says("""
    You multiplied the word vectors by √D, as the Transformer of Lab 09 does. This smaller model takes them as they are:
    x = weights.embedding[words] + positions.""")
wrong("no positions", {f" + {_POSITIONS}": ""}).says("""
    You did not add the positions to the word vectors. Without them the model does not know the order of the
    words.""")
wrong("one position for all new words", {_POSITIONS: "weights.positions[before]"}).says("""
    You gave all new words the position of the first one, t. The second new word has position t + 1, and so on, so take
    n rows: positions[t : t + n].""")
wrong("positions from t + 1 on", {_POSITIONS: "weights.positions[before + 1 : before + 1 + new]"}).says("""
    You gave the first new word the position t + 1. Positions count from 0, so that the t words in the cache have the
    positions 0 to t − 1, and the next word has position t.""")
wrong("new words not kept", {_STATE: "state"}).says("""
    You returned the cache that you were given, without the keys and values of the new words, so that the next
    step would not know of these words. Return the longer keys and values.""")
wrong("only the new words kept", {_STATE: "(keys[:, before:], values[:, before:])"}).says("""
    Your state contains only the new words, so that everything that was read before is lost. Return old and new
    keys and values together, (B, t + n, D).""")
wrong("diagonal moved by the new words", {".tril(before)": ".tril(new)"}).says("""
    You moved the diagonal of the mask by n, the number of the *new* words. New word i has t words before it in the
    cache and i new ones, so move the diagonal by t: `.tril(t)`.""")
wrong("mask in the wrong corner", {".tril(before)": ".tril()"}).says("""
    Your mask begins in the upper left corner, as if no word had been read before. Row i belongs to word t + i,
    which may attend to t + i + 1 keys, so move the diagonal: `.tril(t)`.""")
wrong("one later word visible", {".tril(before)": ".tril(before + 1)"}).says("""
    Your mask is open for one word too many: each new word also attends to the one after it. New word i, counted from
    0, attends to positions 0 to t + i, which are t + i + 1 keys: `.tril(t)`.""")
wrong("mask the wrong way round", {"~allowed": "allowed"}).says("""
    You filled with −∞ where the mask *allows* attention (and the last word, for which everything is allowed, then has
    no key left, which gives NaN). `masked_fill` fills where its argument is True, so give it the forbidden positions:
    `~allowed`.""")
wrong("no mask", {".tril(before)": ""}).says("""
    Your new words attend to each other without a mask, so that they also attend to later words. Each word may
    attend only to itself and to earlier words, because then reading all at once or one by one gives the same.""")
_FILL = '.masked_fill(~allowed, float("-inf"))'
wrong("zeroed after the softmax", {f"{_FILL}.softmax(-1)": ".softmax(-1).masked_fill(~allowed, 0.0)"}).says("""
    You took the softmax over all keys and set those of later words to 0 afterwards, so that the rest sums to less than
    1. Fill their scores with −∞ *before* the softmax.""")
wrong("a word does not see itself", {".tril(before)": ".tril(before - 1)"}).says("""
    In your mask no word attends to itself. Each word attends to all earlier words *and* to itself: `.tril(t)`.""")
wrong("state returned as (values, keys)", {_STATE: "(values, keys)"}).says("""
    You returned (values, keys). The state must be returned in the order in which it came: (keys, values).""")
wrong("not scaled", {" / x.shape[-1] ** 0.5": ""}).says("""
    You did not divide the scores by √D. The attention is the same with and without a cache, so its scale stays,
    too.""")
wrong("divided by D", {"x.shape[-1] ** 0.5": "x.shape[-1]"}).says("""
    Your scores are divided by D. Wanted is its square root, √D: x.shape[-1] ** 0.5. (If you use torch's own
    `scaled_dot_product_attention`: it divides by √D itself, so do not divide beforehand.)""")
wrong("scaled by the number of keys", {"x.shape[-1] ** 0.5": "keys.shape[1] ** 0.5"}).says("""
    You divided the scores by the root of the number of *keys*, so that the scale changes from word to word. A dot
    product sums over the D features, so divide by √D: x.shape[-1].""")
wrong("added without the position", {"(x + context)": "(weights.embedding[words] + context)"}).says("""
    You added the context to the word's embedding alone. The residual connection adds what attention was given, which is
    x, the embedding *with* its position.""")
wrong("no residual connection", {"(x + context)": "context"}).says("""
    You multiplied the context alone by W_o. The residual connection is missing: the vector of the word itself is added
    first, (x + context) @ W_o.""")
wrong("the word's vector as its query", {"(x @ weights.W_q)": "x"}).says("""
    You took x itself as the query. The query is x @ W_q, as the key is x @ W_k.""")
wrong("queries made with W_k", {"(x @ weights.W_q)": "(x @ weights.W_k)"}).says("""
    You made the queries with the matrix of the keys. The query is x @ W_q.""")
wrong("values made with W_k", {"x @ weights.W_v": "x @ weights.W_k"}).says("""
    You made the values with the matrix of the keys. The value is x @ W_v.""")
_AGAIN_K = {"torch.cat([keys, x @ weights.W_k], dim=1)": "torch.cat([keys, x], dim=1) @ weights.W_k"}
_AGAIN_V = {"torch.cat([values, x @ weights.W_v], dim=1)": "torch.cat([values, x], dim=1) @ weights.W_v"}
wrong("old keys and values multiplied again", _AGAIN_K | _AGAIN_V).says("""
    You appended x to the cache and multiplied everything by W_k and W_v afterwards. The cache contains keys and values,
    which were multiplied already, so multiply only the new words and append the results.""")
_VECTORS = """
keys, values = state
before, new = keys.shape[1], words.shape[1]
x = weights.embedding[words] + weights.positions[before : before + new]
keys, values = torch.cat([keys, x], dim=1), torch.cat([values, x], dim=1)
scores = (x @ weights.W_q) @ (keys @ weights.W_k).mT / x.shape[-1] ** 0.5
allowed = torch.ones_like(scores[0], dtype=torch.bool).tril(before)
context = scores.masked_fill(~allowed, float("-inf")).softmax(-1) @ (values @ weights.W_v)
return (x + context) @ weights.W_o, (keys, values)"""
wrong("word vectors in the cache", _VECTORS).says("""
    You put the vectors x of the new words into the cache. What is kept are their keys x @ W_k and their values x @ W_v,
    so that none of them has to be computed again.""")
wrong("joined along the batch", {"W_k], dim=1": "W_k], dim=0", "W_v], dim=1": "W_v], dim=0"}).says("""
    You joined old and new along axis 0, which is the batch, so that there are more sentences instead of more
    words. The cache (B, t, D) grows along its words: `torch.cat(…, dim=1)`.""")
