"""Lab 12: scores that know how far back a key lies, as in Transformer-XL."""

import torch

from misread.exercise import About, Exercise


def relative_scores(query, key, distance, content_bias, distance_bias):
    """Scores that know how far back a key lies: (B, Tq, D), (B, Tk, D), (Tk, D), (D,), (D,) -> (B, Tq, Tk)."""
    queries, keys, dim = query.shape[1], key.shape[1], query.shape[2]
    at = torch.arange(keys - queries, keys, device=query.device)  # (Tq,) positions of the queries
    back = at[:, None] - torch.arange(keys, device=query.device)  # (Tq, Tk), how far back each key lies
    by_content = (query + content_bias) @ key.mT  # (B, Tq, Tk)
    by_distance = (query + distance_bias) @ distance.T  # (B, Tq, Tk), column d belongs to distance d
    by_distance = by_distance.gather(2, back.clamp(min=0).expand_as(by_content))  # (B, Tq, Tk), column j to key j
    return ((by_content + by_distance) / dim**0.5).masked_fill(back < 0, -torch.inf)


def _memories(draw):
    batch, queries, more, dim = draw.sizes(4)

    def drawn(batch, queries, keys, dim):
        sizes = (batch, queries, dim), (batch, keys, dim), (keys, dim), (dim,), (dim,)
        return tuple(draw.normal(*size) for size in sizes)

    if draw.compact:
        yield drawn(1, 1, 2, 1)
        yield drawn(1, 2, 3, 1)
    yield drawn(batch, queries, queries + more, dim)
    yield drawn(batch, queries + 2, queries + 2, dim)  # no memory
    yield drawn(3, 1, 6, 4)  # one new word and a long memory
    yield drawn(2, 1, 1, 3)  # the very first word
    yield drawn(2, 3, 4, 2)
    yield drawn(2, 2, 5, 3)
    yield drawn(3, 3, 3, 3)  # all sizes the same


RELATIVE_SCORES = Exercise(
    relative_scores,
    cases=_memories,
    tolerance=1e-6,  # √D as a tensor is float32
    about=About(
        points=4, minutes=25, difficulty=4, read_again=("12_longer_text_evidence", "One trick: from distances to keys")
    ),
)

must = RELATIVE_SCORES.properties
must(
    "later keys are masked",
    lambda result, query, key, *rest: torch.equal(
        result.isinf(), torch.ones(result.shape).triu(key.shape[1] - query.shape[1] + 1).bool()
    ),
).says("""
    Keys that come after the query must have the score −inf, and all others a finite one. The queries are the last Tq of
    the Tk positions.""")

_AT, _BACK = (
    "torch.arange(keys - queries, keys, device=query.device)",
    "at[:, None] - torch.arange(keys, device=query.device)",
)
_CONTENT, _PLACE = "(query + content_bias) @ key", "(query + distance_bias) @ distance."
_LATER, _ROOT = ".masked_fill(back < 0, -torch.inf)", " / dim**0.5"

wrong = RELATIVE_SCORES.mistakes
wrong("the memory not counted", {_AT: "torch.arange(queries, device=query.device)"}).says("""
    Your queries count from 0, as if there were no memory before them. They are the last Tq of the Tk positions, so
    query i stands at position Tk − Tq + i.""")
wrong(
    "the memory not counted in the mask", {_LATER: ".masked_fill(torch.ones_like(back).triu(1).bool(), -torch.inf)"}
).says("""
    Your causal mask begins at the first key, as if there were no memory. Query i stands at position Tk − Tq + i, so a
    key is later only if j > Tk − Tq + i.""")
wrong("no mask", {_LATER: ""}).says("""
    Keys that come after the query still have a finite score, and for them a "distance" would be negative. A language
    model must not attend to them: set these scores to −inf.""")
wrong("its own position masked", {_LATER: ".masked_fill(back <= 0, -torch.inf)"}).says("""
    You masked the query's own position, too. Distance 0 is allowed, so only keys with j > Tk − Tq + i have the score
    −inf.""")
wrong("the shift left out", {".gather(2, back.clamp(min=0).expand_as(by_content))": ""}).says("""
    You added the scores by distance as they are, so that column j holds the score of *distance* j. Each row must be
    rearranged: the score of key j is that of distance Tk − Tq + i − j.""")
wrong(
    "the shift left out, distances reversed", {".gather(2, back.clamp(min=0).expand_as(by_content))": ".flip(-1)"}
).says("""
    You reversed the scores by distance and added the same order in every row. This fits the last query only; for query
    i column j must hold the score of distance Tk − Tq + i − j.""")
wrong("shifted by one too far", {"back.clamp(min=0)": "(back + 1).clamp(min=0, max=keys - 1)"}).says("""
    Your distances are too large by one. The query's own position has distance 0, and the one before it distance 1.""")
_GATHERED = "back.clamp(min=0)"
wrong("the sign of the distance reversed", {_BACK: "torch.arange(keys, device=query.device) - at[:, None]"}).says("""
    Your table of distances has the wrong sign: it is the position of the key minus that of the query. A distance counts
    how far back the key lies, so it is the position of the query minus that of the key, and negative for later keys.
    """)
