"""Every score with 3 and 4 axes, with masks and a bias, against a loop over sentences, heads, queries and keys."""

import pytest
import torch
from torch import Tensor

from attnbook.attention import (
    MLP,
    Additive,
    Alignment,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    ScaledDot,
    Sharpened,
    attend,
    attention_weights,
    masked_log_softmax,
)

B, H, TQ, TK, D, A, DV = 2, 3, 4, 5, 6, 7, 3
MAKE = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "general": lambda: General(D, D),
    "cosine": lambda: Cosine(beta=2.0),
    "additive": lambda: Additive(D, D, A),
    "mlp": lambda: MLP(D, D, A),
    "location": lambda: Location(D, TK + 1),
    "location_aware": lambda: LocationAware(D, D, A, filters=2, width=3),
    "sharpened": lambda: Sharpened(Additive(D, D, A), 1.5),
}
crossed = [pytest.mark.parametrize("name", MAKE), pytest.mark.parametrize("heads", [None, H])]


def cross(test):
    for mark in crossed:
        test = mark(test)
    return test


@pytest.fixture
def parts(draw, device, dtype):
    """``parts(name, heads)``: score, query, keys (with an alignment where that counts), value, mask, bias."""

    def make(name: str, heads: int | None):
        torch.manual_seed(0)
        score = MAKE[name]().to(device, dtype)
        axes = (B,) if heads is None else (B, heads)
        query, key, value = draw(*axes, TQ, D, seed=1), draw(*axes, TK, D, seed=2), draw(*axes, TK, DV, seed=3)
        if name == "location_aware":
            weights = draw(*axes, TK, seed=4).softmax(dim=-1)
            key = score.prepare(key).at(Alignment(weights, 2 * weights))
        mask = torch.rand(*axes, TQ, TK, generator=torch.Generator().manual_seed(5)).to(device) > 0.3
        mask[0, ..., 0, :] = False  # a query that may attend to nothing
        return score, query, key, value, mask, draw(*axes, TQ, TK, seed=6)

    return make


def one(key, index: tuple, position: int):
    """A single key, as the score takes it; scores by place need those before it, too."""
    if isinstance(key, Tensor):
        return key[index][None, : position + 1]
    return type(key)(key.features[index][None], Alignment(*(part[index][None] for part in key.alignment)))


def slow_scores(score, query: Tensor, key) -> Tensor:
    """The scores, one query and one key at a time."""
    axes, found = query.shape[:-2], query.new_empty(*query.shape[:-1], TK)
    for index in torch.cartesian_prod(*map(torch.arange, axes)).view(-1, len(axes)).tolist():
        for i in range(TQ):
            for j in range(TK):
                single = score(query[tuple(index)][None, i : i + 1], one(key, tuple(index), j))  # (1, 1, ·)
                found[(*index, i, j)] = single[0, 0, j]
    return found


@cross
def test_scores_with_and_without_heads_equal_a_loop(parts, close, name, heads):
    score, query, key, *_ = parts(name, heads)
    close(score(query, key), slow_scores(score, query, key))


@cross
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_with_mask_and_bias_equals_a_loop_over_rows(parts, close, name, heads, masked, biased):
    """Beginning with scores that the test before has held against a loop."""
    score, query, key, value, mask, bias = parts(name, heads)
    mask, bias = mask if masked else None, bias if biased else None
    context, weights = attend(query, key, value, mask, score=score, bias=bias)
    scores = score(query, key) + (0 if bias is None else bias)
    for index in torch.cartesian_prod(*map(torch.arange, scores.shape[:-1])).tolist():
        row, seen = tuple(index), torch.ones(TK, dtype=torch.bool) if mask is None else mask[tuple(index)].cpu()
        if not seen.any():
            assert weights[row].eq(0).all()
            assert context[row].eq(0).all()
            continue
        wanted = torch.zeros_like(scores[row])
        wanted[seen] = scores[row][seen].softmax(dim=0)
        close(weights[row], wanted)
        close(context[row], wanted @ value[row[:-1]])


@cross
def test_the_logarithm_of_the_weights_is_one_argument_away(parts, close, name, heads):
    score, query, key, _, mask, bias = parts(name, heads)
    weights = attention_weights(query, key, mask, score=score, bias=bias)
    logs = attention_weights(query, key, mask, score=score, bias=bias, normalise=masked_log_softmax)
    close(logs.exp(), weights)
    assert logs[~mask].eq(float("-inf")).all()


@pytest.mark.parametrize("name", MAKE)
def test_each_head_scores_as_it_would_alone(parts, close, name):
    score, query, key, *_ = parts(name, H)
    whole = score(query, key)
    for head in range(H):
        own = (
            key[:, head]
            if isinstance(key, Tensor)
            else type(key)(key.features[:, head], Alignment(*(part[:, head] for part in key.alignment)))
        )
        close(score(query[:, head], own), whole[:, head])
