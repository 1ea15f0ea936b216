"""Lab 20: attention to short vectors from which every head's keys and values could be made."""

import torch

from misread.exercise import About, Exercise


def latent_attention(query, turned_query, latent, turned_key, W_key, W_value):
    """One token's attention to T latent vectors: -> context (B, H, D), weights (B, H, T)."""
    asked = torch.einsum("bhd,hdc->bhc", query, W_key)  # (B, H, C): W_keyᵀ q, in place of T keys
    scores = asked @ latent.mT + turned_query @ turned_key.mT  # (B, H, C) @ (B, C, T) -> (B, H, T)
    scale = (query.shape[-1] + turned_query.shape[-1]) ** 0.5
    weights = (scores / scale).softmax(dim=-1)  # (B, H, T)
    mean = weights @ latent  # (B, H, T) @ (B, T, C) -> (B, H, C)
    return torch.einsum("bhc,hdc->bhd", mean, W_value), weights


def _kept(draw, batch, heads, tokens, features, turned, short, scale=1.0):
    yield scale * draw.normal(batch, heads, features)
    yield scale * draw.normal(batch, heads, turned)
    yield draw.normal(batch, tokens, short)
    yield draw.normal(batch, tokens, turned)
    yield draw.normal(heads, features, short)
    yield draw.normal(heads, features, short)


def _steps(draw):
    batch, heads, tokens, features, turned, short = draw.sizes(6)
    yield tuple(_kept(draw, batch, heads, tokens, features, turned, short))
    if draw.compact:
        yield tuple(_kept(draw, 1, 1, 2, 2, 2, 1))
        yield tuple(_kept(draw, 1, 2, 2, 1, 2, 2))
    yield tuple(_kept(draw, 2, 2, 2, 2, 2, 2))  # axes of one size
    yield tuple(_kept(draw, 3, 3, 3, 3, 3, 3))
    yield tuple(_kept(draw, 1, 2, 5, 4, 2, 4))  # as many latent features as a head has
    yield tuple(_kept(draw, 2, 3, 4, 4, 4, 2))
    yield tuple(_kept(draw, 1, 3, 1, 2, 2, 3))  # a single token is kept
    yield tuple(_kept(draw, 2, 2, 6, 3, 4, 5, scale=300.0))  # exp of these is infinite


LATENT_ATTENTION = Exercise(
    latent_attention,
    cases=_steps,
    returns=("context", "weights"),
    about=About(points=4, minutes=25, difficulty=4, read_again=("20_attention_today_evidence", "Latent attention")),
)


def _sums(result, *args):
    return torch.allclose(result[1].sum(-1), torch.ones_like(result[1][..., 0]))


must = LATENT_ATTENTION.properties
must("each head's weights sum to 1", _sums).says("""
    Each head distributes a weight of 1 over the T tokens, so `weights` must sum to 1 along its last axis.""")
must(
    "the context is W_value times a mean of the latent vectors",
    lambda result, query, turned_query, latent, turned_key, W_key, W_value: torch.allclose(
        result[0], torch.einsum("bht,btc,hdc->bhd", result[1], latent, W_value)
    ),
).says("""
    A head's context must be its matrix in `W_value` times the mean of the latent vectors under its own
    `weights`.""")

_CONTENT, _TURNED, _SCALE = "asked @ latent.mT", "turned_query @ turned_key.mT", "(scores / scale)"
_ROOT = "(query.shape[-1] + turned_query.shape[-1]) ** 0.5"
_ASKED, _BACK = 'torch.einsum("bhd,hdc->bhc", query, W_key)', 'torch.einsum("bhc,hdc->bhd", mean, W_value)'
_SOFTMAX, _SUM = ".softmax(dim=-1)", f"{_CONTENT} + {_TURNED}"

wrong = LATENT_ATTENTION.mistakes
wrong("the positions' part left out", {_SUM: _CONTENT}).says("""
    You compared by content only. The score is a sum of two parts: by content, and by position, which is the
    product of `turned_query` and `turned_key`.""")
wrong("the positions' part left out, √D", {_SUM: _CONTENT, _ROOT: "query.shape[-1] ** 0.5"}).says("""
    You compared by content only, and divided by √D. The score has a second part, the product of `turned_query`
    and `turned_key`, and the sum of both parts is divided by √(D + R).""")
wrong("the positions' part left out, not scaled", {_SUM: _CONTENT, _SCALE: "scores"}).says("""
    You compared by content only, and left the scale out. The score has a second part, the product of
    `turned_query` and `turned_key`, and the sum of both parts is divided by √(D + R).""")
