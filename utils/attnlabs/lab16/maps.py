"""Lab 16: SAGAN. First, attention over the positions of a feature map."""

import torch

from misread.exercise import About, Exercise


def feature_map_attention(x, W_q, W_k, W_v):
    """Each position of x (B, C, H, W) attends to all: attended (B, D, H, W), weights (B, N, N)."""
    batch, _, height, width = x.shape
    positions = x.flatten(2).mT  # (B, C, H, W) -> (B, C, N) -> (B, N, C), with N = H · W
    query, key, value = positions @ W_q.T, positions @ W_k.T, positions @ W_v.T  # (B, N, A), (B, N, A), (B, N, D)
    weights = (query @ key.mT).softmax(dim=-1)  # (B, N, N)
    context = weights @ value  # (B, N, D)
    return context.mT.reshape(batch, -1, height, width), weights  # (B, D, H, W)


def _maps(draw):
    batch, channels, features, values = draw.sizes(4)
    height, width = draw.sizes(2)

    def drawn(batch, channels, height, width, features, values):
        matrices = [draw.normal(size, channels) / channels**0.5 for size in (features, features, values)]
        return draw.normal(batch, channels, height, width), *matrices

    if draw.compact:
        yield drawn(1, 1, 1, 2, 1, 1)
        yield drawn(1, 1, 2, 2, 1, 1)
        yield drawn(1, 2, 1, 2, 1, 2)
    yield drawn(batch, channels, height, width, features, values)
    yield drawn(2, 6, 2, 3, 6, 6)  # as many channels as positions: a forgotten transpose keeps the shape
    yield drawn(3, 3, 3, 3, 3, 3)  # all sizes the same
    yield drawn(batch, channels, 1, width, features, values)
    yield drawn(batch, channels, height, 1, features, values)
    x, *matrices = drawn(1, 2, 3, 2, 4, 2)
    yield 60 * x, *matrices  # large scores: exp alone overflows


FEATURE_MAP_ATTENTION = Exercise(
    feature_map_attention,
    cases=_maps,
    returns=("attended", "weights"),
    about=About(points=3, minutes=25, difficulty=3, read_again="Attention over a feature map"),
)

must = FEATURE_MAP_ATTENTION.properties
must(
    "each position distributes a weight of 1",
    lambda result, *args: torch.allclose(result[1].sum(-1), torch.ones_like(result[1][..., 0])),
).says("""
    Each row of the weights belongs to one querying position, and must sum to 1 over the positions it attends to: the
    softmax runs over the last axis.""")
must(
    "a mean of the values of its image",
    lambda result, x, W_q, W_k, W_v: _between(result[0], torch.einsum("dc,bchw->bdhw", W_v, x)),
).says("""
    Each channel of the attended map is a weighted mean over the positions of the same image, so it lies between the
    smallest and the largest value of this channel.""")


def _between(attended, values):
    low, high = values.amin((2, 3), keepdim=True), values.amax((2, 3), keepdim=True)
    spare = 1e-4 * (1 + values.abs().amax())  # who computes with fewer digits is told this, and no more
    return ((attended >= low - spare) & (attended <= high + spare)).all()


_POSITIONS, _BACK = "x.flatten(2).mT", "context.mT.reshape(batch, -1, height, width)"
_SOFTMAX, _SCORES, _VALUE = ".softmax(dim=-1)", "query @ key.mT", ", positions @ W_v.T"
_WEIGHTS = f"({_SCORES}){_SOFTMAX}"
_CUT = "x.reshape(batch, height * width, -1)"

wrong = FEATURE_MAP_ATTENTION.mistakes
wrong("softmax over the queries", {_SOFTMAX: ".softmax(dim=-2)"}).says("""
    Your weights sum to 1 over the *querying* positions. Row i of the weights belongs to query i, which distributes a
    weight of 1 over all keys, so the softmax runs over the last axis.""")
