"""Luong's decoder: each placement does what it says, windows stay in their sentence, padding never leaks."""

import pytest
import torch

from attnbook.attention import (
    Additive,
    Dot,
    General,
    LocalAttention,
    MonotonicCentre,
    PredictedCentre,
    WalkingCentre,
    attend,
    local_attend,
)
from attnbook.models import LuongSeq2Seq, attentional_state, input_feeding_step
from attnbook.models.luong import PLACEMENTS
from attnbook.models.recurrent import RecurrentCell

SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN = 9, 8, 4, 6
SIZES = SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN

SCORED = {
    "dot": lambda: LuongSeq2Seq(*SIZES, score=Dot()),
    "general": lambda: LuongSeq2Seq(*SIZES),
    "concat": lambda: LuongSeq2Seq(*SIZES, score=Additive(HIDDEN, HIDDEN, HIDDEN)),
}
PLACED = {
    f"{placement}{'_fed' * feeding}": lambda placement=placement, feeding=feeding: LuongSeq2Seq(
        *SIZES, feeding=feeding, placement=placement
    )
    for placement in PLACEMENTS
    for feeding in (False, True)
}
CENTRES = {
    "m": lambda: MonotonicCentre(),
    "p": lambda: PredictedCentre(HIDDEN),
    "walking": lambda: WalkingCentre(HIDDEN),
}
LOCAL = {
    f"local_{centre}_{gaussian}": lambda centre=centre, gaussian=gaussian: LuongSeq2Seq(
        *SIZES, local=LocalAttention(CENTRES[centre](), 1, gaussian)
    )
    for centre in CENTRES
    for gaussian in (["none"] if centre == "m" else ["product", "bias"])
}
LOCAL |= {
    f"local_p_{placement}": lambda placement=placement: LuongSeq2Seq(
        *SIZES, local=LocalAttention(PredictedCentre(HIDDEN), 1), placement=placement
    )
    for placement in ("both", "skip")
}
MODELS = SCORED | PLACED | LOCAL


@pytest.fixture
def make(device, dtype):
    """``make(name)``: a model of :data:`MODELS`, the same weights each time."""

    def of_name(name: str) -> LuongSeq2Seq:
        torch.manual_seed(1)
        return MODELS[name]().to(device, dtype)

    return of_name


def loss_gradients(model, logits):
    """Gradients of an uneven sum of the logits with respect to every parameter."""
    factors = torch.linspace(-1, 2, logits.numel(), device=logits.device, dtype=logits.dtype)
    return torch.autograd.grad((logits.flatten() * factors).sum(), list(model.parameters()))


# ---- what holds for every model


@pytest.mark.parametrize("name", MODELS)
def test_more_padding_changes_neither_outputs_nor_gradients(name, make, sentences, close):
    model = make(name)
    logits, weights = model(*sentences)
    wide_logits, wide_weights = model(*sentences.with_more_padding())
    close(wide_logits, logits)
    for got, wanted in zip(loss_gradients(model, wide_logits), loss_gradients(model, logits), strict=True):
        close(got, wanted)
    close(wide_weights[..., : weights.shape[-1]], weights)
    assert wide_weights[..., weights.shape[-1] :].abs().sum() == 0


@pytest.mark.parametrize("name", MODELS)
def test_neither_order_nor_company_matters(name, make, sentences, close):
    model, order = make(name), [2, 0, 3, 1]
    logits, weights = model(*sentences)
    shuffled, _ = model(*sentences.rows(order))
    close(shuffled, logits[order])
    for row, length in enumerate(sentences.lengths.tolist()):
        alone, alone_weights = model(*sentences.alone(row))
        close(alone[0], logits[row])
        close(alone_weights[0], weights[row, :, :length])


