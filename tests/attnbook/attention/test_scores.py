"""Eight scores behind one interface: against loops written from their formulas, and what holds for all."""

import pytest
import torch
from torch import nn

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
    Score,
    attend,
    cosine,
    dot,
    scaled_dot,
)

B, TQ, TK, DQ, DK, A, WIDTH = 2, 3, 5, 4, 6, 3, 3

MAKE = {
    "dot": lambda: Dot(),
    "scaled_dot": lambda: ScaledDot(),
    "general": lambda: General(DQ, DK),
    "cosine": lambda: Cosine(beta=2.0, learn_beta=True),
    "additive": lambda: Additive(DQ, DK, A),
    "mlp": lambda: MLP(DQ, DK, A),
    "location": lambda: Location(DQ, TK + 2),
    "location_aware": lambda: LocationAware(DQ, DK, A, filters=2, width=WIDTH),
}
CONTENT = ["dot", "scaled_dot", "general", "cosine", "additive", "mlp"]  # what a key holds decides, not its place


# One number at a time: score of query q (Dq,) and key j of k (Tk, Dk), the decoder having seen (2, Tk).
def slow_dot(score, q, k, j, seen):
    return sum(a * b for a, b in zip(q, k[j], strict=True))


def slow_general(score, q, k, j, seen):
    W = score.key_to_query.weight  # (Dq, Dk)
    return sum(q[a] * W[a, b] * k[j, b] for a in range(DQ) for b in range(DK))


def slow_cosine(score, q, k, j, seen):
    lengths = sum(a * a for a in q).sqrt() * sum(b * b for b in k[j]).sqrt()
    return score.log_beta.exp() * slow_dot(score, q, k, j, seen) / lengths


def slow_pair(score, q, k, j):
    """W_q q + W_k k + b."""
    to_hidden, bias = score.key_to_hidden.weight, score.key_to_hidden.bias
    return score.query_to_hidden.weight @ q + to_hidden @ k[j] + bias  # (A,)


def slow_additive(score, q, k, j, seen):
    return score.hidden_to_score.weight[0] @ slow_pair(score, q, k, j).tanh()


def slow_mlp(score, q, k, j, seen):
    layer = score.hidden_to_hidden
    deeper = layer.weight @ slow_pair(score, q, k, j).clamp_min(0) + layer.bias  # (A,)
    return score.hidden_to_score.weight[0] @ deeper.clamp_min(0)


def slow_location(score, q, k, j, seen):
    return score.query_to_positions.weight[j] @ q + score.query_to_positions.bias[j]


