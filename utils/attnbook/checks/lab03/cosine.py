"""Lab 3: the cosine score, where only the angle between two vectors counts."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property
from .scores import pairs


def cosine_score(query, key, eps=1e-8):
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
    tolerance=1e-9,
    canonical_gradients=_above_the_floor,
    properties=[
        Property(
            "between −1 and 1",
            "A cosine lies between −1 and 1.",
            lambda result, *args: (result.abs() <= 1 + 1e-9).all(),
        ),
        Property(
            "zero vectors score 0",
            "A vector of zeros has no direction: its cosine with anything is 0 here.",
            lambda result, query, key, *eps: (result.mT[(key == 0).all(-1)] == 0).all(),
        ),
    ],
)

wrong = COSINE_SCORE.mistakes
wrong("no guard against zero", {"query_length) @": "query.norm(dim=-1, keepdim=True)) @"}).says("""
    A vector of zeros gave 0 / 0 = NaN. Clamp the lengths from below with eps.""")
wrong("not normalised", "return query @ key.mT").says("""
    You took the plain dot product. A cosine divides by both lengths.""")
wrong("length over the places", {"query.norm(dim=-1": "query.norm(dim=1", "key.norm(dim=-1": "key.norm(dim=1"}).says("""
    Your norm runs over the places of the sequence. A vector's length is taken over its features: dim=-1.""")
wrong(
    "one length for the whole batch",
    "return (query / query.norm().clamp_min(eps)) @ (key / key.norm().clamp_min(eps)).mT",
).says("""
    You divided by the length of the whole tensor. Each vector has its own: keepdim along the features.""")
LENGTHS = "lengths = query.norm(dim=-1)[:, :, None] * key.norm(dim=-1)[:, None]\n"
wrong("eps added, not a floor", f"{LENGTHS}return query @ key.mT / (lengths + eps)").says("""
    You added eps to the product of the lengths. For short vectors that changes the cosine, and here they are short
    beside eps. Use eps as a floor for each length: clamp_min(eps).""")
wrong("floor on the product", f"{LENGTHS}return query @ key.mT / lengths.clamp_min(eps)").says("""
    You used eps as a floor for the product of the two lengths. Two short vectors then fall below it, although each
    has a direction. Clamp each length by itself.""")
QUERY, KEY = "query.norm(dim=-1, keepdim=True)", "key.norm(dim=-1, keepdim=True)"
wrong("eps added to each length", {f"{x}.clamp_min(eps)": f"{x} + eps" for x in (QUERY, KEY)}).says("""
    You added eps to each length. That makes every cosine a little smaller, and visibly so for short vectors. eps is a
    floor: clamp_min(eps) leaves longer vectors alone.""")
wrong("eps not used", "return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT").says("""
    You don't use eps: your floor is a fixed number, or there is none and the NaN of 0 / 0 is replaced afterwards.
    Here eps is 0.5, and shorter vectors are divided by 0.5: clamp_min(eps).""")
ROOT = "pow(2).sum(-1, keepdim=True).sqrt()"
wrong("no finite gradient at zero", {QUERY: f"query.{ROOT}", KEY: f"key.{ROOT}"}).says("""
    Your scores are right, but at a vector of zeros the gradient is NaN: a root is infinitely steep at 0, and a clamp
    or torch.where *afterwards* leaves 0 · ∞ on the way back. norm() followed by clamp_min(eps) is safe, and so is
    clamping the sum of squares before the root.""")
