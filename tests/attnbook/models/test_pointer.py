"""Pointing: the paper's sums one by one, masks that hide wholly, decoding that names each place once."""

import math
from itertools import permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.attention import Additive, masked_softmax, scaled_dot
from attnbook.data import shift_right
from attnbook.data.points.pointing import batch_of, hull_batch, sorting_batch, tour_batch
from attnbook.models.pointer import (
    PointerNetwork,
    answer_log_probs,
    beam_pointer_decode,
    greedy_pointer_decode,
    mask_visited,
    mask_visited_by_step,
    pointer_log_probs,
    pointer_loss,
    read_ends,
)

ENCODERS = ["lstm", "bilstm", "transformer"]
B, N, D = 3, 5, 8
INF = float("inf")


def network(encoder="lstm", seed=0, spread=1.0, **wishes):
    """An untrained network; ``spread`` makes its choices less even."""
    torch.manual_seed(seed)
    model = PointerNetwork(hidden=D, encoder=encoder, **wishes)
    with torch.no_grad():
        model.score.hidden_to_score.weight *= spread
    return model.eval()


# ---- pointer_log_probs


def slow_log_probs(query, key, score, mask):
    """Equation 3 for one query, place by place."""
    W_q, W_k, b = score.query_to_hidden.weight, score.key_to_hidden.weight, score.key_to_hidden.bias
    v = score.hidden_to_score.weight[0]
    u = [(v @ torch.tanh(W_k @ e + b + W_q @ query)).item() for e in key]
    total = sum(math.exp(u_j) for u_j, left in zip(u, mask, strict=True) if left)
    return [u_j - math.log(total) if left else -INF for u_j, left in zip(u, mask, strict=True)]


def test_pointing_is_the_additive_score_place_by_place(draw, device, dtype):
    score = Additive(4, 6, 7).to(device, dtype)
    query, key = draw(2, 3, 4), draw(2, N, 6, seed=1)
    mask = torch.rand(2, 3, N, generator=torch.Generator().manual_seed(1)).to(device) < 0.6
    mask[..., 2] = True
    found = pointer_log_probs(query, key, mask, score=score)
    assert found.shape == (2, 3, N)
    for b in range(2):
        for t in range(3):
            wanted = slow_log_probs(query[b, t], key[b], score, mask[b, t].tolist())
            assert found[b, t].tolist() == pytest.approx(wanted, rel=1e-4, abs=1e-5)


def test_pointing_is_the_logarithm_of_attention_with_any_score(draw, close):
    query, key = draw(2, 3, 4), draw(2, N, 4, seed=1)
    close(pointer_log_probs(query, key, score=scaled_dot).exp(), masked_softmax(scaled_dot(query, key)))


def test_a_masked_place_gets_minus_infinity_and_its_key_no_gradient(draw, device, dtype):
    score, key = Additive(4, 6, 7).to(device, dtype), draw(2, N, 6, grad=True)
    mask = torch.tensor([[True, False, True, True, False], [False, True, True, False, True]], device=device)
    log_probs = pointer_log_probs(draw(2, 1, 4, seed=1), key, mask[:, None], score=score)[:, 0]
    assert (log_probs[~mask] == -INF).all()
    log_probs[:, 2].sum().backward()
    assert (key.grad[~mask] == 0).all()
    assert (key.grad[mask] != 0).all()


@pytest.mark.parametrize("size", [1e2, 1e4, 1e30])
def test_large_scores_and_a_single_place_left_give_no_nan(size):
    """In float32: all places but one are masked, or the one allowed is the unlikeliest by far."""
    score, key = Additive(4, 4, 4), torch.randn(1, N, 4, requires_grad=True)
    with torch.no_grad():
        score.hidden_to_score.weight *= size
    for row in range(1, 2**N):  # each set of places that one may point at
        mask = torch.tensor([[[bool(row >> j & 1) for j in range(N)]]])
        log_probs = pointer_log_probs(torch.ones(1, 1, 4), key, mask, score=score)
        assert (log_probs[mask] > -INF).all()
        assert (log_probs[mask] <= 0).all()
        if mask.sum() == 1:
            assert log_probs[mask] == 0
        least = log_probs[mask].min()
        (gradient,) = torch.autograd.grad(least, key)
        assert gradient.isfinite().all()
        assert (gradient[0][~mask[0, 0]] == 0).all()