wrong("negative distances looked up", {_GATHERED: "back"}).says("""
    You look up scores for negative distances, which do not exist. They belong to later keys, whose scores become −inf
    anyway, so take any valid column for them: back.clamp(min=0).""")
wrong("the first sequence's distances for all", {f"{_GATHERED}.expand_as(by_content)": f"{_GATHERED}[None]"}).says("""
    All sequences of the batch have the scores by distance of the first one. `gather` reads only as many rows as its
    index has, so expand the table of distances to the batch: .expand(B, -1, -1).""")
wrong("distances from the far end", {"back.clamp(min=0)": "(keys - 1 - back).clamp(min=0, max=keys - 1)"}).says("""
    You took row Tk − 1 − d of `distance` for the distance d. In the paper's code the rows are reversed; here row d
    belongs to distance d.""")
wrong(
    "the biases exchanged", {_CONTENT: "(query + distance_bias) @ key", _PLACE: "(query + content_bias) @ distance."}
).says("""
    You exchanged the two biases. `content_bias` (u) is added to the query before its product with the keys, and
    `distance_bias` (v) to the query before its product with the distances.""")
wrong("one bias for both", {_PLACE: "(query + content_bias) @ distance."}).says("""
    You used `content_bias` for both products. Before its product with the distances the query gets another bias,
    `distance_bias`.""")
wrong("the content bias left out", {_CONTENT: "query @ key"}).says("""
    The product with the keys lacks its bias: it is (q + u) · k, where u is `content_bias`. The term u · k gives
    each key a score that is the same for all queries.""")
wrong("the distance bias left out", {_PLACE: "query @ distance."}).says("""
    The product with the distances lacks its bias: it is (q + v) · r, where v is `distance_bias`. The term v · r
    gives each distance a score that is the same for all queries.""")
wrong("no biases", {_CONTENT: "query @ key", _PLACE: "query @ distance."}).says("""
    Both biases are missing. The score is (q + u) · k + (q + v) · r, where u is `content_bias` and v is
    `distance_bias`.""")
wrong("not scaled", {_ROOT: ""}).says("""
    Your scores are not divided by √D. The whole sum is scaled, content and distance together, as in any scaled
    dot-product attention.""")
wrong(
    "only the content scaled", {"(by_content + by_distance) / dim**0.5": "by_content / dim**0.5 + by_distance"}
).says("""
    You divided only the product with the keys by √D. As in the formula, the sum of both products is divided.""")
wrong(
    "only the distance scaled", {"(by_content + by_distance) / dim**0.5": "by_content + by_distance / dim**0.5"}
).says("""
    You divided only the product with the distances by √D. The sum of both products is divided, so set brackets.""")
wrong("scaled by the number of keys", {"dim**0.5": "keys**0.5"}).says("""
    You divided the scores by √Tk, the root of the number of keys. The scale belongs to the features that a dot product
    adds up, so divide by √D, the root of the size of the last axis of the query.""")
wrong("only the distance", {"(by_content + by_distance)": "by_distance"}).says("""
    The product with the keys is missing, so your scores do not depend on what the keys contain. Add (q + u) · k to the
    scores by distance.""")
wrong("only the content", {"(by_content + by_distance)": "by_content"}).says("""
    The scores by distance are missing, so your attention cannot know in which order the keys came. Add (q + v) · r to
    the product with the keys.""")
wrong("−1e9 for later keys", {_LATER: ".masked_fill(back < 0, -1e9)"}).says("""
    Later keys have a very negative score in your result, and not −inf. A large number is a guess about how small the
    other scores can be, while −inf is exact: -torch.inf.""")
wrong("0 for later keys", {_LATER: ".masked_fill(back < 0, 0.0)"}).says("""
    Later keys have the score 0 in your result. A score of 0 does not exclude a key, because exp(0) = 1: set these
    scores to −inf.""")
wrong("later keys as if they were earlier", {_LATER: "", "back.clamp(min=0)": "back.abs()"}).says("""
    You took the absolute value of the distance, so later keys have the score of earlier ones. A language model must not
    attend to them: set their scores to −inf.""")
ON_THE_KEYS = {_CONTENT: "query @ (key + content_bias)", _PLACE: "query @ (distance + distance_bias)."}
wrong("the biases on the keys", ON_THE_KEYS).says("""
    You added the biases to the keys and the distances. They belong to the query: (q + u) · k contains the term u · k,
    which depends on the key, while q · (k + u) contains q · u, which does not.""")
wrong("the content bias on the keys", {_CONTENT: "query @ (key + content_bias)"}).says("""
    You added `content_bias` to the keys. It belongs to the query: (q + u) · k contains the term u · k, which depends on
    the key, while q · (k + u) contains q · u, which does not.""")
wrong("the distance bias on the distances", {_PLACE: "query @ (distance + distance_bias)."}).says("""
    You added `distance_bias` to the vectors of the distances. It belongs to the query: (q + v) · r contains the term
    v · r, which depends on the distance, while q · (r + v) contains q · v, which does not.""")
