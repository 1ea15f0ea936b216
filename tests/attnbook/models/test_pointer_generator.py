"""Write or copy: the equation word by word, and a model whose distribution is one."""

import pytest
import torch

from attnbook.data.symbols.names import SIZE, UNK, WORDS, name_batch, without_names
from attnbook.decoding import greedy
from attnbook.models.pointer_generator import PointerGenerator, copy_or_generate


def test_the_example_of_the_chapter():
    vocabulary = torch.tensor([[0.6, 0.4]])  # two words; the name has number 2 and stands at positions 0 and 2
    weights, words = torch.tensor([[0.5, 0.2, 0.3]]), torch.tensor([[2, 1, 2]])
    found = copy_or_generate(torch.tensor([0.8]), vocabulary, weights, words, size=4)
    assert torch.allclose(found, torch.tensor([[0.48, 0.32 + 0.2 * 0.2, 0.16, 0.0]]))


def test_it_is_equation_9_word_by_word(draw, device, dtype, close):
    p_gen = draw(3).sigmoid()
    vocabulary, weights = draw(3, 4, seed=1).softmax(dim=-1), draw(3, 5, seed=2).softmax(dim=-1)
    words = torch.tensor([[0, 4, 4, 1, 6], [5, 5, 5, 5, 5], [3, 2, 1, 0, 4]], device=device)
    found = copy_or_generate(p_gen, vocabulary, weights, words, size=7)
    assert found.shape == (3, 7)
    close(found.sum(dim=-1), torch.ones(3, dtype=dtype, device=device))
    for b in range(3):
        for w in range(7):
            written = p_gen[b] * vocabulary[b, w] if w < 4 else 0.0
            copied = sum(weights[b, j] for j in range(5) if words[b, j] == w)
            close(found[b, w], torch.as_tensor(written + (1 - p_gen[b]) * copied, dtype=dtype, device=device))


@pytest.mark.parametrize("p_gen", [0.0, 1.0])
def test_all_copied_and_all_written_are_the_two_ends(p_gen):
    vocabulary, words = torch.tensor([[0.25, 0.75]]), torch.tensor([[2, 2]])
    found = copy_or_generate(torch.tensor([p_gen]), vocabulary, torch.tensor([[0.9, 0.1]]), words, 3)
    assert torch.allclose(found, torch.tensor([[0.25 * p_gen, 0.75 * p_gen, 1 - p_gen]]))


def test_gradients_reach_all_three(draw):
    parts = [draw(2).sigmoid(), draw(2, 3).softmax(-1), draw(2, 4).softmax(-1)]
    parts = [part.detach().requires_grad_() for part in parts]
    words = torch.tensor([[3, 1, 3, 0], [4, 3, 2, 1]], device=parts[0].device)
    copy_or_generate(*parts, words, 5)[:, 3].log().sum().backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in parts)
    assert (parts[2].grad[0] != 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p_gen": torch.ones(2, 1)}, "do not fit"),
        ({"weights": torch.ones(2, 2) / 2}, "do not fit"),
        ({"vocabulary": torch.ones(1, 3) / 3}, "do not fit"),
        ({"words": torch.tensor([[0, 5, 1], [0, 0, 0]])}, "from 0 to size − 1 = 4.*got 0 to 5"),
        ({"words": torch.tensor([[0, -1, 1], [0, 0, 0]])}, "got -1 to 1"),
        ({"size": 2}, "the vocabulary has the first 3"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    right = {
        "p_gen": torch.ones(2),
        "vocabulary": torch.ones(2, 3) / 3,
        "weights": torch.ones(2, 3) / 3,
        "words": torch.tensor([[0, 4, 1], [0, 0, 0]]),
        "size": 5,
    }
    copy_or_generate(**right)
    with pytest.raises(ValueError, match=message):
        copy_or_generate(**right | change)


def network():
    torch.manual_seed(0)
    return PointerGenerator(len(WORDS), SIZE, UNK, embedding=4, hidden=6).eval()


def test_log_probabilities_are_a_distribution_and_only_names_of_the_source_have_a_share():
    model, batch = network(), name_batch(4, 1)
    state = model.start(batch.source, batch.lengths)
    assert (state.p_gen == 1).all()
    log_probs, state, weights = model.step(batch.target[:, 0], state)
    assert log_probs.shape == (4, SIZE)
    assert torch.allclose(log_probs.exp().sum(dim=-1), torch.ones(4))
    for row, source, looked, p_gen in zip(log_probs.exp(), batch.source, weights, state.p_gen, strict=True):
        for name in range(len(WORDS), SIZE):
            assert row[name].item() == pytest.approx(((1 - p_gen) * looked[source == name].sum()).item(), abs=1e-6)


def test_names_are_unknown_when_they_are_read():
    model, batch = network(), name_batch(4, 1)
    hidden = without_names(batch.source)
    assert torch.equal(
        model.start(batch.source, batch.lengths).inner.annotations, model.start(hidden, batch.lengths).inner.annotations
    )
    state, name = model.start(batch.source, batch.lengths), torch.full((4,), len(WORDS))
    assert torch.equal(model.step(name, state)[0], model.step(torch.full((4,), UNK), state)[0])


def test_greedy_decoding_may_write_names():
    model, batch = network(), name_batch(3, 1)
    with torch.no_grad():
        model.switch.bias.fill_(-50.0)  # it copies only
    tokens = greedy(model, batch.source, batch.lengths, max_length=4).tokens
    assert all(
        token in source for row, source in zip(tokens.tolist(), batch.source.tolist(), strict=True) for token in row
    )