wrong("by position only", {_SUM: _TURNED}).says("""
    You compared by position only. The score is a sum of two parts: the product of `turned_query` and
    `turned_key`, and the product of the query and the key that W_key makes of the latent vector.""")
wrong("scaled by √D", {_ROOT: "query.shape[-1] ** 0.5"}).says("""
    You divided by √D. The two parts together are a dot product of D + R features, D by content and R by
    position, so divide by √(D + R).""")
wrong("scaled by √(C + R)", {_ROOT: "(latent.shape[-1] + turned_query.shape[-1]) ** 0.5"}).says("""
    You divided by √(C + R), the size of what you have compared. Absorbing W_key must not change the result, and
    the score of a head's query and key has D + R features: divide by √(D + R).""")
wrong("scaled by √C", {_ROOT: "latent.shape[-1] ** 0.5"}).says("""
    You divided by √C, the size of a latent vector. The score of a head's query and key has D features by content
    and R by position, so divide by √(D + R).""")
wrong("scaled by √R", {_ROOT: "turned_query.shape[-1] ** 0.5"}).says("""
    You divided by √R. The two parts together are a dot product of D + R features, so divide by √(D + R).""")
wrong("only the content scaled", {_SUM: f"{_CONTENT} / query.shape[-1] ** 0.5 + {_TURNED}", _SCALE: "scores"}).says("""
    You divided the part by content by √D, and the part by position by nothing. Add both parts first, and divide
    the sum by √(D + R).""")
wrong("only the content divided by √(D + R)", {_SUM: f"{_CONTENT} / {_ROOT} + {_TURNED}", _SCALE: "scores"}).says("""
    You divided the part by content by √(D + R), and the part by position by nothing, as it happens when `query` alone
    is scaled. The *sum* of both parts is divided by √(D + R).""")
wrong("only the position divided by √(D + R)", {_SUM: f"{_CONTENT} + {_TURNED} / {_ROOT}", _SCALE: "scores"}).says("""
    You divided the part by position by √(D + R), and the part by content by nothing. In a + b / c Python divides first:
    the sum of both parts needs parentheses, (a + b) / c.""")
wrong("only the position divided by √R", {
    _SUM: f"{_CONTENT} + {_TURNED} / turned_query.shape[-1] ** 0.5", _SCALE: "scores"
}).says("""
    You divided the part by position by √R, and the part by content by nothing. Add both parts first, and divide the sum
    by √(D + R).""")  # fmt: skip
wrong(
    "each part scaled by its own root",
    {_SUM: f"{_CONTENT} / query.shape[-1] ** 0.5 + {_TURNED} / turned_query.shape[-1] ** 0.5", _SCALE: "scores"},
).says("""
    You divided the two parts by √D and by √R. Add them first, and divide the sum by √(D + R), because together
    they are one dot product.""")
wrong("scaled by √D + √R", {_ROOT: "query.shape[-1] ** 0.5 + turned_query.shape[-1] ** 0.5"}).says("""
    You divided by √D + √R. The root is taken of the sum: divide by √(D + R).""")
wrong("scaled by √(D + R + C)", {
    _ROOT: "(query.shape[-1] + turned_query.shape[-1] + latent.shape[-1]) ** 0.5"
}).says("""
    You divided by √(D + R + C). The score is a dot product of D + R features; that a key is made of C
    numbers plays no part: divide by √(D + R).""")  # fmt: skip
wrong("scaled by √(2H)", {_ROOT: "(query.shape[1] + turned_query.shape[1]) ** 0.5"}).says("""
    You took the sizes of axis 1 for the scale, which is the number of heads. D and R are the sizes of the *last* axis
    of `query` and `turned_query`.""")
wrong("scaled by √(D · R)", {_ROOT: "(query.shape[-1] * turned_query.shape[-1]) ** 0.5"}).says("""
    You divided by √(D · R), which is √D · √R. The two parts are added, so that together they are a dot product of
    D + R features: divide by √(D + R).""")
wrong("scaled by √T", {_ROOT: "latent.shape[1] ** 0.5"}).says("""
    You divided by √T, the root of the number of tokens. The scale belongs to the features of one dot product, of which
    there are D + R: divide by √(D + R).""")
wrong(
    "a causal mask", {_SCALE: "(scores / scale).masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)"}
).says("""
    You masked the scores above the diagonal. But the rows of the scores are heads here, and not positions. All queries
    belong to the newest token, which attends to every token that is kept: no mask is needed.""")
