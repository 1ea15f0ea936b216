"""What a pointer network can be told beside: to name positions again, to read points as they are, to take a glimpse."""

import pytest
import torch

from attnbook.data.points.pointing import batch_of, hull_batch, tour_batch
from attnbook.models.pointer import (
    LONGEST,
    PointerNetwork,
    answer_log_probs,
    beam_pointer_decode,
    greedy_pointer_decode,
    pointer_loss,
)
from attnbook.models.pointer_encoders import Glimpse, make_encoder

OPTIONS = [
    {"glimpse": True, "first": 0},
    {"embed": False, "first": 0},
    {"glimpse": True, "may_stop": True},
    {"once": False, "may_stop": True},
    {"once": False, "may_stop": True, "embed": False, "glimpse": True},
]


def network(**options):
    torch.manual_seed(0)
    return PointerNetwork(hidden=8, **options).eval()


@pytest.mark.parametrize("options", OPTIONS)
def test_one_pass_is_what_the_steps_give_one_by_one(options, draw, close):
    points, lengths = draw(3, 5, 2), torch.tensor([5, 4, 5])
    model = network(**options).to(points)
    read = torch.tensor([[0, 2, 1], [0, 3, 1], [0, 1, 4]], device=points.device)
    together, _ = model(points, lengths, read)
    state = model.start(points, lengths)
    for step in range(3):
        alone, state, _ = model.step(read[:, step], state)
        close(alone, together[:, step])


@pytest.mark.parametrize("options", OPTIONS)
def test_gradients_reach_every_parameter_that_is_read(options):
    model, batch = network(**options), hull_batch(5, 4)
    batch = tour_batch(5, 4) if options.get("first") == 0 else batch
    pointer_loss(model, batch).backward()
    without = {name for name, value in model.named_parameters() if value.grad is None}
    assert without <= ({"beginning"} if "first" in options else set())
    assert all(value.grad.isfinite().all() for value in model.parameters() if value.grad is not None)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_beam_of_one_is_greedy(options, draw):
    points = draw(3, 5, 2)
    model = network(**options).to(points)
    greedy, beam = greedy_pointer_decode(model, points).tokens, beam_pointer_decode(model, points, width=1).tokens[:, 0]
    assert torch.equal(greedy, beam)


def test_a_glimpse_adds_the_context_of_attention_to_the_query(draw, close):
    query, key = draw(2, 3, 8), draw(2, 5, 8, seed=1)
    glimpse = Glimpse(8).to(query)
    mask = torch.ones(2, 3, 5, dtype=torch.bool, device=key.device)
    mask[:, :, 1] = False
    scores = glimpse.score(query, key).masked_fill(~mask, -torch.inf)  # (2, 3, 5)
    close(glimpse(query, glimpse.prepare(key), mask), query + scores.softmax(dim=-1) @ key)


def test_a_glimpse_does_not_see_positions_that_were_named(draw, close):
    points = draw(1, 5, 2)
    model = network(glimpse=True, first=0).to(points)
    state, read = model.start(points, torch.tensor([5])), torch.tensor([2], device=points.device)
    prepared, values = state.glimpsed
    other = state._replace(glimpsed=(prepared, values.index_fill(1, read, 9.0)))
    close(model.step(read, state)[0], model.step(read, other)[0])


def test_a_position_may_come_again_where_that_is_allowed_and_an_answer_is_not_endless(draw):
    points = draw(2, 4, 2)
    model = network(once=False, may_stop=True).to(points)
    with torch.no_grad():
        model.end.fill_(0.0)
        model.score.hidden_to_score.weight.fill_(0.0)  # all positions are equally likely: it names position 0 for ever
    tokens = greedy_pointer_decode(model, points).tokens
    assert tokens.shape == (2, 4 * LONGEST)
    assert (tokens == 0).all()
    target = torch.tensor([[1, 1, 2, 4], [3, 3, 3, 4]], device=points.device)
    batch = batch_of(points, target)
    assert answer_log_probs(model, *batch).exp().tolist() == [[pytest.approx(0.2)] * 4] * 2


def test_lstms_that_read_the_points_themselves_have_no_embedding():
    model = network(embed=False)
    assert model.encoder.rnn.input_size == model.decoder.input_size == len(model.beginning) == 2
    assert not any(name.startswith("embed") for name, _ in model.named_parameters())


def test_positions_that_come_again_need_an_end():
    with pytest.raises(ValueError, match=r"once=False.*set may_stop=True"):
        network(once=False)


def test_a_transformer_needs_embedded_points():
    with pytest.raises(ValueError, match="reads vectors of hidden = 8 features; give it embedded points"):
        make_encoder("transformer", 8, features=2)