@pytest.mark.parametrize("name", MODELS)
def test_a_word_is_not_seen_before_its_turn(name, make, sentences):
    model = make(name)
    logits, _ = model(*sentences)
    other = sentences.read.clone()
    other[:, 2] = 4
    changed, _ = model(*sentences._replace(read=other))
    assert torch.equal(changed[:, :2], logits[:, :2])
    assert not torch.allclose(changed[:, 2], logits[:, 2])


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_receives_a_gradient(name, make, sentences):
    model = make(name)
    gradients = loss_gradients(model, model(*sentences)[0])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


@pytest.mark.parametrize("name", MODELS)
def test_shapes_and_kind_are_as_promised_and_weights_stay_in_their_sentence(name, make, sentences, device, dtype):
    logits, weights = make(name)(*sentences)
    assert logits.shape == (*sentences.read.shape, TARGET_SIZE)
    assert weights.shape == (*sentences.read.shape, sentences.source.shape[1])
    assert logits.dtype == weights.dtype == dtype
    assert logits.device.type == device.type
    sums = weights.sum(dim=-1)
    if "product" in name or name in ("local_p_both", "local_p_skip"):
        assert ((sums > 0) & (sums <= 1)).all()
    else:
        torch.testing.assert_close(sums, torch.ones_like(sums))
    positions = torch.arange(sentences.source.shape[1]) >= sentences.lengths[:, None]  # (B, Tk)
    assert weights[positions[:, None].expand_as(weights)].abs().sum() == 0


# ---- the parts


def test_the_attentional_state_is_equation_5(draw, close):
    context, hidden, weight = draw(2, 3), draw(2, 4, seed=1), draw(5, 7, seed=2)
    wanted = (context @ weight[:, :3].T + hidden @ weight[:, 3:].T).tanh()
    close(attentional_state(context, hidden, weight), wanted)


def test_input_feeding_lays_the_attentional_state_beside_the_word(draw, close):
    cell = RecurrentCell("lstm", 4 + 3, 5).to(draw(1))
    embedded, attentional, state = draw(2, 4), draw(2, 3, seed=1), draw(2, 10, seed=2)
    got = input_feeding_step(cell, embedded, attentional, state)
    hidden, memory = cell.cell(torch.cat([embedded, attentional], dim=-1), (state[:, :5], state[:, 5:]))
    close(got, torch.cat([hidden, memory], dim=-1))


def test_the_encoders_last_state_is_the_decoders_first(make, sentences, close):
    model = make("skip")
    state = model.start(sentences.source, sentences.lengths)
    last = model.encoder(sentences.source, sentences.lengths).last
    close(state.recurrent, last)
    close(state.upper, last)
    assert state.lengths.tolist() == sentences.lengths.tolist()
    assert state.centre.tolist() == [-1] * len(last)


# ---- placements: a step, written out


def second_step(model, sentences):
    """State, word vector and annotations before the second step, and what the model makes of them."""
    _, state, _ = model.step(sentences.read[:, 0], model.start(sentences.source, sentences.lengths))
    word = model.embed(sentences.read[:, 1])
    return state, word, model.step(sentences.read[:, 1], state)


def of_global(model, hidden, state):
    values = state.annotations
    context, weights = attend(hidden[:, None], values, values, state.mask[:, None], score=model.score)
    return context[:, 0], weights[:, 0]


@pytest.mark.parametrize("name", ["general", "dot", "concat", "output"])
def test_luong_attends_from_the_new_state_and_the_output_layer_reads_both(name, make, sentences, close):
    model = make(name)
    state, word, (logits, new, weights) = second_step(model, sentences)
    recurrent = model.cell(torch.cat([word, state.fed], dim=-1), state.recurrent)
    context, wanted = of_global(model, recurrent[:, :HIDDEN], state)
    read = (torch.cat([context, recurrent[:, :HIDDEN]], dim=-1) @ model.combine.weight.T).tanh()
    close(weights, wanted)
    close(logits, model.output(read))
    close(new.recurrent, recurrent)
    close(new.fed, read if name != "output" else read[:, :0])


