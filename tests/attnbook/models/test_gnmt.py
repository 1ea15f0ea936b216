"""The deep model: against a slow loop and torch's own layers, padding never leaks, and the errors."""

import pytest
import torch
from torch import nn

from attnbook.models import GNMT, AttentionSeq2Seq, Encoder, GNMTEncoder
from attnbook.models.gnmt import FIRST_RESIDUAL

SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN = 9, 8, 4, 6
SHAPES = [(layers, residual) for layers in (1, 2, 3, 5) for residual in (True, False)]


@pytest.fixture
def make(device, dtype):
    """``make(layers, residual)``: a small model, the same weights each time."""

    def of(layers: int = 4, residual: bool = True) -> GNMT:
        torch.manual_seed(1)
        return GNMT(SOURCE_SIZE, TARGET_SIZE, EMBEDDING, HIDDEN, layers, residual).to(device, dtype)

    return of


def slow_encoding(encoder, words):
    """One sentence, layer by layer, with torch's own layers on it alone and a list in place of a batch."""
    x = encoder.rnn(encoder.embed(words)[None])[0]
    for number, lstm in enumerate(encoder.upper, start=2):
        below, x = x, lstm(x)[0]
        if encoder.first_residual <= number:
            x = torch.stack([out + into for out, into in zip(x[0], below[0], strict=True)])[None]
    return x[0]  # (n, D)


def slow_logits(model, annotations, read):
    """One sentence, word by word, with equations 4 to 6 of the paper written out: LSTM cells, softmax, sum."""
    score, D = model.score, HIDDEN
    states = [(annotations.new_zeros(1, D), annotations.new_zeros(1, D)) for _ in model.cells]
    logits, seen = [], []
    for word in read:
        below = states[0][0]  # (1, D): the lowest layer, one step ago
        scores = [score(below[None], key[None, None]).squeeze() for key in annotations]
        weights = torch.stack(scores).softmax(dim=0)  # (n,)
        context = sum(w * value for w, value in zip(weights, annotations, strict=True))[None]  # (1, D)
        x = model.embed(word)[None]
        for number, cell in enumerate(model.cells, start=1):
            states[number - 1] = cell.cell(torch.cat([x, context], dim=1), states[number - 1])
            out = states[number - 1][0]
            x = out + x if model.first_residual <= number else out
        logits.append(model.output(torch.cat([x, context], dim=1))[0])
        seen.append(weights)
    return torch.stack(logits), torch.stack(seen)


@pytest.mark.parametrize("layers, residual", SHAPES)
def test_a_batch_equals_a_slow_loop_over_its_sentences(layers, residual, make, sentences, close):
    model = make(layers, residual)
    logits, weights = model(*sentences)
    assert logits.shape == (4, 3, TARGET_SIZE)
    for row, length in enumerate(sentences.lengths.tolist()):
        annotations = slow_encoding(model.encoder, sentences.source[row, :length])
        wanted, seen = slow_logits(model, annotations, sentences.read[row])
        close(logits[row], wanted)
        close(weights[row, :, :length], seen)
        assert weights[row, :, length:].abs().sum() == 0


def test_more_padding_changes_neither_outputs_nor_gradients(make, sentences, close):
    model = make()
    kept, padded = (model(*those)[0] for those in (sentences, sentences.with_more_padding()))
    close(padded, kept)
    factors = torch.linspace(-1, 2, kept.numel(), device=kept.device, dtype=kept.dtype).view_as(kept)
    wanted = torch.autograd.grad((kept * factors).sum(), list(model.parameters()))
    for got, want in zip(torch.autograd.grad((padded * factors).sum(), list(model.parameters())), wanted, strict=True):
        close(got, want)


@pytest.mark.parametrize("residual", [True, False])
def test_every_parameter_gets_a_gradient(residual, make, sentences):
    model = make(5, residual)
    gradients = torch.autograd.grad(model(*sentences)[0].square().sum(), list(model.parameters()))
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