def test_no_place_left_gives_minus_infinity_and_no_gradient(draw):
    scores = draw(1, 2, 3, grad=True)
    mask = torch.tensor([[[False] * 3, [True] * 3]], device=scores.device)
    log_probs = pointer_log_probs(scores, scores, mask, score=lambda query, key: query)
    assert (log_probs[0, 0] == -INF).all()
    log_probs[0, 1, 0].backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[0, 0] == 0).all()


# ---- masks


def test_a_visited_place_is_left_out_of_a_new_mask(device):
    mask = torch.tensor([[True, True, False], [True, True, True]], device=device)
    before = mask.clone()
    left = mask_visited(mask, torch.tensor([0, 3], device=device))
    assert left.tolist() == [[False, True, False], [True, True, True]]  # 3 is the end: it masks nothing
    assert torch.equal(mask, before)
    left[:] = False
    assert torch.equal(mask, before)  # no memory is shared


@given(st.integers(0, 10_000))
def test_masks_of_all_steps_are_those_of_one_step_after_another(seed):
    source = torch.Generator().manual_seed(seed)
    mask = torch.rand(B, N, generator=source) < 0.8
    read = torch.randint(N + 1, (B, 4), generator=source)
    together, one = mask_visited_by_step(mask, read), mask
    for t in range(4):
        one = mask_visited(one, read[:, t])
        assert torch.equal(together[:, t], one)


@pytest.mark.parametrize(
    ("mask", "chosen", "error", "message"),
    [
        (torch.ones(2, 3), [0, 1], TypeError, "must be boolean"),
        (torch.ones(2, 3, dtype=torch.bool), [0], ValueError, "do not fit"),
        (torch.ones(2, 1, 3, dtype=torch.bool), [0, 1], ValueError, "do not fit"),
        (torch.ones(2, 3, dtype=torch.bool), [0, 4], ValueError, "from 0 to 3"),
        (torch.ones(2, 3, dtype=torch.bool), [-1, 0], ValueError, "from 0 to 3"),
    ],
)
def test_masks_and_choices_must_fit(mask, chosen, error, message):
    with pytest.raises(error, match=message):
        mask_visited(mask, torch.tensor(chosen))


# ---- the network


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("may_stop", [False, True])
def test_one_pass_is_what_the_steps_give_one_by_one(encoder, may_stop, draw, device, dtype, close):
    model = network(encoder, may_stop=may_stop).to(device, dtype)
    points, lengths = draw(B, N, 2), torch.tensor([5, 4, 5])
    read = torch.tensor([[5, 2, 0, 1], [5, 3, 1, 0], [5, 4, 2, 3]], device=device)
    log_probs, weights = model(points, lengths, read)
    assert log_probs.shape == weights.shape == (B, 4, N + 1)
    state = model.start(points, lengths)
    for t in range(4):
        step, state, step_weights = model.step(read[:, t], state)
        close(step.exp(), log_probs[:, t].exp())
        close(step_weights, weights[:, t])
    assert ((log_probs[..., -1] == -INF) == (not may_stop)).all()
    assert (log_probs[1, :, 4] == -INF).all()  # beyond the second row's places


@pytest.mark.parametrize("encoder", ENCODERS)
def test_padding_has_no_say_and_gets_no_gradient(encoder, draw, device, dtype, close):
    model = network(encoder, may_stop=True).to(device, dtype).train()  # cuDNN gives no gradients in evaluation
    points, lengths = draw(B, N, 2, grad=True), torch.tensor([3, 5, 2])
    read = torch.tensor([[N, 1], [N, 4], [N, 0]], device=device)
    log_probs, _ = model(points, lengths, read)
    log_probs[log_probs > -INF].sum().backward()
    beyond = torch.arange(N, device=device) >= lengths.to(device)[:, None]
    assert (points.grad[beyond] == 0).all()
    assert (points.grad[~beyond] != 0).any(dim=-1).all()
    alone, _ = model(points[:1, :3], lengths[:1], torch.tensor([[3, 1]], device=device))
    close(alone[0, :, :3].exp(), log_probs[0, :, :3].exp())
    close(alone[0, :, 3].exp(), log_probs[0, :, N].exp())


def test_gradients_of_a_loss_are_finite_though_most_places_are_masked_at_the_end():
    for encoder in ENCODERS:
        model = network(encoder, spread=1e4)
        pointer_loss(model, tour_batch(N, 8)).backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("wishes", [{"first": 0}, {"may_stop": True}, {}])
