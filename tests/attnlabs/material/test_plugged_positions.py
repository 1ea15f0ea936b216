"""A student's positions in the book's Transformer."""

import pytest
import torch

from attnbook.attention.positions import LinearBias
from attnbook.models import Transformer, TransformerConfig
from attnlabs.lab17.bias import relative_bias
from attnlabs.lab17.positions import randomised_positions
from attnlabs.material.plugged_positions import use_randomised_positions, use_relative_bias

SOURCE, LENGTHS = torch.tensor([[3, 4, 5, 6], [6, 5, 4, 0]]), torch.tensor([4, 3])
WORDS = torch.tensor([[1, 3, 4, 5, 6], [1, 6, 5, 4, 2]])


def transformer(**config):
    torch.manual_seed(0)
    return Transformer(8, 8, TransformerConfig(d_model=16, layers=1, d_ff=16, **config)).eval()


def first_ones(length, longest, generator):
    return torch.arange(length)


def test_the_first_positions_are_the_sinusoids_themselves():
    plain = transformer(positions="sinusoidal")
    mine = use_randomised_positions(transformer(positions="sinusoidal"), first_ones, longest=20)
    torch.testing.assert_close(mine(SOURCE, LENGTHS, WORDS)[0], plain(SOURCE, LENGTHS, WORDS)[0])


def test_each_batch_has_a_draw_of_its_own_which_its_target_shares():
    model = use_randomised_positions(transformer(positions="sinusoidal"), randomised_positions, longest=30)
    slots = model.embed_source.add_positions.slots
    model(SOURCE, LENGTHS, WORDS)
    first = slots.drawn
    model(SOURCE, LENGTHS, WORDS)
    assert model.embed_target.add_positions.slots is slots
    assert first.shape == slots.drawn.shape
    assert not torch.equal(first, slots.drawn)


def test_writing_word_by_word_keeps_the_draw():
    model = use_randomised_positions(transformer(positions="sinusoidal"), randomised_positions, longest=30)
    state, steps = model.start(SOURCE, LENGTHS), []
    for t in range(WORDS.shape[1]):
        logits, state, _ = model.step(WORDS[:, t], state)
        steps.append(logits)
    drawn = model.embed_source.add_positions.slots.drawn
    model.embed_source.add_positions.slots.draw = lambda *args: drawn
    torch.testing.assert_close(torch.stack(steps, dim=1), model(SOURCE, LENGTHS, WORDS)[0])


def test_a_source_that_is_too_long_is_an_error():
    model = use_randomised_positions(transformer(positions="sinusoidal"), randomised_positions, longest=7)
    with pytest.raises(ValueError, match="a source of 4 words needs 8 positions; longest is 7"):
        model(SOURCE, LENGTHS, WORDS)


def test_there_must_be_sinusoids_to_replace():
    with pytest.raises(ValueError, match="positions must be 'sinusoidal', the model has 'rotary'"):
        use_randomised_positions(transformer(), randomised_positions, longest=20)


def test_a_plugged_bias_is_the_books_linear_bias():
    book = transformer(cross_positions="linear_bias")
    mine = use_relative_bias(transformer(cross_positions="none"), relative_bias)
    assert isinstance(book.decoder.layers[0].cross_attention.positions, LinearBias)
    mine.load_state_dict(book.state_dict())
    torch.testing.assert_close(mine(SOURCE, LENGTHS, WORDS)[0], book(SOURCE, LENGTHS, WORDS)[0])


def test_a_plugged_bias_learns_its_slopes_and_knows_the_step():
    model = use_relative_bias(transformer(cross_positions="none"), relative_bias)
    logits = model(SOURCE, LENGTHS, WORDS)[0]
    logits.square().sum().backward()
    assert model.decoder.layers[0].cross_attention.positions.halvings.grad.any()
    state = model.start(SOURCE, LENGTHS)
    for t in range(WORDS.shape[1]):
        step, state, _ = model.step(WORDS[:, t], state)
        torch.testing.assert_close(step, logits[:, t])


def test_a_model_that_was_without_memory_still_adds_sinusoids():
    made, empty = (use_randomised_positions(transformer(positions="sinusoidal"), first_ones, 40) for _ in range(2))
    for tensor in empty.to("meta").to_empty(device="cpu").buffers():
        tensor.fill_(torch.nan)  # what empty memory holds is by chance
    empty.load_state_dict(made.state_dict())
    words = torch.zeros(2, 6, made.config.d_model)
    added = [model.embed_source.add_positions(words) for model in (made, empty)]
    assert torch.equal(*added)
    assert added[0].ne(0).any()