@pytest.mark.parametrize("name", ["input", "both", "both_fed"])
def test_bahdanaus_order_attends_from_the_state_before_and_the_lstm_reads_the_context(name, make, sentences, close):
    model = make(name)
    state, word, (logits, new, weights) = second_step(model, sentences)
    context, wanted = of_global(model, state.recurrent[:, :HIDDEN], state)
    recurrent = model.cell(torch.cat([word, context, state.fed], dim=-1), state.recurrent)
    hidden = recurrent[:, :HIDDEN]
    if name != "input":
        hidden = (torch.cat([context, hidden], dim=-1) @ model.combine.weight.T).tanh()
    close(weights, wanted)
    close(logits, model.output(hidden))
    close(new.recurrent, recurrent)


def test_in_a_stack_the_upper_lstm_reads_the_context_and_a_connection_skips_it(make, sentences, close):
    model = make("skip")
    state, word, (logits, new, weights) = second_step(model, sentences)
    recurrent = model.cell(word, state.recurrent)
    lower = recurrent[:, :HIDDEN]
    context, wanted = of_global(model, lower, state)
    upper = model.upper(torch.cat([lower, context], dim=-1), state.upper)
    close(weights, wanted)
    close(logits, model.output(lower + upper[:, :HIDDEN]))
    close(new.upper, upper)
    close(new.recurrent, recurrent)


@pytest.mark.parametrize("name", ["local_m_none", "local_p_product", "local_p_bias", "local_walking_product"])
def test_a_local_model_attends_around_the_centre_of_its_state(name, make, sentences, close):
    model = make(name)
    state, word, (_, new, weights) = second_step(model, sentences)
    hidden = model.cell(torch.cat([word, state.fed], dim=-1), state.recurrent)[:, :HIDDEN]
    centre = model.local.centre(hidden, state.lengths, state.centre)
    asked = hidden[:, None], state.annotations, state.annotations, state.mask[:, None]
    _, wanted = local_attend(*asked, centre=centre, half_width=1, score=model.score, gaussian=model.local.gaussian)
    close(new.centre, centre)
    close(weights, wanted[:, 0])


def test_centres_count_walk_and_never_leave_the_sentence(make, sentences):
    for name in LOCAL:
        model = make(name)
        state, before = model.start(sentences.source, sentences.lengths), []
        for t, token in enumerate(sentences.read.unbind(dim=1)):
            _, state, _ = model.step(token, state)
            before.append(state.centre.tolist())
            if "_m_" in name:
                assert before[t] == [min(t, length - 1) for length in sentences.lengths.tolist()]
            if "walking" in name:
                assert all(here >= there for here, there in zip(before[t], before[max(t - 1, 0)], strict=True))
            assert (state.centre <= state.lengths).all()


def test_without_feeding_the_state_carries_nothing_to_feed(make, sentences):
    fed, unfed = (make(name).start(sentences.source, sentences.lengths).fed for name in ("general", "output"))
    assert fed.shape == (4, HIDDEN)
    assert fed.abs().sum() == 0
    assert unfed.shape == (4, 0)


def test_general_is_the_score_when_none_is_given():
    assert type(LuongSeq2Seq(*SIZES).score) is General
    assert LuongSeq2Seq(*SIZES).local is None


def test_feeding_costs_the_lstm_d_more_inputs():
    sizes = [sum(p.numel() for p in LuongSeq2Seq(*SIZES, feeding=feeding).parameters()) for feeding in (True, False)]
    assert sizes[0] - sizes[1] == 4 * HIDDEN * HIDDEN


def test_what_does_not_fit_is_refused(sentences):
    with pytest.raises(ValueError, match="placement must be one of output, input, both, skip, got 'top'"):
        LuongSeq2Seq(*SIZES, placement="top")
    with pytest.raises(ValueError, match="hidden must be even to be shared between two directions, got 5"):
        LuongSeq2Seq(9, 8, 4, 5)
    with pytest.raises(ValueError, match=r"decoder_input must have shape \(4, T\) with T > 0, got \(3, 2\)"):
        LuongSeq2Seq(*SIZES).to(sentences.source.device)(*sentences[:2], torch.ones(3, 2).long())