def test_one_layer_of_the_encoder_is_the_bidirectional_encoder_of_chapter_02(sentences, close, device, dtype):
    torch.manual_seed(0)
    deep = GNMTEncoder(SOURCE_SIZE, EMBEDDING, HIDDEN, layers=1, residual=True).to(device, dtype)
    torch.manual_seed(0)
    usual = Encoder(SOURCE_SIZE, EMBEDDING, HIDDEN, "lstm", bidirectional=True).to(device, dtype)
    got, wanted = deep(sentences.source, sentences.lengths), usual(sentences.source, sentences.lengths)
    close(got.annotations, wanted.annotations)
    assert torch.equal(got.mask, wanted.mask)


def test_only_the_lowest_layer_reads_both_ways(make):
    encoder = make(5).encoder
    assert encoder.rnn.bidirectional
    assert not any(lstm.bidirectional for lstm in encoder.upper)


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_residual_connections_begin_in_the_third_layer_and_have_no_parameters(layers, make, sentences):
    with_them, without = make(layers, True), make(layers, False)
    assert FIRST_RESIDUAL == 3
    assert [p.shape for p in with_them.parameters()] == [p.shape for p in without.parameters()]
    assert torch.equal(with_them(*sentences)[0], without(*sentences)[0]) == (layers < FIRST_RESIDUAL)


def test_a_residual_layer_whose_weights_are_zero_passes_its_input_on(make, sentences, close):
    model = make(5)
    shallow = make(2)
    for part in [*model.encoder.upper[1:], *list(model.cells)[2:]]:
        for parameter in part.parameters():
            nn.init.zeros_(parameter)  # an LSTM of zeros has the output zero
    own = {name: tensor for name, tensor in model.state_dict().items() if name in shallow.state_dict()}
    shallow.load_state_dict(own)
    close(model(*sentences)[0], shallow(*sentences)[0])


def test_every_decoder_layer_is_given_the_context(make):
    model = make(4)
    assert [cell.cell.input_size for cell in model.cells] == [EMBEDDING + HIDDEN] + [HIDDEN + HIDDEN] * 3
    assert model.output.in_features == 2 * HIDDEN


def test_the_query_is_the_lowest_layer_of_the_decoder(make, sentences, close):
    model = make(4)
    _, state, _ = model.step(sentences.read[:, 0], model.start(sentences.source, sentences.lengths))
    _, weights = model.attend(state)
    upper_forgotten = state._replace(recurrent=(state.recurrent[0], *map(torch.zeros_like, state.recurrent[1:])))
    close(model.attend(upper_forgotten)[1], weights)
    lowest_forgotten = state._replace(recurrent=(torch.zeros_like(state.recurrent[0]), *state.recurrent[1:]))
    assert not torch.equal(model.attend(lowest_forgotten)[1], weights)


def test_the_lstm_layers_are_all_there_lowest_first(make):
    layers = make(4).lstm_layers()
    assert {name: len(stack) for name, stack in layers.items()} == {"encoder": 4, "decoder": 4}
    assert layers["encoder"][0].bidirectional


def test_it_can_be_asked_as_the_model_of_chapter_02_is(make, sentences):
    """Both have ``encoder.embed`` and ``embed``, which :func:`attnbook.measure.gradients.trace` watches."""
    for model in (make(), AttentionSeq2Seq(SOURCE_SIZE, TARGET_SIZE)):
        assert model.encoder.embed.num_embeddings == SOURCE_SIZE
        assert model.embed.num_embeddings == TARGET_SIZE


@pytest.mark.parametrize("layers", [0, -1])
@pytest.mark.parametrize("build", [
    lambda layers: GNMT(9, 8, 4, 6, layers), lambda layers: GNMTEncoder(9, 4, 6, layers, True)
])  # fmt: skip
def test_less_than_one_layer_is_refused(build, layers):
    with pytest.raises(ValueError, match=f"layers must be at least 1, got {layers}"):
        build(layers)


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match="hidden must be even to be shared between two directions, got 5"):
        GNMT(9, 8, 4, 5)


def test_bad_inputs_are_refused_as_everywhere(make, sentences):
    model = make()
    with pytest.raises(ValueError, match=r"decoder_input must have shape \(4, T\)"):
        model(sentences.source, sentences.lengths, sentences.read[:2])
    with pytest.raises(ValueError, match=r"lengths must have shape \(4,\)"):
        model(sentences.source, sentences.lengths[:3], sentences.read)
