"""Lab 2: one step of the decoder."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..fakes.attention import FakeCell, FakeScore


def decoder_step(embedded, state, annotations, mask, score, cell):
    scores = score(state[:, None], annotations)  # (B, 1, Tk)
    closed = ~mask[:, None]  # (B, 1, Tk)
    weights = scores.masked_fill(closed, -torch.inf).softmax(-1)  # (B, 1, Tk)
    context = (weights @ annotations)[:, 0]  # (B, D)
    state = cell(torch.cat([embedded, context], dim=-1), state)  # (B, S)
    return state, context, weights[:, 0]


def _steps(draw):
    batch, keys, dim = draw.sizes(3)
    shapes = [(batch, dim + 1), (3, dim)]  # the second batch is square: mix-ups give values
    if draw.number == 1:
        shapes.append((1, dim + 9))  # one sentence
    if draw.compact:
        shapes.append((1, 2))
    for batch, embedding in shapes:
        mask = torch.arange(keys) < draw.lengths(batch, keys)[:, None]
        score = FakeScore(draw.normal(dim, dim))
        cell = FakeCell(draw.normal(embedding + dim, dim), draw.normal(dim, dim))
        state, annotations = draw.normal(batch, dim), draw.normal(batch, keys, dim)
        if draw.number == 3:  # all scores far below zero
            score = FakeScore(-500 * (1 + draw.uniform(dim, dim)))
            state, annotations = state.abs() + 0.5, 1 + 0.001 * annotations
        yield draw.normal(batch, embedding), state, annotations, mask, score, cell


DECODER_STEP = Exercise(
    decoder_step,
    cases=_steps,
    returns=("state", "context", "weights"),
    tolerance=1e-9,
    properties=[
        Property(
            "weights sum to one",
            "The weights of each sentence must sum to 1 over its words.",
            lambda result, *args: torch.allclose(result[2].sum(-1), torch.ones_like(result[2].sum(-1))),
        ),
        Property(
            "padding gets nothing",
            "Padding must get weight 0: use the mask.",
            lambda result, embedded, state, annotations, mask, *rest: (result[2][~mask] == 0).all(),
        ),
        Property(
            "context is the weighted sum",
            "The context must be the sum of the annotations, weighted with your weights.",
            lambda result, embedded, state, annotations, *rest: torch.allclose(
                result[1], (result[2][:, None] @ annotations)[:, 0]
            ),
        ),
    ],
)

wrong = DECODER_STEP.mistakes
MOVE = "    state = cell(torch.cat([embedded, context], dim=-1), state)  # (B, S)\n"
FIRST = MOVE.replace("context", "0 * annotations[:, 0]")
wrong("asked with the new state", {"    scores = ": f"{FIRST}    scores = ", MOVE: ""}).says("""
    You ran the cell first and asked with the *new* state s_t. That is Luong's order. Bahdanau asks with s_{t−1}: the
    cell needs c_t to make s_t.""")
wrong(
    "question and annotations swapped", {"(state[:, None], annotations)": "(annotations, state[:, None]).mT"}
).says("""
    You called score with the annotations first. Its first argument is the query, the state that asks; its second the
    keys: score(query, key).""")
wrong("weights squeezed", {"weights[:, 0]": "weights.squeeze()"}).says("""
    You squeezed the weights, which takes away the batch too when it holds one sentence. Take the query axis alone:
    weights[:, 0].""")
wrong("context squeezed", {"(weights @ annotations)[:, 0]": "(weights @ annotations).squeeze()"}).says("""
    You squeezed the context. With one sentence that takes the batch axis too, and it no longer fits beside the word.
    Take the query axis alone: [:, 0].""")
wrong("a number not small enough", {"-torch.inf": "-100.0"}).says("""
    You filled padding with a number such as −100. Scores may be lower than that; then padding wins. Fill with −∞.""")
wrong("mask the wrong way round", {"~mask": "mask"}).says("""
    You closed the real words and attended to the padding. True means *may attend*.""")
wrong("context before the word", {"[embedded, context]": "[context, embedded]"}).says("""
    You laid the context in front of the word vector. The cell expects [word, context] in this order: the two have
    other weights.""")
wrong("the cell starts from the context", {"dim=-1), state)": "dim=-1), context)"}).says("""
    You gave the cell the context as its state. Its state is s_{t−1}; the context is part of its *input*.""")