def slow_location_aware(score, q, k, j, seen):
    around = range(-(WIDTH // 2), WIDTH // 2 + 1)
    near = [(o, j + o) for o in around if 0 <= j + o < len(k)]  # beyond both ends there is nothing to see
    filters = score.filters.weight  # (F, 2, WIDTH)
    f = sum(filters[:, c, o + WIDTH // 2] * seen[c, place] for c in range(2) for o, place in near)  # (F,)
    hidden = slow_pair(score, q, k, j) + score.filters_to_hidden.weight @ f  # (A,)
    return score.hidden_to_score.weight[0] @ hidden.tanh()


SLOW = {
    "dot": slow_dot,
    "scaled_dot": lambda score, q, *rest: slow_dot(score, q, *rest) / len(q) ** 0.5,
    "general": slow_general,
    "cosine": slow_cosine,
    "additive": slow_additive,
    "mlp": slow_mlp,
    "location": slow_location,
    "location_aware": slow_location_aware,
}


def make(name: str, device="cpu", dtype=torch.float64) -> Score:
    torch.manual_seed(0)
    return MAKE[name]().to(device, dtype)


@pytest.fixture
def alignment(draw):
    """What a decoder has seen after some steps: two rows of weights a sentence."""
    return Alignment(draw(B, TK, seed=3).softmax(-1), 3 * draw(B, TK, seed=4).softmax(-1))


@pytest.fixture
def pair(draw):
    """``pair(name)``: a query and keys; the scores that compare directly want as many features in both."""
    return lambda name: (
        draw(B, TQ, DQ, seed=1),
        draw(B, TK, DQ if name in ("dot", "scaled_dot", "cosine") else DK, seed=2),
    )


# ---- the formulas


@pytest.mark.parametrize("name", MAKE)
def test_each_score_equals_its_formula(name, pair, alignment, device, dtype, close):
    score, (query, key) = make(name, device, dtype), pair(name)
    got = score(query, score.prepare(key).at(alignment))
    assert got.shape == (B, TQ, TK)
    assert got.dtype == dtype
    seen = torch.stack(alignment, dim=1)  # (B, 2, Tk)
    for b in range(B):
        for i in range(TQ):
            wanted = [SLOW[name](score, query[b, i], key[b], j, seen[b]) for j in range(TK)]
            close(got[b, i], torch.stack(wanted))


@pytest.mark.parametrize("name", MAKE)
def test_each_score_serves_attend(name, pair, alignment, device, dtype):
    score, (query, key) = make(name, device, dtype), pair(name)
    before = query.clone(), key.clone()
    context, weights = attend(query, score.prepare(key).at(alignment), key, score=score)
    assert context.shape == key[:, :TQ].shape
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert torch.equal(query, before[0])
    assert torch.equal(key, before[1])


class AfterSomeSteps(nn.Module):
    """A score with the alignment as two further inputs, so that gradcheck can shake these too."""

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def forward(self, query, key, previous, total):
        return self.score(query, self.score.prepare(key).at(Alignment(previous, total)))


@pytest.mark.parametrize("name", MAKE)
def test_each_score_has_the_gradient_it_should(name):
    module = AfterSomeSteps(make(name))
    generator = torch.Generator().manual_seed(5)
    key_features = DQ if name in ("dot", "scaled_dot", "cosine") else DK
    shapes = (1, 2, DQ), (1, 3, key_features), (1, 3), (1, 3)
    inputs = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    names, parameters = [], []
    for parameter_name, parameter in module.named_parameters():
        names.append(parameter_name)
        parameters.append(parameter.detach().clone().requires_grad_())

    def scores(*tensors):
        values = dict(zip(names, tensors[4:], strict=True))
        return torch.func.functional_call(module, values, tensors[:4])

    assert torch.autograd.gradcheck(scores, (*inputs, *parameters))


# ---- one interface


@pytest.mark.parametrize("name", [name for name in MAKE if name != "location_aware"])
def test_most_scores_do_not_care_where_the_decoder_looked(name, pair, alignment, device, dtype):
    score, (query, key) = make(name, device, dtype), pair(name)
    assert torch.equal(score(query, key), score(query, score.prepare(key).at(alignment)))


@pytest.mark.parametrize("name", CONTENT)
def test_a_content_score_follows_the_keys_wherever_they_stand(name, pair, device, dtype, close):
    score, (query, key) = make(name, device, dtype), pair(name)
    order = [3, 0, 4, 2, 1]
    close(score(query, key[:, order]), score(query, key)[..., order])


def test_a_location_score_does_not_look_at_the_keys(pair, device, dtype):
    score, (query, key) = make("location", device, dtype), pair("location")
    order = [3, 0, 4, 2, 1]
    assert torch.equal(score(query, key[:, order]), score(query, key))
    assert not torch.allclose(score(query, key[:, order]), score(query, key)[..., order])
    assert torch.equal(score(query, key.flip(-1) * 7), score(query, key))


def test_a_location_aware_score_minds_the_neighbours(pair, alignment, device, dtype, close):
    score, (query, key) = make("location_aware", device, dtype), pair("location_aware")
    order = [3, 0, 4, 2, 1]
    shuffled = Alignment(*(part[:, order] for part in alignment))
    got = score(query, score.prepare(key[:, order]).at(shuffled))
    wanted = score(query, score.prepare(key).at(alignment))[..., order]
    assert not torch.allclose(got, wanted)
    with torch.no_grad():
        score.filters.weight[..., [0, 2]] = 0  # a filter that sees one place alone has no neighbours to mind
    got = score(query, score.prepare(key[:, order]).at(shuffled))
    close(got, score(query, score.prepare(key).at(alignment))[..., order])


def test_without_a_comparison_a_score_says_what_is_missing():
    class Empty(Score):
        pass

    with pytest.raises(NotImplementedError, match="Empty must say how to compare a query with the keys"):
        Empty()(torch.zeros(1, 1, 2), torch.zeros(1, 3, 2))


@pytest.mark.parametrize("score, kind", [(dot, Dot), (scaled_dot, ScaledDot), (cosine, Cosine)])
def test_ready_made_scores_have_nothing_to_train(score, kind, draw):
    assert isinstance(score, kind)
    assert not any(parameter.requires_grad for parameter in score.parameters())
    query, key = draw(B, TQ, DQ, seed=1), draw(B, TK, DQ, seed=2)
    assert torch.equal(score(query, key), kind()(query, key))
