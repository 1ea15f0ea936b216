"""Lab 10: the loop around a cache."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise

from ..fakes.reader import fake_reader


def greedy_decode_cached(read, state, prompt, eos, max_length):
    """Go on with the prompts (B, P), reading each word once: new words (B, L), L <= max_length."""
    ended, said = torch.zeros_like(prompt[:, 0], dtype=torch.bool), []  # (B,)
    words = prompt  # (B, P) at first, then (B, 1)
    for _ in range(max_length):
        logits, state = read(words, state)  # (B, n, V)
        token = logits[:, -1].argmax(-1).masked_fill(ended, eos)  # (B,)
        ended = ended | (token == eos)
        said.append(token)
        words = token[:, None]  # (B, 1)
    return torch.stack(said, dim=1)  # (B, L)


def _readers(draw):
    prompts, answer = draw.sizes(2, low=3)
    eos, words = (2, 9) if draw.number == 0 else (5, 9 + draw.number)
    for length, ends, limit, *ending in (
        (prompts, [2, 1, None], answer + 1),  # sentence 1 ends first, sentence 2 not at all
        (2, [2], 5),  # one sentence
        (3, [0, 0], 4),  # nothing more to say
        (2, [3, 1, 2], 5),  # all end
        (1, [1, None], 3),  # a prompt of one word
        (3, [1, None, 0], 3),  # square
        (2, [None, 1], 3),  # the first sentence goes on
        (3, [2, None], 4, 1),  # an end symbol in the first prompt
        (2, [None, 2], 4, 2),  # and as the last word of both
    ):
        reader = fake_reader(draw, length, ends, limit, words, eos)
        reader.script[: sum(ending), 1] = eos  # so many prompts have one as their second word
        yield reader, reader.start(), reader.script[:, :length].clone(), eos, limit
    for ends, limit in (([2, None, 1], 4), ([None, 0], 1), ([2, None], 70)):  # one new word only; many
        reader = fake_reader(draw, 2, ends, limit, words, eos)
        reader.apart = True  # the state is a tuple, as a cache is
        yield reader, reader.start(), reader.script[:, :2].clone(), eos, limit


def _to_full_length(result, read, state, prompt, eos, max_length):
    """Stopping when all have ended is as right as repeating the end symbol up to `max_length`.

    Wrong results get this too, so that a mistake is known whether it stops or not: words first, the prompt left in.
    """
    if not isinstance(result, torch.Tensor) or result.dim() != 2 or 0 in result.shape:
        return result
    if len(result) != len(prompt):
        turned = result.shape[1] == len(prompt)
        return _to_full_length(result.T, read, state, prompt, eos, max_length).T if turned else result
    if (result[:, -1] != eos).any():
        return result
    length = max_length + prompt.shape[1] * torch.equal(result[:, : prompt.shape[1]], prompt)
    return F.pad(result, (0, max(length - result.shape[1], 0)), value=eos)


GREEDY_DECODE_CACHED = Exercise(
    greedy_decode_cached,
    cases=_readers,
    canonical=_to_full_length,
    about=About(points=3, minutes=15, difficulty=3, read_again="The key–value cache: no position is computed twice"),
)

must = GREEDY_DECODE_CACHED.properties
must(
    "eos is repeated",
    lambda result, read, state, prompt, eos, limit: (result[(result == eos).long().cumsum(1) > 0] == eos).all(),
).says("""
    A sentence that has written its end symbol must repeat it up to the last column, and in your result other words
    follow it.""")
must(
    "the first word follows the prompt",
    lambda result, read, state, prompt, *others: (result[:, 0] == read(prompt, state)[0][:, -1].argmax(-1)).all(),
).says("""
    The first new word must come from the logits at the *last* word of the prompt, and yours is another word.""")

_STOP = "\n        if ended.all():\n            break"
_ENDED = "ended = ended | (token == eos)"
_LAST = "before, ended = ended, ended | (token == eos)"
_TOKEN, _APPEND = "words = token[:, None]  # (B, 1)", "said.append(token)"

wrong = GREEDY_DECODE_CACHED.mistakes
wrong("state not kept", {"logits, state = read": "logits, _ = read"}).says("""
    You gave `read` the empty state at each step, so that it forgot the prompt. Use the state that `read` has returned
    in the step before.""")
_STAYS = "logits, state = (read(words, state)[0], state) if said else read(words, state)"
wrong("state kept only once", {"logits, state = read(words, state)": _STAYS}).says("""
    You kept the state that `read` returned for the prompt, but not those that came afterwards, so that the cache never
    learns of the new words. Overwrite the state at *each* step: `logits, state = read(…)`.""")
_DROPPED = "logits, state = read(words, state) if said else (read(words, state)[0], state)"
wrong("the prompt's state dropped", {"logits, state = read(words, state)": _DROPPED}).says("""
    You dropped the state that `read` returned for the prompt, so that from the second word on the prompt is forgotten.
    Keep it, as at each later step: `logits, state = read(prompt, state)`.""")
wrong("words read twice", {_TOKEN: f"words = torch.cat([words, token[:, None]], 1){_STOP}"}).says("""
    At each step you gave `read` the prompt and all words written so far. The state contains them already, so
    after the prompt give it only the one new word, (B, 1), with the state that `read` returned. This is what a
    cache is for.""")
wrong("the prompt's end symbols count", {"ended, said =": "ended, said = (prompt == eos).any(1), []  #"}).says("""
    In your function a sentence whose *prompt* contains `eos` has ended from the start. A prompt may contain any
    word, and only a sentence's own new words can end it.""")
