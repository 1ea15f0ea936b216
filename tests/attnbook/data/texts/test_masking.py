"""Hidden words: 80, 10 and 10 per cent of those that are chosen, and nothing else is asked or changed."""

import pytest
import torch

from attnbook.data.texts.masking import choose_positions, mask_for_bert
from attnbook.data.texts.vocabulary import BOS, EOS, PAD

V, MASK = 50, 50


@pytest.fixture
def tokens():
    drawn = torch.randint(3, V, (400, 50), generator=torch.Generator().manual_seed(1))
    drawn[:, 0], drawn[:, -2], drawn[:, -1] = BOS, EOS, PAD
    return drawn


def drawn(tokens, chosen, seed=7):
    # Another seed than the one that chose: else the same numbers would choose a word and say what becomes of it.
    return mask_for_bert(tokens, chosen, MASK, V, torch.Generator().manual_seed(seed))


def test_fifteen_per_cent_of_the_words_are_chosen_and_no_special_symbol(tokens):
    chosen = choose_positions(tokens, generator=torch.Generator().manual_seed(0))
    assert chosen[tokens >= 3].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert not chosen[tokens < 3].any()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_or_all_of_the_words_can_be_chosen(tokens, share):
    assert choose_positions(tokens, share).sum().item() == share * (tokens >= 3).sum().item()


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_is_a_probability(tokens, share):
    with pytest.raises(ValueError, match=f"share is a probability, from 0 to 1; got {share}"):
        choose_positions(tokens, share)


def test_eighty_per_cent_become_the_mask_ten_another_word_and_ten_stay(tokens):
    chosen = choose_positions(tokens, 0.5, torch.Generator().manual_seed(0))
    inputs, _ = drawn(tokens, chosen)
    masked, same = inputs[chosen] == MASK, inputs[chosen] == tokens[chosen]
    assert masked.float().mean().item() == pytest.approx(0.8, abs=0.01)
    assert same.float().mean().item() == pytest.approx(0.1 + 0.1 / (V - 3), abs=0.01)  # a random word may be the same
    others = inputs[chosen][~masked & ~same]
    assert {*others.tolist()} == {*range(3, V)}
    counts = others.bincount(minlength=V)[3:]
    assert counts.min() > counts.float().mean() / 2


def test_targets_are_the_right_words_where_the_model_is_asked_and_padding_elsewhere(tokens):
    chosen = choose_positions(tokens, generator=torch.Generator().manual_seed(0))
    inputs, targets = drawn(tokens, chosen)
    assert torch.equal(targets[chosen], tokens[chosen])
    assert targets[~chosen].eq(PAD).all()
    assert torch.equal(inputs[~chosen], tokens[~chosen])


def test_the_seed_decides_and_the_input_is_left_alone(tokens):
    before, chosen = tokens.clone(), choose_positions(tokens, 0.5)
    first, again, other = drawn(tokens, chosen)[0], drawn(tokens, chosen)[0], drawn(tokens, chosen, 1)[0]
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(tokens, before)


def test_what_does_not_fit_is_refused(tokens):
    chosen = torch.ones_like(tokens, dtype=torch.bool)
    with pytest.raises(TypeError, match=r"chosen must be boolean .* got torch.int64; use chosen.bool\(\)"):
        mask_for_bert(tokens, chosen.long(), MASK, V)
    with pytest.raises(ValueError, match=r"chosen must have the shape of tokens \(400, 50\), got \(400, 49\)"):
        mask_for_bert(tokens, chosen[:, 1:], MASK, V)
    with pytest.raises(ValueError, match=r"mask_id is 7, which may be drawn as a random word \(3 to 49\); .* 50"):
        mask_for_bert(tokens, chosen, 7, V)
