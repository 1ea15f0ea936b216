"""What tells the scores apart, what an alignment remembers, and what the scores refuse."""

import re

import pytest
import torch

from attnbook.attention import (
    MLP,
    Additive,
    Alignment,
    Cosine,
    General,
    Location,
    LocationAware,
    cosine,
    dot,
    scaled_dot,
)

B, TQ, TK, DQ, DK, A = 2, 3, 5, 4, 6, 3


@pytest.fixture
def pair(draw):
    """``pair(Dk)``: a query ``(B, Tq, Dq)`` and keys ``(B, Tk, Dk)``."""
    return lambda key_features: (draw(B, TQ, DQ, seed=1), draw(B, TK, key_features, seed=2))


# ---- each of them


def test_scaling_keeps_the_variance_of_the_score_at_one():
    generator = torch.Generator().manual_seed(0)
    for features in (4, 64, 1024):
        query, key = torch.randn(2, 1, 300, features, generator=generator)  # (B, T, D) each
        assert dot(query, key).var() == pytest.approx(features, rel=0.1)
        assert scaled_dot(query, key).var() == pytest.approx(1, rel=0.1)


def test_general_with_the_unit_matrix_is_dot(pair, device, dtype, close):
    query, key = pair(DQ)
    score = General(DQ, DQ).to(device, dtype)
    with torch.no_grad():
        score.key_to_query.weight.copy_(torch.eye(DQ))
    close(score(query, key), dot(query, key))


def test_cosine_minds_direction_alone(pair, close):
    query, key = pair(DQ)
    close(cosine(3 * query, key / 7), cosine(query, key))
    close(cosine(-query, key), -cosine(query, key))
    close(cosine(key, key).diagonal(dim1=1, dim2=2), torch.ones_like(key[..., 0]))
    assert cosine(query, key).abs().max() <= 1 + 1e-6


def test_the_cosine_of_a_vector_of_zeros_is_zero_with_finite_gradients(draw):
    query, key = draw(1, 2, 3), draw(1, 2, 3, seed=1)
    query[0, 0] = key[0, 1] = 0
    scores = Cosine(beta=5.0)(query.requires_grad_(), key.requires_grad_())
    assert scores[0, 0].tolist() == [0, 0]
    assert scores[0, :, 1].tolist() == [0, 0]
    scores.sum().backward()
    assert query.grad.isfinite().all()
    assert key.grad.isfinite().all()


def test_beta_sharpens_and_is_learnt_only_when_asked(pair, device, dtype, close):
    query, key = pair(DQ)
    fixed, learnt = Cosine(beta=10.0).to(device, dtype), Cosine(beta=10.0, learn_beta=True).to(device, dtype)
    assert fixed.log_beta.exp().item() == pytest.approx(10, rel=1e-6)
    close(fixed(query, key), fixed.log_beta.exp() * cosine(query, key))
    assert not fixed.log_beta.requires_grad
    learnt(query, key).square().sum().backward()
    close(learnt.log_beta.grad, 2 * fixed(query, key).square().sum())  # d(β²c²)/d(log β) = 2β²c²


@pytest.mark.parametrize("beta", [0, -1.0])
def test_cosine_refuses_a_beta_that_does_not_sharpen(beta):
    with pytest.raises(ValueError, match=f"beta must be above 0, got {beta}"):
        Cosine(beta=beta)


def test_additive_is_one_matrix_on_query_and_key_laid_end_to_end(pair, device, dtype, close):
    score, (query, key) = Additive(DQ, DK, A).to(device, dtype), pair(DK)
    W = torch.cat([score.query_to_hidden.weight, score.key_to_hidden.weight], dim=1)  # (A, Dq + Dk)
    pairs = torch.cat(  # (B, Tq, Tk, Dq + Dk)
        [query[:, :, None].expand(-1, -1, TK, -1), key[:, None].expand(-1, TQ, -1, -1)], dim=-1
    )
    concat = (pairs @ W.T + score.key_to_hidden.bias).tanh() @ score.hidden_to_score.weight[0]  # (B, Tq, Tk)
    close(score(query, key), concat)


def test_location_points_only_at_places_that_are_there(pair, device, dtype):
    score, (query, key) = Location(DQ, TK + 2).to(device, dtype), pair(DK)
    assert torch.equal(score(query, key[:, :2]), score(query, key)[..., :2])