def test_with_a_transformer_the_answer_moves_with_the_places(wishes):
    """Points in another order, the first kept where it is given: the same points are named."""
    model, batch = network("transformer", spread=20.0, **wishes), hull_batch(N, 20)
    order = torch.tensor([0, 3, 1, 4, 2])
    named = greedy_pointer_decode(model, batch.source).tokens
    moved = greedy_pointer_decode(model, batch.source[:, order]).tokens
    assert torch.equal(torch.cat([order, torch.tensor([N])])[moved], named)
    assert len({tuple(row) for row in named.tolist()}) > 5


def test_an_lstm_reads_an_order():
    model, batch = network("lstm", spread=20.0), hull_batch(N, 20)
    order = torch.tensor([4, 3, 2, 1, 0])
    named, moved = (greedy_pointer_decode(model, p).tokens for p in (batch.source, batch.source[:, order]))
    assert not torch.equal(order[moved], named)


# ---- decoding

decodings = st.tuples(
    st.sampled_from(ENCODERS), st.booleans(), st.sampled_from([None, 0, 2]), st.integers(3, 7), st.integers(0, 10_000)
)


@given(decodings)
def test_no_answer_names_a_place_twice_or_one_that_is_not_there(drawn):
    encoder, may_stop, first, size, seed = drawn
    model = network(encoder, seed, spread=10.0, may_stop=may_stop, first=first)
    points, lengths = torch.rand(4, size, 2), torch.tensor([size, size, 3, size])
    beams = beam_pointer_decode(model, points, lengths, width=3)
    rows = [greedy_pointer_decode(model, points, lengths).tokens, *beams.tokens[beams.scores > -INF][:, None]]
    owners = [range(4), *((b,) for b in (beams.scores > -INF).nonzero()[:, 0].tolist())]
    for tokens, whose in zip(rows, owners, strict=True):
        for answer, owner in zip(tokens.tolist(), whose, strict=True):
            named = [place for place in answer if place < size]
            assert len(set(named)) == len(named)
            assert set(named) <= set(range(lengths[owner]))
            assert answer[len(named) :] == [size] * (len(answer) - len(named))  # nothing after the end
            assert first is None or answer[0] == first
            assert may_stop or len(named) == lengths[owner]  # nothing is left out


@pytest.mark.parametrize("first", [None, 0])
def test_a_beam_of_full_width_is_trying_all_orders(first):
    model, size = network(spread=30.0, first=first), 4
    points, lengths = torch.rand(3, size, 2), torch.full((3,), size)
    orders = torch.tensor([order for order in permutations(range(size)) if first is None or order[0] == first])
    width = len(orders)
    beams = beam_pointer_decode(model, points, width=width)
    for b in range(3):
        same = points[b : b + 1].expand(width, -1, -1)
        totals = answer_log_probs(model, same, lengths[:1].expand(width), orders).sum(dim=1)
        ranked = totals.sort(descending=True)
        torch.testing.assert_close(beams.scores[b], ranked.values, rtol=1e-4, atol=1e-4)
        assert beams.tokens[b, 0].tolist() == orders[ranked.indices[0]].tolist()
        assert {tuple(row) for row in beams.tokens[b].tolist()} == {tuple(row) for row in orders.tolist()}
    assert beams.scores.exp().sum(dim=1).tolist() == pytest.approx([1.0] * 3, rel=1e-4)


def test_a_full_beam_that_may_stop_tries_all_beginnings():
    model, size = network(spread=10.0, may_stop=True), 3
    points = torch.rand(2, size, 2)
    every = [order[:k] for k in range(size + 1) for order in permutations(range(size), k)]
    answers = torch.tensor(sorted({(*part, *[size] * (size + 1 - len(part))) for part in every}))
    beams = beam_pointer_decode(model, points, width=len(answers) + 2)
    lengths = torch.full((len(answers),), size)
    for b in range(2):
        totals = answer_log_probs(model, points[b : b + 1].expand(len(answers), -1, -1), lengths, answers).sum(dim=1)
        wanted = totals.sort(descending=True)
        torch.testing.assert_close(beams.scores[b, :-2], wanted.values, rtol=1e-4, atol=1e-4)
        assert beams.tokens[b, 0].tolist() == answers[wanted.indices[0]].tolist()
        assert (beams.scores[b, -2:] == -INF).all()  # there are no more
    assert beams.scores.exp().sum(dim=1).tolist() == pytest.approx([1.0, 1.0], rel=1e-4)