wrong("softmax over everything", {_SOFTMAX: ".flatten(1).softmax(-1).view(batch, height * width, -1)"}).says("""
    Your softmax runs over all pairs of positions at once. Each query distributes a weight of 1 of its own, so take
    the softmax over the last axis only.""")
wrong("reshaped without a transpose", {_POSITIONS: _CUT}).says("""
    You used reshape or view to bring the map into the shape (B, N, C), but this leaves the numbers in their old order,
    so a "position" holds numbers of several positions. Join height and width first, (B, C, N), and then exchange the
    last two axes.""")
wrong("not transposed on the way back", {_BACK: "context.reshape(batch, -1, height, width)"}).says("""
    You cut the contexts (B, N, D) into (B, D, H, W) without exchanging axes, so a channel of your map holds numbers of
    several channels. Exchange the last two axes first, (B, D, N), and then split N into height and width.""")
wrong(
    "reshaped without a transpose, twice", {_POSITIONS: _CUT, _BACK: "context.reshape(batch, -1, height, width)"}
).says(
    """
    You used reshape or view on the way in and on the way out. Both keep the order of the numbers and only cut them
    differently, so positions and channels are mixed: transpose after joining height and width, and before splitting
    them again."""
)
wrong("column by column", {_POSITIONS: "x.mT.flatten(2).mT", _BACK: f"{_BACK[:-14]}width, height).mT"}).says("""
    Your attended map is right, but you numbered the positions column by column. The contract is row by row: position
    (r, c) has the number r · W + c, in the rows and in the columns of the weights.""")
wrong("column by column on one way", {_POSITIONS: "x.mT.flatten(2).mT"}).says("""
    You numbered the positions column by column on the way in and row by row on the way out, so the contexts are put at
    other positions. Position (r, c) has the number r · W + c on both ways.""")
wrong("contexts left as a list", {f"return {_BACK}": "return context"}).says("""
    You returned the contexts as a list of positions, (B, N, D). The attended map has the axes of a feature map:
    exchange the last two axes, (B, D, N), and then split N into height and width.""")
wrong("queries and keys exchanged", {_SCORES: "key @ query.mT"}).says("""
    You exchanged queries and keys. Row i of the scores belongs to query i and column j to key j, so the scores are
    query @ key transposed.""")
SCALED = f"({_SCORES} / query.shape[-1] ** 0.5){_SOFTMAX}"
wrong("scaled", {_WEIGHTS: SCALED}).says("""
    You divided the scores by √A, as the Transformer does. The attention of SAGAN uses the plain dot product, and the
    weights that were trained with it expect it.""")
wrong("scaled by the channels", {_WEIGHTS: SCALED.replace("query.shape[-1]", "x.shape[1]")}).says("""
    You divided the scores by √C, the root of the number of channels. The attention of SAGAN uses the plain dot product
    of query and key, without a division.""")
wrong("scaled by the positions", {_WEIGHTS: SCALED.replace("query.shape[-1]", "(height * width)")}).says("""
    You divided the scores by √N, the root of the number of positions, which is what `shape[-1]` says of queries
    (B, A, N). The attention of SAGAN uses the plain dot product of query and key, without a division.""")
wrong("scaled in the sum only", {"weights @ value": f"{SCALED} @ value"}).says("""
    Your weights are right, but the attended map is made with other weights, whose scores were divided by √A.
    `F.scaled_dot_product_attention` divides by √A unless you give it `scale=1.0`; the weights that you return can be
    used for the sum as well.""")
wrong("the map itself as the values", {_VALUE: ", positions"}).says("""
    You averaged the map itself, so W_v has no effect. The values are W_v applied to each position, as the queries
    and keys are W_q and W_k applied to it.""")
wrong("matrices transposed", {"W_q.T": "W_q", "W_k.T": "W_k", "W_v.T": "W_v"}).says("""
    You multiplied with the matrices the other way round. Each has one row per *output* feature, (A, C), so a position's
    query is W_q times its C channels; with positions (B, N, C) this is `positions @ W_q.T`.""")
