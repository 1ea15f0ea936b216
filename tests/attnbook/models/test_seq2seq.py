"""Plain and attentive models: padding never leaks, steps equal the forward pass and do what they say."""

import pytest
import torch

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
    attend,
)
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq

SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN = 9, 8, 4, 6
SIZES = SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN

PLAIN = {
    f"plain_{cell}_{context}": lambda cell=cell, context=context: PlainSeq2Seq(*SIZES, cell, context)
    for cell in ("gru", "lstm")
    for context in ("every", "first")
} | {"plain_both_ways_every": lambda: PlainSeq2Seq(*SIZES, bidirectional=True)}
ATTENTIVE = {
    f"attention_{cell}_{ways}": lambda cell=cell, ways=ways: AttentionSeq2Seq(*SIZES, cell, ways == "both_ways")
    for cell in ("gru", "lstm")
    for ways in ("one_way", "both_ways")
}
SCORES = {
    "dot": lambda: Dot(),
    "scaled_dot": lambda: ScaledDot(),
    "general": lambda: General(HIDDEN, HIDDEN),
    "cosine": lambda: Cosine(beta=5.0, learn_beta=True),
    "additive": lambda: Additive(HIDDEN, HIDDEN, 3),
    "mlp": lambda: MLP(HIDDEN, HIDDEN, 5),
    "location": lambda: Location(HIDDEN, 10),
    "location_aware": lambda: LocationAware(HIDDEN, HIDDEN, 5, filters=2, width=3),
}
SCORED = {f"attention_{score}": lambda score=score: AttentionSeq2Seq(*SIZES, score=SCORES[score]()) for score in SCORES}
MODELS = PLAIN | ATTENTIVE | SCORED


@pytest.fixture
def make(device, dtype):
    """``make(name)``: a model of :data:`MODELS`, the same weights each time."""

    def of_name(name: str) -> torch.nn.Module:
        torch.manual_seed(1)
        return MODELS[name]().to(device, dtype)

    return of_name


def loss_gradients(model, logits):
    """Gradients of an uneven sum of the logits with respect to every parameter that learns."""
    factors = torch.linspace(-1, 2, logits.numel(), device=logits.device, dtype=logits.dtype)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.autograd.grad((logits.flatten() * factors).sum(), learning)


# ---- what holds for every model


@pytest.mark.parametrize("name", MODELS)
def test_more_padding_changes_neither_outputs_nor_gradients(name, make, sentences, close):
    model = make(name)
    logits, weights = model(*sentences)
    wide_logits, wide_weights = model(*sentences.with_more_padding())
    close(wide_logits, logits)
    for got, wanted in zip(loss_gradients(model, wide_logits), loss_gradients(model, logits), strict=True):
        close(got, wanted)
    if weights is not None:
        close(wide_weights[..., : weights.shape[-1]], weights)
        assert wide_weights[..., weights.shape[-1] :].abs().sum() == 0


@pytest.mark.parametrize("name", MODELS)
def test_neither_order_nor_company_matters(name, make, sentences, close):
    model, order = make(name), [2, 0, 3, 1]
    logits, weights = model(*sentences)
    shuffled, shuffled_weights = model(*sentences.rows(order))
    close(shuffled, logits[order])
    for row, length in enumerate(sentences.lengths.tolist()):
        alone, alone_weights = model(*sentences.alone(row))
        close(alone[0], logits[row])
        if weights is not None:
            close(alone_weights[0], weights[row, :, :length])
            close(shuffled_weights[order.index(row)], weights[row])


