"""Lab 1, second half: from states to sentences, and how many of them are right."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property
from ..fakes.decoder import fake_decoder


def last_states(states, lengths):
    rows = torch.arange(len(states), device=states.device)  # (B,)
    return states[rows, lengths - 1]  # (B, D)


def _sentences(draw):
    batch, length, dim = draw.sizes(3)
    yield draw.normal(batch, length, dim), draw.lengths(batch, length)
    yield draw.normal(batch + 1, length + 2, dim), draw.lengths(batch + 1, length)  # no row is full
    yield draw.normal(1, 3, 1), torch.tensor([2])  # a squeeze of all axes takes too many here
    yield draw.normal(3, 3, 2), draw.lengths(3, 3)  # rows and steps mixed up give values here, no error


LAST_STATES = Exercise(
    last_states,
    cases=_sentences,
    properties=[
        Property(
            "one state of each sentence",
            "Each row of the result must be one of the states of the same sentence.",
            lambda result, states, lengths: (states == result[:, None]).all(2).any(1).all(),
        )
    ],
)

wrong = LAST_STATES.mistakes
wrong("the last column", "return states[:, -1]").says("""
    You took step T − 1 of every row. For a short sentence that is a state after padding. Each sentence ends at its
    own place, lengths − 1.""")
wrong("one step too far", {"lengths - 1": "lengths"}).says("""
    You indexed with `lengths`. Steps count from 0, so the last state of a sentence of n words stands at n − 1; at n
    there is padding, or the tensor ends.""")
wrong("counted from the end", {"lengths - 1": "-lengths"}).says("""
    You indexed with `-lengths`. Padding stands at the end, so that counts back over the padding first.""")
wrong("every row with every length", "return states[:, lengths - 1]").says("""
    You wrote `states[:, lengths - 1]`: that picks all the ends in each row, (B, B, D). Pair row b with length b:
    index both axes, `arange(B)` with `lengths - 1`.""")
wrong("batch and time swapped", {"states[rows, lengths - 1]": "states[lengths - 1, rows]"}).says("""
    You indexed time first. The house is batch first: axis 0 is the sentence, axis 1 the step.""")


def greedy_decode(step, state, bos, eos, max_length):
    token = torch.full((len(state),), bos, device=state.device)  # (B,)
    finished, said = torch.zeros_like(token, dtype=torch.bool), []
    for _ in range(max_length):
        logits, state = step(token, state)  # (B, V)
        token = logits.argmax(-1).masked_fill(finished, eos)  # (B,)
        finished = finished | (token == eos)
        said.append(token)
    return torch.stack(said, dim=1)  # (B, L)


def _decoders(draw):
    batch, length = draw.sizes(2, low=3)
    bos, eos = (1, 2) if draw.number == 0 else (8, 5)
    decoder = fake_decoder(draw, batch, length + 2, 9 + draw.number, bos, eos)
    yield decoder, decoder.start(), bos, eos, length + 1
    for ends in ([2], [0] * batch, [3, 1, 2]):  # one sentence; all end with the first word; all end
        decoder = fake_decoder(draw, len(ends), 6, 9 + draw.number, bos, eos, ends)
        yield decoder, decoder.start(), bos, eos, 5


def _to_full_length(result, step, state, bos, eos, max_length):
    """Stopping when all have ended is as right as repeating the end symbol up to `max_length`."""
    if not isinstance(result, torch.Tensor) or result.dim() != 2 or len(result) != len(state):
        return result
    if result.shape[1] == 0 or (result[:, -1] != eos).any():
        return result  # the end symbol of somebody is missing, and isn't given for nothing
    return F.pad(result, (0, max(max_length - result.shape[1], 0)), value=eos)


def _ended(result, eos):
    return (result == eos).long().cumsum(1) > 0  # (B, L), True from the first end symbol on


GREEDY_DECODE = Exercise(
    greedy_decode,
    cases=_decoders,
    canonical=_to_full_length,
    properties=[
        Property(
            "eos is repeated",
            "After its end symbol a sentence repeats it up to the last column.",
            lambda result, step, state, bos, eos, limit: (result[_ended(result, eos)] == eos).all(),
        ),
        Property(
            "the first word is right",
            "The first word comes from `bos` and the state you were given.",
            lambda result, step, *others: (result[:, 0] == step.script[:, 0]).all(),
        ),
    ],
)

wrong = GREEDY_DECODE.mistakes
APPEND = "said.append(token)"
wrong("words after the end", {".masked_fill(finished, eos)": ""}).says("""
    A sentence of yours goes on after its end symbol. The decoder always says something; remember who has finished,
    and let those repeat `eos`.""")
wrong("the first to finish stops all", {APPEND: f"{APPEND}\n        if finished.any():\n            break"}).says("""
    You stopped as soon as one sentence ended, and cut off the others. Stop when all of them have ended.""")
wrong(
    "stopped before the last end symbol", {APPEND: f"if finished.all():\n            break\n        {APPEND}"}
).says("""
    You stopped when all had ended before you wrote that step down, so the last end symbol is missing. First append
    the words, then look whether to stop.""")
wrong("end symbol overwritten", {APPEND: "said.append(token.masked_fill(finished, 0))"}).says("""
    You marked a sentence as finished before you wrote its word down, and its end symbol became 0. It belongs to the
    output.""")
wrong("end symbol taken to be 2", {"(token == eos)": "(token == 2)"}).says("""
    You stop at the word with number 2. Which number ends a sentence comes in as `eos`.""")
wrong("always reads bos", {"step(token, state)": "step(torch.full_like(token, bos), state)"}).says("""
    You give the decoder `bos` at every step. At test time it reads the word it has just said.""")
