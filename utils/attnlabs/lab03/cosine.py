"""Lab 3: the cosine score, where only the angle between two vectors counts."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise

from .scores import pairs


def cosine_score(query, key, eps=1e-8):
    """Cosines of all pairs, 0 for vectors of zeros: (B, Tq, D), (B, Tk, D) -> (B, Tq, Tk)."""
    query_length = query.norm(dim=-1, keepdim=True).clamp_min(eps)  # (B, Tq, 1)
    key_length = key.norm(dim=-1, keepdim=True).clamp_min(eps)  # (B, Tk, 1)
    return (query / query_length) @ (key / key_length).mT  # (B, Tq, Tk)


def _pairs_with_zeros(draw):
    if draw.compact:  # one query and two keys: short ones, and shorter than eps
        yield draw.normal(1, 1, 2), 1e-6 * draw.normal(1, 2, 2), 1e-8
        yield 1e-6 * draw.normal(1, 1, 2), 1e-6 * draw.normal(1, 2, 2), 1e-8
        yield 0.1 * draw.normal(1, 1, 2), draw.normal(1, 2, 2), 0.5
    for query, key in pairs(draw):
        key[:, -1] = 0.0  # a memory that has not been written yet
        query[0, 0] = 0.0
        yield query * draw.uniform(*query.shape[:2], 1, low=0.1, high=5.0), key, 1e-8
    yield draw.normal(2, 3, 3), 1e-6 * draw.normal(2, 3, 3), 1e-8  # short vectors have a direction too
    yield 1e-6 * draw.normal(2, 3, 3), 1e-6 * draw.normal(2, 4, 3), 1e-8  # the product of lengths is below eps
    lengths = torch.tensor([0.1, 3.0, 0.3, 0.7], dtype=torch.float64)[:, None]
    query, key = draw.normal(2, 4, 3), draw.normal(2, 4, 3)
    yield lengths * F.normalize(query, dim=-1), lengths[:3] * F.normalize(key[:, :3], dim=-1), 0.5


def _above_the_floor(gradients, query, key, eps):
    """F.cosine_similarity is right too, and has another slope at vectors shorter than eps."""
    lengths = [vectors.norm(dim=-1, keepdim=True) for vectors in (query, key)]
    short = [(length > 0) & (length < eps) for length in lengths]
    return [gradients[0].masked_fill(short[0], 0.0), gradients[1].masked_fill(short[1], 0.0), None]


COSINE_SCORE = Exercise(
    cosine_score,
    cases=_pairs_with_zeros,
    canonical_gradients=_above_the_floor,
    about=About(points=2, minutes=16, difficulty=2, read_again="Six ways to compare a query with a key"),
)

must = COSINE_SCORE.properties
must("between −1 and 1", lambda result, *args: (result.abs() <= 1 + 1e-9).all()).says("""
    A cosine lies between −1 and 1, because each vector is divided by its own length, the root of the sum of its
    squares.""")
must("zero vectors score 0", lambda result, query, key, *eps: (result.mT[(key == 0).all(-1)] == 0).all()).says("""
    A vector of zeros has no direction, so its cosine with any other vector must be 0 here.""")

wrong = COSINE_SCORE.mistakes
wrong("sums of absolute values", {"query.norm(": "query.norm(p=1, ", "key.norm(": "key.norm(p=1, "}).says("""
    You divided by the sum of the absolute values. The length of a vector is the root of the sum of its squares, as
    `norm` computes it.""")
QUERY, KEY = "query.norm(dim=-1, keepdim=True)", "key.norm(dim=-1, keepdim=True)"
wrong("no guard against zero", {f"{x}.clamp_min(eps)": x for x in (QUERY, KEY)}).says("""
    You divide by the lengths without a lower limit. Replace every length below eps by eps, with `clamp_min(eps)`.
    Otherwise a vector shorter than eps is divided by too small a number, and a vector of zeros gives 0 / 0, which is
    NaN.""")
for length, what in {QUERY: "queries", KEY: "keys"}.items():
    wrong(f"no guard for the {what}", {f"{length}.clamp_min(eps)": length}).says(f"""
    You divide by the lengths of the {what} without a lower limit. One of them may be a vector of zeros, too, and 0 / 0
    is NaN: `clamp_min(eps)` on the lengths of both.""")
wrong("not normalised", "return query @ key.mT").says("""
    You returned the plain dot product. A cosine is the dot product divided by the lengths of both vectors.""")
wrong(
    "norm over the positions", {"query.norm(dim=-1": "query.norm(dim=1", "key.norm(dim=-1": "key.norm(dim=1"}
).says("""
    Your norm runs over the positions of the sequence. The length of a vector is computed from its features, so take
    `dim=-1`.""")
wrong(
    "one length for the whole batch",
    "return (query / query.norm().clamp_min(eps)) @ (key / key.norm().clamp_min(eps)).mT",
).says("""
    You divided by the length of the whole tensor. Each vector has a length of its own: take the norm over the last
    axis, with `keepdim=True`.""")
LENGTHS = "lengths = query.norm(dim=-1)[:, :, None] * key.norm(dim=-1)[:, None]\n"
wrong("eps added, not a floor", f"{LENGTHS}return query @ key.mT / (lengths + eps)").says("""
    You added eps to the product of the lengths. This changes the cosine of vectors whose lengths are not much larger
    than eps. Use eps as the smallest allowed value of each length: `clamp_min(eps)`.""")
wrong("eps under the root of both", f"{LENGTHS}return query @ key.mT / (lengths**2 + eps).sqrt()").says("""
    You multiplied the sums of squares and added eps before you took the root. This changes the cosines of short
    vectors. Use eps as the smallest allowed value of each length: `norm()` and then `clamp_min(eps)`.""")
wrong("floor on the product", f"{LENGTHS}return query @ key.mT / lengths.clamp_min(eps)").says("""
    You used eps as the smallest allowed value of the *product* of the two lengths. The product of two short vectors
    may be below it although each of them is longer than eps. Clamp each length by itself.""")
wrong("eps² as a floor on the product", f"{LENGTHS}return query @ key.mT / lengths.clamp_min(eps**2)").says("""
    You clamped the *product* of the two lengths at eps². A length below eps then stays as it is, as long as the other
    one is large enough. Clamp each length by itself.""")
COSINES = "(query / query_length) @ (key / key_length).mT"
SHORT = "(query_length <= eps) | (key_length <= eps).mT"
wrong("0 below eps", {COSINES: f"({COSINES}).masked_fill({SHORT}, 0.0)"}).says("""
    Your cosines are 0 for all vectors shorter than eps. Only those of a vector of zeros are 0. Any other vector that is
    shorter than eps is divided by eps.""")
wrong(
    "short vectors not divided",
    {
        f"{x}.clamp_min(eps)": f"{x}\n    {n}_length[{n}_length < eps] = 1.0"
        for n, x in {"query": QUERY, "key": KEY}.items()
    },
).says("""
    You left vectors shorter than eps as they are, which divides them by 1. They are divided by eps: eps is the smallest
    allowed value of a length.""")
wrong("divided by the query's length only", {"key / key_length": "key"}).says("""
    You divided by the length of the query only, so a long key still has a large score. Divide by the length of the key
    as well.""")
wrong("divided by the key's length only", {"query / query_length": "query"}).says("""
    You divided by the length of the key only. A cosine is divided by both lengths, otherwise it isn't between −1 and
    1.""")
wrong("eps added to each length", {f"{x}.clamp_min(eps)": f"{x} + eps" for x in (QUERY, KEY)}).says("""
    You added eps to each length, which makes every cosine a little smaller, and clearly smaller for short vectors.
    `clamp_min(eps)` leaves all lengths above eps as they are.""")
wrong("eps not used", "return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT").says("""
    Your function does not depend on eps: you use a fixed number, or replace the NaN of 0 / 0 afterwards. Here eps is
    0.5, so all shorter vectors must be divided by 0.5: `clamp_min(eps)`.""")
SQUARES = "pow(2).sum(-1, keepdim=True)"


def _before_the_root(change):
    """Edits that bound each length by what happens to the sum of its squares."""
    lengths = {"query": QUERY, "key": KEY}
    return {f"{length}.clamp_min(eps)": f"{name}.{SQUARES}{change}.sqrt()" for name, length in lengths.items()}


wrong("squares clamped at eps", _before_the_root(".clamp_min(eps)")).says("""
    You used eps as the smallest allowed sum of squares, so no length is below √eps. The smallest allowed *length* is
    eps: take `norm()` and then `clamp_min(eps)`, or clamp the sum of squares at eps².""")
wrong("eps added under the root", _before_the_root(".add(eps)")).says("""
    You added eps to the sum of squares, under the root. This changes the cosines of short vectors, and gives a vector
    of zeros the length √eps. Use eps as the smallest allowed length: `norm()` and then `clamp_min(eps)`.""")
wrong("eps² added under the root", _before_the_root(".add(eps**2)")).says("""
    You added eps² to the sum of squares, under the root, which makes each length a little larger and changes the
    cosines of short vectors. Lengths above eps stay as they are: `norm()` and then `clamp_min(eps)`.""")
ROOT = f"{SQUARES}.sqrt()"
wrong("no finite gradient at zero", {QUERY: f"query.{ROOT}", KEY: f"key.{ROOT}"}).says("""
    Your scores are right, but at a vector of zeros the gradient is NaN. The slope of a root is infinite at 0, and a
    clamp *after* it multiplies it by 0. Use `norm()` and then `clamp_min(eps)`, or clamp the sum of squares at
    eps² before the root.""")
