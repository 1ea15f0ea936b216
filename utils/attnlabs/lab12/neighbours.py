"""Lab 12: a memory that needs no training: neighbours vote for the next word."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import lies_between


def knn_probabilities(query, keys, next_tokens, k, temperature, vocabulary):
    """The next word by the votes of its nearest neighbours: (B, D), (N, D), (N,) -> (B, vocabulary)."""
    distances = (query[:, None] - keys).square().sum(dim=-1)  # (B, N, D) -> (B, N), squared
    nearest, which = distances.topk(k, largest=False)  # (B, k)
    weights = (-nearest / temperature).softmax(dim=-1)  # (B, k)
    nothing = weights.new_zeros(len(query), vocabulary)  # (B, V)
    return nothing.scatter_add(1, next_tokens[which], weights)


def _datastores(draw):
    batch, entries, dim, words = draw.sizes(4)

    def drawn(batch, entries, dim, k, temperature, words):
        query, keys = draw.normal(batch, dim), draw.normal(entries, dim)
        return query, keys, draw.integers(0, words, entries), k, temperature, words

    if draw.compact:
        yield drawn(1, 2, 1, 1, 2.0, 2)
        yield drawn(1, 3, 1, 2, 2.0, 2)
    yield drawn(batch, entries + 6, dim, 3, 0.5, words + 3)
    yield drawn(batch, entries + 8, dim, 4, 2.0, 2)  # few words: neighbours agree
    yield drawn(batch, 5, dim, 5, 1.0, words + 5)  # all entries vote
    yield drawn(3, 7, 2, 1, 3.0, 4)  # the nearest neighbour alone
    query, keys, *rest = drawn(2, 9, 3, 4, 4.0, 5)
    yield 2 * query, 2 * keys, *rest
    query, keys, *rest = drawn(2, 6, 3, 3, 0.7, 4)
    yield query, torch.cat([keys[:-1], query[:1]]), *rest  # an entry that equals the query
    yield drawn(2, 1, 2, 1, 1.0, 3)  # one entry
    query, keys, *rest = drawn(2, 6, 2, 3, 0.5, 4)
    yield query + 50, keys, *rest  # all entries far away: exp of each −d is 0


KNN_PROBABILITIES = Exercise(
    knn_probabilities,
    cases=_datastores,
    about=About(
        points=3,
        minutes=18,
        difficulty=3,
        read_again=("12_longer_text_evidence", "A memory outside the model: nearest neighbours"),
    ),
)

must = KNN_PROBABILITIES.properties
must(
    "each row is a distribution",
    lambda result, *args: (result >= 0).all() and torch.allclose(result.sum(-1), torch.ones(()).to(result)),
).says("""
    Each row must hold probabilities: none is negative, and together they are 1.""")
must(
    "only words of the neighbours", lambda result, query, keys, next_tokens, k, *rest: ((result > 0).sum(-1) <= k).all()
).says("""
    At most k words can have a probability above 0, because k neighbours vote.""")

_TOPK, _SOFT = "distances.topk(k, largest=False)", "(-nearest / temperature).softmax(dim=-1)"
_VOTE = "nothing.scatter_add(1, next_tokens[which], weights)"
_LATE = f"{_VOTE}.softmax(dim=-1)"
_RAW = "(-nearest / temperature).exp()"

wrong = KNN_PROBABILITIES.mistakes
wrong("the farthest entries", {_TOPK: "distances.topk(k)"}).says("""
    You took the k *largest* distances, which is what `topk` returns by default. The neighbours are the
    nearest entries: topk(k, largest=False).""")
wrong("the sign lost", {"-nearest": "nearest"}).says("""
    Your neighbours have more weight the farther away they are. The weight is exp(−distance / temperature), so the
    minus must stand before the distance.""")
wrong("farthest entries, sign lost", {_TOPK: "distances.topk(k)", "-nearest": "nearest"}).says("""
    You treated the distance as if it were a similarity: you took the largest ones and gave them the largest weights.
    Near entries should vote, so take the smallest distances and put a minus before them.""")
wrong("not squared", {".square().sum(dim=-1)": ".square().sum(dim=-1).sqrt()"}).says("""
    Your distances are not squared. The neighbours are the same, but their weights differ: the softmax is over minus
    the *squared* distances, divided by the temperature.""")
wrong("city blocks", {".square()": ".abs()"}).says("""
    You added up the absolute differences. The distance here is the squared Euclidean one, the sum of the squared
    differences of the features.""")
wrong("dot products", {"(query[:, None] - keys).square().sum(dim=-1)": "-(query @ keys.T)"}).says("""
    You ranked the entries by their dot product with the query. Here the squared distance decides, because a long key
    has large dot products although it may be far away.""")
wrong("all entries vote", {_TOPK: "distances.topk(distances.shape[1], largest=False)"}).says("""
    You let every entry of the datastore vote. Only the k nearest have a vote, so cut to k entries before the softmax.
    """)
CUT_LATER = "weights, which = (-distances / temperature).softmax(dim=-1).topk(k)"
CUT_LATER += "\nreturn weights.new_zeros(len(query), vocabulary).scatter_add(1, next_tokens[which], weights)"
wrong("softmax before the cut", "distances = (query[:, None] - keys).square().sum(dim=-1)\n" + CUT_LATER).says("""
    You took the softmax over all entries and cut to k afterwards, so the weights of a row no longer sum to 1. Find the
    k nearest first, and take the softmax over these k.""")
_FIRST = "distances[:, :k], torch.arange(k).expand(len(query), -1)"
wrong("the first k entries", {_TOPK: _FIRST}).says("""
    You took the first k entries of the datastore, whatever their distance is. The k *nearest* ones vote, and they are
    different for each query: topk(k, largest=False).""")
_OF_THE_FIRST = "distances[:1].topk(k, largest=False)[1].expand(len(query), -1)"
wrong("the neighbours of the first query", {_TOPK: f"distances.gather(1, {_OF_THE_FIRST}), {_OF_THE_FIRST}"}).says("""
    All queries of the batch use the neighbours of the first one. Each query has its own k nearest entries, so search
    along the last axis of the distances (B, N).""")
wrong("the nearest left out", {_TOPK: "(x[:, 1:] for x in distances.topk(min(k + 1, len(keys)), largest=False))"}).says(
    """
    You left out the nearest entry, as if it were the query itself. The datastore holds past states only, so the nearest
    entry votes, too."""
)
wrong("votes overwritten", {"scatter_add(": "scatter("}).says("""
    Where several neighbours have the same next word, only one of their votes is left, because assigning by an index
    (or `scatter`) overwrites. Votes for the same word must be added: scatter_add.""")
wrong("one vote each", {_SOFT: "torch.ones_like(nearest) / k"}).says("""
    You gave all k neighbours the same vote. A nearer one counts more: its weight is the softmax over minus the squared
    distances, divided by the temperature.""")
wrong("multiplied by the temperature", {"-nearest / temperature": "-nearest * temperature"}).says("""
    You multiplied by the temperature. It divides, so that a high temperature makes the votes more equal.""")
wrong("no temperature", {"-nearest / temperature": "-nearest"}).says("""
    You left the temperature out. Divide the distances by it before the softmax.""")
wrong("twice the square of the temperature", {"-nearest / temperature": "-nearest / (2 * temperature**2)"}).says("""
    You divided by 2 · temperature², as in a normal distribution. Here the squared distance is divided by the
    temperature itself.""")
wrong("scaled by √D", {".square().sum(dim=-1)": ".square().sum(dim=-1) / keys.shape[-1] ** 0.5"}).says("""
    You divided the distances by √D, as attention does with its scores. Here nothing but the temperature divides them.
    """)
wrong("the number of the entry for the word", {"next_tokens[which]": "which % vocabulary"}).says("""
    You used the numbers of the neighbours themselves as words. An entry's word stands in the datastore beside its key:
    next_tokens[which].""")
wrong("softmax over the queries", {".softmax(dim=-1)": ".softmax(dim=0)"}).says("""
    Your softmax runs over the batch of queries. For each query, the votes of its own k neighbours sum to 1, which is
    the last axis.""")
wrong("softmax over the words", {_VOTE: _LATE}).says("""
    You took one more softmax over the words. The votes already sum to 1, and a word without any vote has the
    probability 0.""")
wrong("distances added, then a softmax over the words", {_SOFT: "-nearest / temperature", _VOTE: _LATE}).says("""
    You added −distance / temperature per word and took the softmax over the vocabulary. Then words without a vote have
    a probability, too. Take the softmax over the k neighbours first, and add these votes.""")
wrong("votes added, then a softmax over the words", {_SOFT: _RAW, _VOTE: _LATE}).says("""
    You added exp(−distance / temperature) per word and took the softmax over the vocabulary. Then words without a vote
    have a probability, too. Take the softmax over the k neighbours first, and add these votes.""")
wrong("not normalised", {_SOFT: _RAW}).says("""
    Your votes are exp(−distance / temperature) as they are, so a row does not sum to 1. Divide each row by its sum, as
    a softmax over the k neighbours does.""")
wrong("counts", {_SOFT: "torch.ones_like(nearest)"}).says("""
    You counted how many neighbours vote for each word. The votes are weighted by their distances, and together they are
    1: softmax(−distance / temperature).""")
COSINE = "-F.normalize(query, dim=-1) @ F.normalize(keys, dim=-1).T"
wrong("cosines", {"(query[:, None] - keys).square().sum(dim=-1)": COSINE}).says("""
    You ranked the entries by their cosine with the query, which ignores how long the vectors are. Here the squared
    Euclidean distance decides.""")


def mix_probabilities(model, memory, weight):
    """weight · memory + (1 − weight) · model: (..., V), (..., V), a number -> (..., V)."""
    return weight * memory + (1 - weight) * model


def _pairs(draw):
    batch, words = draw.sizes(2)
    if draw.compact:
        yield draw.normal(1, 2).softmax(-1), draw.normal(1, 2).softmax(-1), 0.2
    for weight in (0.25, 0.7):
        yield draw.normal(batch, words + 1).softmax(-1), draw.normal(batch, words + 1).softmax(-1), weight
    memory = _votes(draw, batch, [1, 0, 1, 1, 0])
    yield draw.normal(batch, 5).softmax(-1), memory, 0.1  # words without a vote
    yield draw.normal(3, 4).softmax(-1), draw.normal(3, 4).softmax(-1), 0.0
    yield draw.normal(3, 4).softmax(-1), _votes(draw, 3, [1, 0, 1, 1]), 1.0  # exactly 0
    yield torch.ones(1, 1, 1, dtype=torch.float64), torch.ones(1, 1, 1, dtype=torch.float64), 0.3  # one word
    yield draw.normal(2, 3, 4).softmax(-1), draw.normal(2, 3, 4).softmax(-1), 0.4  # a distribution for each position


def _votes(draw, batch, voted):
    """Probabilities in which the words without a vote, 0 in `voted`, have exactly 0."""
    return draw.normal(batch, len(voted)).masked_fill(torch.tensor(voted) == 0, -torch.inf).softmax(-1)


def _among_probabilities(gradients, *args):
    """Gradients without the direction in which the probabilities would no longer sum to 1; it may differ."""
    return [None if slope is None else slope - slope.mean(dim=-1, keepdim=True) for slope in gradients]


MIX_PROBABILITIES = Exercise(
    mix_probabilities,
    cases=_pairs,
    canonical_gradients=_among_probabilities,
    about=About(
        points=1,
        minutes=5,
        difficulty=1,
        read_again=("12_longer_text_evidence", "A memory outside the model: nearest neighbours"),
    ),
)

must = MIX_PROBABILITIES.properties
must("between the two", lambda result, model, memory, weight: lies_between(result, model, memory)).says("""
    Each mixed probability must lie between those of the model and of the memory.""")

_MIX = "weight * memory + (1 - weight) * model"

wrong = MIX_PROBABILITIES.mistakes
wrong("exchanged", {_MIX: "weight * model + (1 - weight) * memory"}).says("""
    You gave `weight` to the model and the rest to the memory. The weight is the memory's share, so a weight of 0 is
    the model alone.""")
wrong("the model not reduced", {"(1 - weight) * model": "model"}).says("""
    You added the weighted memory to the whole model, so a row sums to more than 1. What the memory receives, the model
    must give up: multiply it by (1 − weight).""")
wrong("the memory not reduced", {_MIX: "memory + (1 - weight) * model"}).says("""
    You added the whole memory, so a row sums to more than 1. The memory's share is `weight`: multiply it by that.""")