wrong(
    "the map added",
    f"""
batch, _, height, width = x.shape
positions = x.flatten(2).mT
weights = ((positions @ W_q.T) @ (positions @ W_k.T).mT){_SOFTMAX}
context = (weights @ (positions @ W_v.T)).mT.reshape(batch, -1, height, width)
return x + context, weights""",
).says("""
    You added the map to what was attended to. This sum is the next exercise, where a factor γ stands before the
    attended map; here only the attended map is wanted.""")
wrong("scores instead of weights", {"height, width), weights": f"height, width), {_SCORES}"}).says("""
    Your attended map is right, but the second result holds the scores. Return the weights, which are the softmax of
    the scores over the last axis.""")
wrong("no softmax", {_WEIGHTS: f"{_SCORES}"}).says("""
    You used the scores as weights, without a softmax. Weights are positive and sum to 1 per query, which a softmax over
    the last axis achieves.""")
wrong("divided by the number of positions", {_WEIGHTS: f"{_SCORES} / (height * width)"}).says("""
    You divided the scores by the number of positions, which is the dot-product version of the non-local block. SAGAN
    uses a softmax over the keys, so that the weights are positive and sum to 1 per query.""")
wrong("values averaged with the columns", {"weights @ value": "weights.mT @ value"}).says("""
    Your weights are right, but you averaged the values with their *columns*, which do not sum to 1. What position i
    receives is made with row i of the weights: weights @ value for values (B, N, D), or value @ weights transposed for
    (B, D, N).""")
SELF = "eye = torch.eye(height * width).bool()\n    weights = ({}).masked_fill(eye.to(x.device), -1e30){}"
wrong("the position itself left out", {f"weights = {_WEIGHTS}": SELF.format(_SCORES, _SOFTMAX)}).says("""
    You excluded each position from its own attention. Each position attends to all N positions of the image, itself
    included.""")
CAUSAL = "later = torch.ones_like({}).triu(1).bool()\n    weights = ({}).masked_fill(later, -torch.inf){}"
wrong("causal", {f"weights = {_WEIGHTS}": CAUSAL.format(_SCORES, _SCORES, _SOFTMAX)}).says("""
    You masked the positions after the query, as a decoder does. An image has no order in time: each position attends
    to all N positions.""")
wrong(
    "all images in one list",
    """
positions = x.flatten(2).mT.flatten(0, 1)  # (B · N, C)
weights = ((positions @ W_q.T) @ (positions @ W_k.T).T).softmax(dim=-1)
context = (weights @ (positions @ W_v.T)).view(len(x), -1, len(W_v))
return context.mT.reshape(len(x), -1, *x.shape[2:]), weights""",
).says("""
    You joined the images of the batch into one list of B · N positions, so that positions of different images attend to
    each other. Keep the batch as the first axis: each position attends to the N positions of its own image.""")
wrong("height and width exchanged", {_BACK: "context.mT.reshape(batch, -1, width, height)"}).says("""
    You exchanged height and width: your attended map has the width where the height belongs. In (B, D, H, W) the
    height is axis 2 and the width axis 3, as in `x.shape`.""")
wrong(
    "height and width exchanged, then transposed", {_BACK: "context.mT.reshape(batch, -1, width, height).mT"}
).says("""
    You cut N into (W, H) and exchanged the two afterwards, which numbers the positions column by column. N = H · W
    goes row by row: cut it into (H, W) at once.""")
OWN = f"({_SCORES}).exp() / ({_SCORES}).exp().sum(-1, keepdim=True)"
wrong("an exp without the maximum subtracted", {_WEIGHTS: OWN}).says("""
    Your softmax overflows where scores are large: exp(710) is infinite, and ∞ / ∞ is NaN. The scores are not divided
    here, so they may be large. torch's `softmax` subtracts the largest score of each row first.""")