wrong("not scaled", {_SCALE: "scores"}).says("""
    You left the scale out. The score is divided by √(D + R) before the softmax.""")
wrong("multiplied by the root", {_SCALE: "(scores * scale)"}).says("""
    You multiplied by √(D + R). The score is divided by it, so that the scores of many features don't become too
    large for the softmax.""")
wrong("the root forgotten", {_ROOT: "query.shape[-1] + turned_query.shape[-1]"}).says("""
    You divided by D + R. It must be its square root.""")
wrong("the root of R only", {_ROOT: "query.shape[-1] + turned_query.shape[-1] ** 0.5"}).says("""
    You divided by D + √R, because Python computes a power before a sum. The root is taken of the sum, so D + R needs
    parentheses.""")
wrong("the root of D only", {_ROOT: "query.shape[-1] ** 0.5 + turned_query.shape[-1]"}).says("""
    You divided by √D + R. The root is taken of the sum: divide by √(D + R).""")
wrong("W_key transposed", {_ASKED: 'torch.einsum("bhd,hcd->bhc", query, W_key)'}).says("""
    You applied W_key the wrong way round. A key is k = W_key c, so q·k = q·(W_key c) = (W_keyᵀ q)·c: sum over
    the D features of the query, the *second* axis of `W_key`.""")
wrong("W_key reshaped", {_ASKED: "(query[:, :, None] @ W_key.reshape(W_key.shape[0], W_key.shape[1], -1).reshape("
                                 "W_key.shape[0], W_key.shape[2], -1).mT)[:, :, 0]"}).says("""
    You brought W_key to another shape with `reshape` or `view`, which keeps the order of the
    numbers and so mixes rows and columns. Leave it as (H, D, C), or exchange two axes with `.mT`.""")  # fmt: skip
wrong("W_value transposed", {_BACK: 'torch.einsum("bhc,hcd->bhd", mean, W_value)'}).says("""
    You applied W_value the wrong way round. A value is v = W_value c, so the sum goes over the C features of the
    latent vector, the *last* axis of `W_value`.""")
wrong("both matrices transposed", {
    _ASKED: 'torch.einsum("bhd,hcd->bhc", query, W_key)', _BACK: 'torch.einsum("bhc,hcd->bhd", mean, W_value)'
}).says("""
    You applied both matrices the wrong way round. Each makes D features of C: k = W_key c and v =
    W_value c, with matrices (D, C).""")  # fmt: skip
wrong(
    "keys and values exchanged", {", query, W_key)": ", query, W_value)", ", mean, W_value)": ", mean, W_key)"}
).says("""
    You exchanged W_key and W_value. Scores are made with W_key, and the context with W_value.""")
wrong("keys for the values", {", mean, W_value)": ", mean, W_key)"}).says("""
    Your context is made with W_key, so that it is a mean of the keys. It must be a mean of the values: use
    W_value.""")
wrong("values for the keys", {", query, W_key)": ", query, W_value)"}).says("""
    Your scores are made with W_value. Queries are compared with keys: use W_key.""")
wrong("the first head's W_key for all", {_ASKED: "query @ W_key[0]"}).says("""
    You used the first head's matrix of `W_key` for all heads. Each head has its own; only the latent vectors and
    `turned_key` are shared.""")
wrong("the first head's W_value for all", {_BACK: "mean @ W_value[0].mT"}).says("""
    You used the first head's matrix of `W_value` for all heads. Each head has its own; only the latent vectors
    and `turned_key` are shared.""")
wrong("first head's matrices for all", {_ASKED: "query @ W_key[0]", _BACK: "mean @ W_value[0].mT"}).says("""
    You used the first head's matrices for all heads. Each head has its own; only the latent vectors and
    `turned_key` are shared.""")
wrong("W_key summed over the heads", {_ASKED: 'torch.einsum("bhd,gdc->bhc", query, W_key)'}).says("""
    You summed the matrices of all heads in `W_key`. Each head is multiplied by its own: the letter of the heads
    must be the same for `query` and `W_key`.""")
wrong("the context left as a latent vector", {_BACK: "mean"}).says("""
    Your context is the mean of the latent vectors, with C features. Multiply it by the head's matrix in
    `W_value`, which makes D features of it.""")
wrong("W_key on the turned query, too", {
    "turned_query @ turned_key.mT": 'torch.einsum("bhr,hrc->bhc", turned_query, W_key) @ turned_key.mT'
}).says("""
    You sent the part by position through W_key as well. `turned_query` and `turned_key` are
    compared as they are: the rotation stands between them, and this is why they have features of
    their own.""")  # fmt: skip
