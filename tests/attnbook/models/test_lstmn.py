"""The reader with tapes is the paper's equations, word by word; what comes later has no say."""

import pytest
import torch
from torch import nn

from attnbook.data.batching import Batch
from attnbook.models import LSTMN, LSTMLanguageModel
from attnbook.training import language_model_loss

V, E, D, A = 9, 4, 6, 5
WORDS = [[1, 3, 4, 5, 8], [1, 6, 3, 0, 0], [1, 8, 8, 8, 8], [1, 2, 0, 0, 0]]
KINDS = {"lstmn": lambda: LSTMN(V, E, D, A), "lstm": lambda: LSTMLanguageModel(V, E, D)}
KINDS["deep"] = lambda: LSTMLanguageModel(V, E, D, layers=3)
KINDS["tied"] = lambda: LSTMLanguageModel(V, D, D, layers=2, tied=True)


@pytest.fixture
def make(device, dtype):
    """``make(name)``: a model of :data:`KINDS`, the same weights each time."""

    def of_name(name: str) -> nn.Module:
        torch.manual_seed(1)
        return KINDS[name]().to(device, dtype)

    return of_name


@pytest.fixture
def words(device):
    return torch.tensor(WORDS, device=device)


def slow(model: LSTMN, sentence: torch.Tensor):
    """The paper's equations for one sentence, one sum at a time: logits (T, V) and weights (T, T)."""
    W_query, W_h = model.score.query_to_hidden.weight, model.score.key_to_hidden.weight
    W_x, W_summary, b = W_query[:, :E], W_query[:, E:], model.score.key_to_hidden.bias
    v = model.score.hidden_to_score.weight[0]
    cell, zero = model.cell, torch.zeros(D, device=sentence.device, dtype=v.dtype)
    hidden_tape, memory_tape, summary, logits = [], [], zero, []
    weights = torch.zeros(len(sentence), len(sentence), device=sentence.device, dtype=v.dtype)
    for t, word in enumerate(sentence):
        x = model.embed.weight[word]
        a = [v @ torch.tanh(W_h @ h + W_x @ x + W_summary @ summary + b) for h in hidden_tape]
        total = sum(score.exp() for score in a)
        s = [score.exp() / total for score in a]
        for i, share in enumerate(s):
            weights[t, i] = share.item()
        summary = sum((share * h for share, h in zip(s, hidden_tape, strict=True)), zero)
        memory = sum((share * c for share, c in zip(s, memory_tape, strict=True)), zero)
        gates = cell.weight_ih @ x + cell.bias_ih + cell.weight_hh @ summary + cell.bias_hh
        i, f, c_hat, o = gates.chunk(4)
        c = f.sigmoid() * memory + i.sigmoid() * c_hat.tanh()
        h = o.sigmoid() * c.tanh()
        hidden_tape.append(h)
        memory_tape.append(c)
        logits.append(model.output.weight @ h + model.output.bias)
    return torch.stack(logits), weights


def test_the_reader_is_the_equations_of_the_paper(make, words, close):
    model = make("lstmn")
    logits, weights = model(words)
    for row, sentence in enumerate(words):
        wanted, wanted_weights = slow(model, sentence)
        close(logits[row], wanted)
        close(weights[row], wanted_weights)


def test_the_gradient_is_that_of_the_equations(make, words, close):
    model, other = make("lstmn"), make("lstmn")
    model(words)[0].pow(2).sum().backward()
    sum(slow(other, sentence)[0].pow(2).sum() for sentence in words).backward()
    for (name, got), wanted in zip(model.named_parameters(), other.parameters(), strict=True):
        assert wanted.grad.abs().sum() > 0, name
        close(got.grad / wanted.grad.abs().max(), wanted.grad / wanted.grad.abs().max())


def test_each_row_of_weights_spreads_one_over_the_past_and_the_first_has_none(make, words, dtype):
    _, weights = make("lstmn")(words)
    B, T = words.shape
    assert weights.shape == (B, T, T)
    assert weights.dtype == dtype
    past = torch.ones(T, T, dtype=torch.bool, device=words.device).tril(-1)
    assert (weights[:, past] > 0).all()
    assert weights[:, ~past].abs().sum() == 0
    torch.testing.assert_close(weights[:, 1:].sum(dim=-1), torch.ones_like(weights[:, 1:, 0]))
    assert weights[:, 0].abs().sum() == 0


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("t", [0, 2])
def test_no_gradient_reaches_a_word_that_comes_later(name, t, make, words):
    model, vectors = make(name), []
    model.embed.register_forward_hook(lambda part, _, output: vectors.append(output))
    logits, _ = model(words)
    gradients = torch.autograd.grad(logits[:, t].sum(), vectors, allow_unused=True)  # None: unused, so exactly zero
    if name == "lstmn":  # it embeds word by word, T times (B, E); the other one all at once, (B, T, E)
        gradients = [torch.zeros_like(vectors[0]) if one is None else one for one in gradients]
        gradients = [torch.stack(gradients, dim=1)]
    size = gradients[0].abs().sum(dim=-1)  # (B, T)
    assert (size[:, : t + 1] > 0).all()
    assert (size[:, t + 1 :] == 0).all()