wrong("weight for both", {_MIX: "weight * memory + weight * model"}).says("""
    You multiplied both by `weight`, so a row sums to 2 · weight. The model gets what the memory leaves, which is
    (1 − weight).""")
wrong("the brackets left out", {_MIX: "weight * memory + 1 - weight * model"}).says("""
    Without brackets 1 − weight · model is computed, the product first. The model is multiplied by the difference:
    (1 − weight) · model.""")
wrong("divided by 1 + weight", {_MIX: "(weight * memory + model) / (1 + weight)"}).says("""
    You added the weighted memory to the whole model and divided by the sum, which is 1 + weight. Then the memory's
    share is weight / (1 + weight). It must be `weight` itself, and the model's share (1 − weight).""")
wrong("added", {_MIX: "memory + model"}).says("""
    You added the two distributions without weights, so each row sums to 2. Multiply the memory by `weight` and the
    model by (1 − weight).""")
wrong("the plain mean", {_MIX: "(memory + model) / 2"}).says("""
    You took the mean of the two, whatever the weight. The memory's share is `weight`, and the model's is (1 − weight).
    """)
wrong("a softmax afterwards", {_MIX: f"({_MIX}).softmax(dim=-1)"}).says("""
    You took a softmax of the mixture. Both parts are probabilities already, and so is their weighted mean: nothing is
    left to normalise.""")
GEOMETRIC = (
    "mixed = memory.clamp(min=1e-30) ** weight * model ** (1 - weight)\nreturn mixed / mixed.sum(-1, keepdim=True)"
)
wrong("logarithms mixed", GEOMETRIC).says("""
    You mixed the logarithms, which is a product of powers. A word for which no neighbour votes would then be almost
    impossible, however sure the model is; mix the probabilities themselves.""")
wrong("powers multiplied", {_MIX: "memory**weight * model ** (1 - weight)"}).says("""
    You multiplied powers of the two, so a row does not sum to 1, and a word for which no neighbour votes gets 0. The
    shares are factors, and the two products are added.""")
wrong("the larger one", {_MIX: "torch.maximum(weight * memory, (1 - weight) * model)"}).says("""
    You kept the larger of the two weighted probabilities. Both sources contribute to every word: add them.""")
NORMALISED = "mixed = (1 - weight) * model + memory\nreturn mixed / mixed.sum(dim=-1, keepdim=True)"
wrong("normalised afterwards", NORMALISED).says("""
    You added the whole memory to the reduced model and divided by the sum. The memory's share is then 1 / (2 − weight),
    and not the weight itself: multiply the memory by `weight`, and no division is needed.""")