@pytest.mark.parametrize("name", MODELS)
def test_steps_equal_the_forward_pass(name, make, sentences, close):
    model = make(name)
    logits, weights = model(*sentences)
    state = model.start(sentences.source, sentences.lengths)
    for t in range(sentences.read.shape[1]):
        step_logits, state, step_weights = model.step(sentences.read[:, t], state)
        close(step_logits, logits[:, t])
        assert (step_weights is None) == (weights is None)
        if weights is not None:
            close(step_weights, weights[:, t])


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
def test_shapes_and_kind_are_as_promised(name, make, sentences, device, dtype):
    logits, weights = make(name)(*sentences)
    assert logits.shape == (*sentences.read.shape, TARGET_SIZE)
    assert logits.dtype == dtype
    assert logits.device.type == device.type
    if name in PLAIN:
        assert weights is None
    else:
        assert weights.shape == (*sentences.read.shape, sentences.source.shape[1])
        assert weights.dtype == dtype


@pytest.mark.parametrize("name", ATTENTIVE | SCORED)
def test_weights_spread_one_over_the_words_and_nothing_over_the_padding(name, make, sentences):
    _, weights = make(name)(*sentences)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    places = torch.arange(sentences.source.shape[1]) >= sentences.lengths[:, None]  # (B, Tk)
    assert weights[places[:, None].expand_as(weights)].abs().sum() == 0


# ---- the plain model


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_state_does_not_grow_with_the_sentence(name, make, sentences):
    model = make(name)
    short, long = (model.start(*batch[:2]) for batch in (sentences.rows([0]), sentences.with_more_padding(40)))
    assert [part.shape[1] for part in short] == [part.shape[1] for part in long]


@pytest.mark.parametrize("name", PLAIN)
def test_c_stays_the_same_at_every_step(name, make, sentences):
    model = make(name)
    start = model.start(sentences.source, sentences.lengths)
    _, after, _ = model.step(sentences.read[:, 0], start)
    shown = model.encoder(sentences.source, sentences.lengths).last[:, :HIDDEN]
    assert after.context is start.context
    assert torch.equal(start.context, shown if name.endswith("every") else shown[:, :0])


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_step_is_cell_and_output_on_word_and_c(name, make, sentences, close):
    model = make(name)
    last = model.encoder(sentences.source, sentences.lengths).last
    before = model.first_state(last).tanh()
    word = model.embed(sentences.read[:, 0])
    seen = [word, last[:, :HIDDEN]] if name.endswith("every") else [word]  # c is an input, or only a first state
    after = model.cell(torch.cat(seen, dim=-1), before)
    hidden = after[:, :HIDDEN]
    weight, bias = model.output.weight, model.output.bias
    wanted = torch.cat([hidden, *reversed(seen)], dim=-1) @ weight.T + bias  # W [s; c; y] + b
    logits, state, _ = model.step(sentences.read[:, 0], model.start(sentences.source, sentences.lengths))
    close(logits, wanted)
    close(state.recurrent, after)


# ---- the attentive model


def test_the_score_is_additive_and_half_as_wide_as_the_state_when_none_is_given():
    model = AttentionSeq2Seq(*SIZES)
    assert type(model.score) is Additive
    assert model.score.hidden_to_score.in_features == HIDDEN // 2
    assert model.encoder.rnn.bidirectional


@pytest.mark.parametrize("name", [name for name in ATTENTIVE | SCORED if name != "attention_location_aware"])
def test_a_step_attends_from_the_state_before_to_all_annotations(name, make, sentences, close):
    model = make(name)
    annotations, last, mask = model.encoder(sentences.source, sentences.lengths)
    state = model.first_state(last).tanh()
    query = state[:, None, :HIDDEN]  # of an LSTM's state the hidden half alone
    context, weights = attend(query, annotations, annotations, score=model.score, mask=mask[:, None])
    word = model.embed(sentences.read[:, 0])
    after = model.cell(torch.cat([word, context[:, 0]], dim=-1), state)
    wanted = model.output(torch.cat([after[:, :HIDDEN], context[:, 0], word], dim=-1))
    logits, new, step_weights = model.step(sentences.read[:, 0], model.start(sentences.source, sentences.lengths))
    close(step_weights, weights[:, 0])
    close(logits, wanted)
    close(new.recurrent, after)