wrong("the prompt's last word ends it", {"ended, said =": "ended, said = prompt[:, -1] == eos, []  #"}).says("""
    In your function a sentence whose prompt *ends* with `eos` has ended from the start. A prompt may contain any word,
    also as its last one, and only a sentence's own new words can end it.""")
wrong("prompt's last word twice", {"words = prompt": "words, state = prompt[:, -1:], read(prompt, state)[1]"}).says("""
    You read the prompt, and then its last word once more. The logits that `read` returned for the prompt already
    give the first new word.""")
wrong("only the end of the prompt", {"words = prompt ": "words = prompt[:, -1:] "}).says("""
    You gave `read` only the last word of the prompt. The cache is empty at first, so the whole prompt must be
    read, once.""")
wrong("logits of the first word", {"logits[:, -1]": "logits[:, 0]"}).says("""
    You used the logits at the first word of the prompt, which predict its second word. The first new word is
    predicted at the last position: logits[:, -1].""")
wrong("prompt in the answer", {"torch.stack(said, dim=1)": "torch.cat([prompt, torch.stack(said, dim=1)], 1)"}).says("""
    Your result begins with the prompt. Return only the new words.""")
wrong("prompt counted", {"range(max_length)": "range(max_length - prompt.shape[1])"}).says("""
    You stopped after max_length words including the prompt. The prompt does not count, because `max_length` is
    the number of new words.""")
wrong("zeros after the end", {_ENDED: _LAST, _APPEND: "said.append(token.masked_fill(before, 0))"}).says("""
    You filled the positions behind the end with 0. A sentence that has ended repeats its end symbol, and its number is
    `eos`.""")
wrong("marks of ended sentences overwritten", {_ENDED: "ended = logits[:, -1].argmax(-1) == eos"}).says("""
    You overwrote the marks of the sentences that have ended with what the newest word says, so that some sentence
    continues one step after its end. A sentence that has ended stays so: ended = ended | (token == eos).""")
wrong("words after the end", {".masked_fill(ended, eos)": ""}).says("""
    In your result some sentence continues after its end symbol. Remember which sentences have ended, and let
    those repeat `eos`.""")
wrong("the first to end stops all", {_APPEND: _APPEND + _STOP.replace("all", "any")}).says("""
    You stopped as soon as one sentence had ended, so that the others are cut off. Stop when all sentences have
    ended.""")
wrong("stopped before the last end symbol", {_APPEND: f"{_STOP.strip()}\n        {_APPEND}"}).says("""
    You checked whether all sentences had ended before you appended their words, so that the last end symbol is
    missing. Append first, and check afterwards.""")