wrong("positions added to the content", {
    _SUM: "torch.einsum('bhd,hdc->bhc', query + turned_query, W_key) @ (latent + turned_key).mT"
}).says("""
    You added the parts by position to those by content, and compared the sums. Then content is
    compared with position as well. Compare each part for itself, and add the two scores.""")  # fmt: skip
wrong(
    "turned key in the values as well", {"mean = weights @ latent": "mean = weights @ (latent + turned_key)"}
).says("""
    You averaged `turned_key` as well. It is part of the key only; values are made of the latent vectors alone.""")
wrong("softmax over the heads", {_SOFTMAX: ".softmax(dim=1)"}).says("""
    Your softmax goes over the heads. Each head distributes a weight of 1 over the T tokens, the last axis of the
    scores.""")
wrong("softmax over the texts", {_SOFTMAX: ".softmax(dim=0)"}).says("""
    Your softmax goes over the texts of the batch. Each head distributes a weight of 1 over the T tokens, the
    last axis of the scores.""")
wrong("exp of large scores", {
    "(scores / scale).softmax(dim=-1)":
    "(scores / scale).exp() / (scores / scale).exp().sum(dim=-1, keepdim=True)"
}).says("""
    Your softmax overflows where scores are large: exp(710) is infinite, and ∞ / ∞ is NaN. PyTorch's
    `softmax` subtracts the largest score first.""")  # fmt: skip
wrong("the largest score of all subtracted", {
    "(scores / scale).softmax(dim=-1)": "(scores / scale - scores.max() / scale).exp()",
    "    mean =": "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    mean =",
}).says("""
    You subtracted the largest score of all heads and texts. Where a head's own scores are far below it, every
    exponential is 0, and 0 / 0 is NaN. PyTorch's `softmax` subtracts each head's own largest score.""")  # fmt: skip
wrong("no softmax", {_SOFTMAX: ""}).says("""
    You used the scores themselves as weights. Apply a softmax over the T tokens.""")
wrong("a softmax for each part", {
    "(scores / scale).softmax(dim=-1)":
    f"(({_CONTENT} / scale).softmax(dim=-1) + ({_TURNED} / scale).softmax(dim=-1)) / 2"
}).says("""
    You computed a softmax for each part and averaged the two. Add the two scores first, and apply
    one softmax to the sum.""")  # fmt: skip
_TWO = (
    f"(({_CONTENT} / query.shape[-1] ** 0.5).softmax(dim=-1) + "
    f"({_TURNED} / turned_query.shape[-1] ** 0.5).softmax(dim=-1))"
)
wrong("a softmax for each part, of its own scale", {"(scores / scale).softmax(dim=-1)": f"{_TWO} / 2"}).says("""
    You computed a softmax for each part, with a scale of its own, and averaged the two. Add the two scores first,
    divide the sum by √(D + R), and apply one softmax to it.""")
wrong("two softmaxes added", {
    "(scores / scale).softmax(dim=-1)": f"({_CONTENT} / scale).softmax(dim=-1) + ({_TURNED} / scale).softmax(dim=-1)"
}).says("""
    You computed a softmax for each part and added the two, so that the weights sum to 2. Add the two
    scores first, and apply one softmax to the sum.""")  # fmt: skip
wrong("parts multiplied", {_SUM: f"({_CONTENT}) * ({_TURNED})"}).says("""
    You multiplied the two parts of the score. They are added, because together they are one dot product of D + R
    features.""")
wrong("part by position subtracted", {_SUM: f"{_CONTENT} - {_TURNED}"}).says("""
    You subtracted the part by position. The two parts are added.""")
wrong("heads merged", {_BACK: _BACK + ".flatten(1)"}).says("""
    You put the features of all heads side by side. Here the context stays separate by head, (B, H, D).""")
wrong("scores returned", {"W_value), weights": "W_value), scores / scale"}).says("""
    You returned the scores. The second result is the weights, after the softmax.""")
wrong("results exchanged", "\n".join([
    "asked = torch.einsum('bhd,hdc->bhc', query, W_key)",
    "scores = asked @ latent.mT + turned_query @ turned_key.mT",
    "weights = (scores / (query.shape[-1] + turned_query.shape[-1]) ** 0.5).softmax(dim=-1)",
    "return weights, torch.einsum('bhc,hdc->bhd', weights @ latent, W_value)",
])).says("""
    You returned the weights first. The order is context, weights.""")  # fmt: skip
wrong("only the context", {"W_value), weights": "W_value)"}).says("""
    You returned the context alone. Return two results: context, weights.""")