# ---- where the decoder has looked


def test_an_alignment_starts_at_the_first_place_with_nothing_summed(device):
    start = Alignment.at_first_position(torch.ones(2, 3, dtype=torch.bool, device=device))
    assert start.previous.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert start.total.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert start.previous.device.type == device.type


def test_an_alignment_keeps_the_last_weights_and_the_sum_of_all(draw):
    start = Alignment.at_first_position(torch.ones(2, 3, dtype=torch.bool, device=draw(1).device))
    first, second = draw(2, 3, seed=1), draw(2, 3, seed=2)
    after = start.add(first).add(second)
    assert torch.equal(after.previous, second)
    assert torch.equal(after.total, first + second)
    assert start.total.abs().sum() == 0


# ---- what they refuse

MAKE = {
    "general": lambda: General(DQ, DK),
    "additive": lambda: Additive(DQ, DK, A),
    "mlp": lambda: MLP(DQ, DK, A),
    "location_aware": lambda: LocationAware(DQ, DK, A),
    "location": lambda: Location(DQ, TK + 2),
}


@pytest.mark.parametrize("score, said", [(dot, "dot"), (scaled_dot, "dot"), (cosine, "cosine")])
def test_scores_that_compare_directly_need_equal_features(score, said):
    message = rf"key has 3 features but query has 4; {said} scores need the same number \(use General"
    with pytest.raises(ValueError, match=message):
        score(torch.zeros(1, 2, 4), torch.zeros(1, 2, 3))


@pytest.mark.parametrize("name", MAKE)
def test_a_query_of_another_size_is_refused(name):
    score, alignment = MAKE[name](), Alignment(torch.zeros(1, TK), torch.zeros(1, TK))
    with pytest.raises(ValueError, match="query has 3 features but the score was made for query_dim = 4"):
        score(torch.zeros(1, TQ, 3), score.prepare(torch.zeros(1, TK, DK)).at(alignment))


@pytest.mark.parametrize("name", [name for name in MAKE if name != "location"])
def test_a_key_of_another_size_is_refused(name):
    with pytest.raises(ValueError, match="key has 5 features but the score was made for key_dim = 6"):
        MAKE[name]().prepare(torch.zeros(1, TK, 5))


def test_location_refuses_a_source_that_is_too_long():
    with pytest.raises(ValueError, match="key has 8 positions but this location score knows only max_length = 7"):
        Location(DQ, max_length=7)(torch.zeros(1, TQ, DQ), torch.zeros(1, 8, DK))


@pytest.mark.parametrize("width", [2, 6])
def test_location_aware_refuses_a_filter_without_a_middle(width):
    with pytest.raises(ValueError, match=f"width must be odd, so that a filter has a middle; got {width}"):
        LocationAware(DQ, DK, A, width=width)


@pytest.mark.parametrize("sees", [(), ("last",), ("previous", "sum")])
def test_location_aware_refuses_to_see_what_an_alignment_does_not_have(sees):
    message = f"sees must name one or more of ('previous', 'total'); got {sees}"
    with pytest.raises(ValueError, match=re.escape(message)):
        LocationAware(DQ, DK, A, sees=sees)


@pytest.mark.parametrize(("sees", "other"), [("previous", "total"), ("total", "previous")])
def test_location_aware_may_see_the_last_weights_alone_or_their_sum_alone(sees, other):
    torch.manual_seed(0)
    score = LocationAware(DQ, DK, A, sees=(sees,))
    query, key = torch.randn(1, TQ, DQ), torch.randn(1, TK, DK)
    earlier = Alignment(*torch.rand(2, 1, TK))
    scored = score(query, score.prepare(key).at(earlier))
    unseen = earlier._replace(**{other: 1 - getattr(earlier, other)})
    seen = earlier._replace(**{sees: 1 - getattr(earlier, sees)})
    assert torch.equal(score(query, score.prepare(key).at(unseen)), scored)
    assert not torch.allclose(score(query, score.prepare(key).at(seen)), scored)


def test_location_aware_refuses_to_work_without_an_alignment():
    message = r"LocationAware needs the earlier weights: use score.prepare\(key\).at\(alignment\) as the key"
    with pytest.raises(ValueError, match=message):
        LocationAware(DQ, DK, A)(torch.zeros(1, TQ, DQ), torch.zeros(1, TK, DK))