@pytest.mark.parametrize("wishes", [{}, {"may_stop": True}, {"first": 0}])
def test_a_beam_of_one_is_greedy_and_a_wider_one_no_worse(wishes):
    model, points = network(spread=20.0, **wishes), torch.rand(20, 6, 2)
    greedy = greedy_pointer_decode(model, points)
    narrow, wide = (beam_pointer_decode(model, points, width=width) for width in (1, 500))
    assert torch.equal(narrow.tokens[:, 0], greedy.tokens)
    assert (wide.scores[:, 0] >= narrow.scores[:, 0] - 1e-4).all()


def test_weights_of_a_decoding_say_where_it_pointed():
    for first in (None, 2):
        found = greedy_pointer_decode(network(first=first), torch.rand(4, N, 2))
        assert found.weights.shape == (4, N, N + 1)
        assert torch.equal(found.weights.argmax(dim=-1), found.tokens)
        torch.testing.assert_close(found.weights.sum(dim=-1), torch.ones(4, N))
    assert (found.weights[:, 0, 2] == 1).all()


# ---- what it is trained to do


def test_log_probabilities_of_an_answer_are_read_off_step_by_step():
    model, batch = network(may_stop=True), hull_batch(N, 6)
    log_probs, _ = model(batch.source, batch.lengths, shift_right(batch.target, N))
    found = answer_log_probs(model, *batch)
    for row, answer, steps in zip(found.tolist(), batch.target.tolist(), log_probs, strict=True):
        size = answer.index(N) + 1
        wanted = [steps[t, answer[t]].item() for t in range(size)]
        assert row == pytest.approx([*wanted, *[0.0] * (len(answer) - size)], abs=1e-6)


def test_a_given_first_place_is_certain_and_the_rest_follows_from_it():
    model, batch = network(first=0), tour_batch(N, 6)
    log_probs, _ = model(batch.source, batch.lengths, batch.target[:, :-1])
    wanted = log_probs.gather(2, batch.target[:, 1:, None])[..., 0]
    found = answer_log_probs(model, *batch)
    assert (found[:, 0] == 0).all()
    torch.testing.assert_close(found[:, 1:], wanted)
    assert (found[:, -1].abs() < 1e-6).all()  # a last place is no choice


def test_the_loss_is_the_mean_over_choices_that_are_made():
    model, batch = network(may_stop=True), hull_batch(N, 6)
    choices = sum(row.index(N) + 1 for row in batch.target.tolist())
    wanted = -answer_log_probs(model, *batch).sum() / choices
    assert pointer_loss(model, batch).item() == pytest.approx(wanted.item(), rel=1e-5)
    longer = torch.cat([batch.target, torch.full_like(batch.target[:, :2], N)], dim=1)
    torch.testing.assert_close(pointer_loss(model, batch._replace(target=longer)), pointer_loss(model, batch))


def test_steps_after_the_end_are_those_after_the_first_n():
    assert read_ends(torch.tensor([[0, 3, 3, 3], [0, 1, 2, 3]]), 3).tolist() == [
        [False, False, True, True],
        [False] * 4,
    ]


@pytest.mark.slow
def test_a_few_steps_of_training_teach_it_to_sort_four_numbers():
    model = network("lstm", features=1)
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for step in range(120):
        loss = pointer_loss(model, sorting_batch(4, 32, step + 1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    test = sorting_batch(4, 200, 0)
    right = (greedy_pointer_decode(model, test.source).tokens == test.target).all(dim=1).float().mean()
    assert right > 0.7  # chance is 1 / 24


def test_a_loss_of_a_batch_runs_where_the_model_is(device):
    model, batch = network(first=0).to(device), tour_batch(N, 4).to(device)
    assert pointer_loss(model, batch).device.type == device.type
    assert greedy_pointer_decode(model, batch.source).tokens.device.type == device.type


@pytest.mark.parametrize("shape", [(3, 2), (0, 3, 2), (3, 0, 2), (3, 4, 1)])
def test_points_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"points must have shape \(B, N, 2\)"):
        network().start(torch.zeros(shape), torch.ones(3, dtype=torch.long))


@pytest.mark.parametrize("lengths", [[3], [3, 0, 3], [3, 6, 3]])
def test_lengths_must_be_one_a_row_and_within_the_places(lengths):
    with pytest.raises(ValueError, match="lengths must"):
        network().start(torch.zeros(3, N, 2), torch.tensor(lengths))


def test_a_batch_of_instances_says_that_all_places_are_real():
    batch = batch_of(torch.rand(2, N, 2), torch.zeros(2, N, dtype=torch.long))
    assert batch.lengths.tolist() == [N, N]
