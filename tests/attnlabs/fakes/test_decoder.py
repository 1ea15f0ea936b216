"""The decoder whose every word is known."""

import pytest
import torch

from attnlabs import Draw
from attnlabs.fakes.decoder import WITHOUT_END, fake_decoder
from misread.raw_errors import meaning

BOS, EOS = 1, 2


@pytest.fixture
def decoder():
    return fake_decoder(Draw(0, 1), batch=3, length=5, words=9, bos=BOS, eos=EOS)


def listen(decoder, first, carry=True):
    state, token, said = decoder.start(), torch.full((3,), first), []
    for _ in range(5):
        logits, after = decoder(token, state)
        state = after if carry else state
        token = logits.argmax(-1)
        said.append(token)
    return torch.stack(said, 1)


def test_it_says_its_script_when_it_hears_its_own_words(decoder):
    assert torch.equal(listen(decoder, BOS), decoder.script)


def test_it_says_something_else_when_it_hears_other_words_or_loses_its_state(decoder):
    assert not torch.equal(listen(decoder, BOS + 3), decoder.script)
    assert not torch.equal(listen(decoder, BOS, carry=False), decoder.script)


def test_sentence_1_ends_first_then_0_and_2_never(decoder):
    ends = (decoder.script == EOS).int()
    assert ends[:, :].argmax(1).tolist()[:2] == [2, 1]
    assert ends[2].sum() == 0


def test_some_of_the_sentences_can_be_stepped_alone(decoder):
    token, state = torch.full((3,), BOS), decoder.start()
    both, after = decoder(token, state)
    alone, after_alone = decoder(token[[2, 0]], state[[2, 0]])
    assert torch.equal(alone, both[[2, 0]])
    assert torch.equal(after_alone, after[[2, 0]])


def test_the_ends_can_be_chosen():
    script = fake_decoder(Draw(0, 1), 3, 5, 9, BOS, EOS, ends=[0, 3, 1]).script
    assert (script == EOS).nonzero().tolist() == [[0, 0], [1, 3], [2, 1]]


@pytest.mark.parametrize(
    "token, state, words",
    [
        (torch.ones(3, 1, dtype=torch.long), torch.zeros(3, 2), r"token has shape \(3, 1\); wanted \(3,\)"),
        (torch.ones(3, dtype=torch.long), torch.zeros(3), "give back the state"),
        (torch.ones(3), torch.zeros(3, 2), "a word's number is an integer"),
        (torch.ones(3, dtype=torch.long), torch.zeros(3, 2, device="meta"), "is not on the expected device meta"),
    ],
)
def test_what_it_cannot_use_is_told(decoder, token, state, words):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=words):
        decoder(token, state)


def test_who_calls_it_without_end_is_told_so_at_once(decoder):
    after_many = torch.tensor([0.0, WITHOUT_END]).expand(3, 2)
    with pytest.raises(RuntimeError, match=f"more than {WITHOUT_END} times") as caught:
        decoder(torch.full((3,), BOS), after_many)
    assert "Stop after `max_length` words" in meaning(f"RuntimeError: {caught.value}")


def test_it_shows_what_it_would_say(decoder):
    assert repr(decoder).startswith("a decoder that would say ")
    assert repr(decoder).count("|") == 2
    assert decoder.size() == 15