@pytest.mark.parametrize("name", KINDS)
def test_what_comes_later_changes_nothing_before(name, make, words):
    model = make(name)
    other = words.clone()
    other[:, 3:] = 7
    for got, wanted in zip(model(other), model(words), strict=True):
        if wanted is not None:
            assert torch.equal(got[:, :3], wanted[:, :3])
            assert not torch.equal(got[:, 3:], wanted[:, 3:])


@pytest.mark.parametrize("name", KINDS)
def test_more_padding_changes_neither_loss_nor_gradients(name, make, words, close):
    def loss_and_gradients(target):
        model = make(name)
        loss = language_model_loss(model, Batch(target, torch.tensor([1] * len(target)), target))
        return loss, torch.autograd.grad(loss, list(model.parameters()))

    target = words[:, 1:]
    loss, gradients = loss_and_gradients(target)
    wide_loss, wide_gradients = loss_and_gradients(torch.cat([target, torch.zeros_like(target)], dim=1))
    close(wide_loss, loss)
    for got, wanted in zip(wide_gradients, gradients, strict=True):
        close(got, wanted)


@pytest.mark.parametrize("name", KINDS)
def test_a_sentence_alone_is_read_as_in_company(name, make, words, close):
    model = make(name)
    logits, weights = model(words)
    alone, alone_weights = model(words[1:2, :3])
    close(alone[0], logits[1, :3])
    if weights is not None:
        close(alone_weights[0], weights[1, :3, :3])


def test_steps_equal_the_forward_pass_and_the_tapes_grow_by_one(make, words, close):
    model, tapes = make("lstmn"), None
    logits, weights = model(words)
    for t, token in enumerate(words.unbind(dim=1)):
        step_logits, tapes, step_weights = model.step(token, tapes)
        close(step_logits, logits[:, t])
        close(step_weights, weights[:, t, :t])
        assert tapes.prepared.shape == (len(words), t + 1, A)
        assert tapes.values.shape == (len(words), t + 1, 2 * D)
        assert tapes.summary.shape == (len(words), D)


def test_with_all_weight_on_the_word_before_it_would_be_an_lstm(make, words, close):
    model, plain = make("lstmn"), make("lstm")
    plain.embed.load_state_dict(model.embed.state_dict())
    plain.output.load_state_dict(model.output.state_dict())
    plain.rnn.load_state_dict({name + "_l0": tensor for name, tensor in model.cell.state_dict().items()})

    class LooksAtTheLast(type(model.score)):
        def compare(self, query, keys):
            places = torch.arange(keys.features.shape[-2], device=query.device, dtype=query.dtype)
            return (1000 * places).expand(len(query), 1, -1)

    model.score.__class__ = LooksAtTheLast
    close(model(words)[0], plain(words)[0])


@pytest.mark.parametrize("name", KINDS)
def test_every_parameter_receives_a_gradient(name, make, words):
    model = make(name)
    logits, _ = model(words)
    logits.pow(2).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_the_space_of_the_score_is_as_wide_as_the_state_unless_told_otherwise():
    assert LSTMN(V, E, D).score.hidden_to_score.in_features == D
    assert LSTMN(V, E, D, A).score.hidden_to_score.in_features == A


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("shape", [(3,), (2, 0), (0, 2), (2, 2, 2)])
def test_words_of_another_shape_are_refused(name, shape):
    with pytest.raises(ValueError, match=r"words must have shape \(B, T\) with B > 0 and T > 0, got \("):
        KINDS[name]()(torch.ones(shape, dtype=torch.long))


def test_a_tied_lstm_has_one_matrix_of_word_vectors_and_needs_equal_sizes():
    tied, free = (LSTMLanguageModel(V, D, D, tied=tied) for tied in (True, False))
    count = [sum(parameter.numel() for parameter in model.parameters()) for model in (tied, free)]
    assert count[1] - count[0] == V * D
    with pytest.raises(ValueError, match="embedding must equal hidden in a tied model, got 4 and 6"):
        LSTMLanguageModel(V, E, D, tied=True)