@pytest.mark.parametrize("name", ["attention_gru_both_ways", "attention_location_aware"])
def test_the_state_remembers_where_the_decoder_has_looked(name, make, sentences, close):
    model = make(name)
    state = model.start(sentences.source, sentences.lengths)
    assert state.alignment.previous.argmax(dim=-1).tolist() == [0] * len(sentences.source)
    total = torch.zeros(sentences.source.shape, device=state.mask.device, dtype=state.annotations.dtype)
    for token in sentences.read.unbind(dim=1):
        _, state, weights = model.step(token, state)
        total = total + weights
        close(state.alignment.previous, weights)
        close(state.alignment.total, total)


def test_a_location_aware_model_scores_with_what_its_state_remembers(make, sentences, close):
    model = make("attention_location_aware")
    _, all_weights = model(*sentences)
    state = model.start(sentences.source, sentences.lengths)
    previous = torch.zeros_like(all_weights[:, 0])
    previous[:, 0] = 1
    total = torch.zeros_like(previous)
    for t, token in enumerate(sentences.read.unbind(dim=1)):
        keys = model.score.prepare(state.annotations)
        scores = model.score(state.recurrent[:, None], keys.at(Alignment(previous, total)))[:, 0]
        wanted = scores.masked_fill(~state.mask, float("-inf")).softmax(dim=-1)
        close(all_weights[:, t], wanted)
        previous, total = wanted, total + wanted
        _, state, _ = model.step(token, state)


def test_a_location_aware_model_looks_elsewhere_when_it_remembers_something_else(make, sentences):
    model = make("attention_location_aware")
    state = model.start(sentences.source, sentences.lengths)
    moved = state._replace(alignment=Alignment(state.alignment.previous.roll(1, dims=1), state.alignment.total))
    tired = state._replace(alignment=Alignment(state.alignment.previous, state.alignment.total + 3))
    token = sentences.read[:, 0]
    weights = [model.step(token, each)[2][1] for each in (state, moved, tired)]  # of the longest sentence
    assert not torch.allclose(weights[0], weights[1], atol=1e-4)
    assert not torch.allclose(weights[0], weights[2], atol=1e-4)


# ---- what they refuse


@pytest.mark.parametrize("name", ["plain_gru_every", "attention_gru_both_ways"])
@pytest.mark.parametrize("shape", [(4,), (3, 2), (4, 0), (4, 2, 1)])
def test_a_decoder_input_of_another_shape_is_refused(name, shape, make, sentences):
    read = torch.ones(shape, dtype=torch.long, device=sentences.source.device)
    with pytest.raises(ValueError, match=r"decoder_input must have shape \(4, T\) with T > 0, got \("):
        make(name)(*sentences._replace(read=read))


@pytest.mark.parametrize("name", ["plain_gru_every", "attention_gru_both_ways"])
def test_an_empty_batch_is_refused(name, make, sentences):
    with pytest.raises(ValueError, match=r"source must have shape \(B, Tk\) with B > 0, got \(0, 5\)"):
        make(name)(*sentences.rows([]))


def test_an_unknown_way_to_show_the_context_is_refused():
    with pytest.raises(ValueError, match='context must be "every" or "first", got \'last\''):
        PlainSeq2Seq(*SIZES, context="last")


@pytest.mark.parametrize("model", [PlainSeq2Seq, AttentionSeq2Seq])
def test_an_unknown_cell_is_refused(model):
    with pytest.raises(ValueError, match="cell must be one of gru, lstm, got 'rnn'"):
        model(*SIZES, cell="rnn")


def test_a_source_that_is_too_long_for_the_location_score_is_refused(make, sentences):
    long = sentences.with_more_padding(6)  # 11 places, and the score knows 10
    with pytest.raises(ValueError, match="key has 11 positions but this location score knows only max_length = 10"):
        make("attention_location")(*long)
