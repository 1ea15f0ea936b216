"""Lab 2: one step of the decoder."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from ..fakes.attention import FakeCell, FakeScore


def decoder_step(embedded, state, annotations, mask, score, cell):
    scores = score(state[:, None], annotations)  # (B, 1, Tk)
    closed = ~mask[:, None]  # (B, 1, Tk)
    weights = scores.masked_fill(closed, float("-inf")).softmax(-1)  # (B, 1, Tk)
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
wrong(
    "asked with the new state",
    "zeros = torch.zeros_like(annotations[:, 0])\n"
    "asked = cell(torch.cat([embedded, zeros], dim=-1), state)\n"
    "weights = score(asked[:, None], annotations).masked_fill(~mask[:, None], "
    "float('-inf')).softmax(-1)\n"
    "context = (weights @ annotations)[:, 0]\nreturn asked, context, weights[:, 0]",
).says("""
    You ran the cell first and asked with the *new* state s_t. That is Luong's order. Bahdanau asks with s_{t−1}: the
    cell needs c_t to make s_t.""")
wrong(
    "asked again with the new state",
    {
        "return state, context, weights[:, 0]": "closed = ~mask\n"
        "    weights = score(state[:, None], annotations)[:, 0]"
        ".masked_fill(closed, float('-inf')).softmax(-1)\n"
        "    return state, (weights[:, None] @ annotations)[:, 0], weights"
    },
).says("""
    You made the new state rightly, then asked once more with it. The context and the weights to return are those the
    cell was given: asked with s_{t−1}.""")
wrong(
    "the cell before the question",
    "moved = cell(torch.cat([embedded, state], dim=-1), state)\n"
    "weights = score(moved[:, None], annotations).masked_fill(~mask[:, None], float('-inf')).softmax(-1)\n"
    "return moved, (weights @ annotations)[:, 0], weights[:, 0]",
).says("""
    You ran the cell first, on the word and the old state, and asked with the new state s_t. That is Luong's order.
    Bahdanau asks with s_{t−1}, and the cell then gets [word, context].""")
wrong(
    "the cell run twice",
    {
        "    scores = score(": "    first = cell(torch.cat([embedded, state], dim=-1), state)\n    scores = score(",
        "state[:, None], annotations)": "first[:, None], annotations)",
    },
).says("""
    You ran the cell once to have a state to ask with, and again with the context. One step runs it once: s_{t−1}
    asks, then the cell makes s_t.""")
wrong(
    "question and annotations swapped", {"score(state[:, None], annotations)": "score(annotations, state[:, None]).mT"}
).says("""
    You called score with the annotations first. Its first argument is the query, the state that asks; its second the
    keys: score(query, key).""")
wrong("results swapped", {"return state, context, weights": "return context, state, weights"}).says("""
    You returned the context first. The step returns (state, context, weights) in this order.""")
wrong("weights squeezed", {"weights[:, 0]": "weights.squeeze()"}).says("""
    You squeezed the weights, which takes away the batch too when it holds one sentence. Take the query axis alone:
    weights[:, 0].""")
wrong("context squeezed", {"(weights @ annotations)[:, 0]": "(weights @ annotations).squeeze()"}).says("""
    You squeezed the context. With one sentence that takes the batch axis too, and it no longer fits beside the word.
    Take the query axis alone: [:, 0].""")
wrong("a number not small enough", {'float("-inf")': "-100.0"}).says("""
    You filled padding with a number such as −100. Scores may be lower than that; then padding wins. Fill with −∞.""")
wrong(
    "context not given to the cell",
    {"torch.cat([embedded, context], dim=-1)": "torch.cat([embedded, torch.zeros_like(context)], dim=-1)"},
).says("""
    You computed the context but the cell never saw it (zeros stand in its place). Then the state knows nothing of the
    source.""")
wrong("context before the word", {"[embedded, context]": "[context, embedded]"}).says("""
    You laid the context in front of the word vector. The cell expects [word, context] in this order: the two have
    other weights.""")
wrong("mask forgotten", {'scores.masked_fill(closed, float("-inf"))': "scores"}).says("""
    You did not use the mask, so padding took part of the attention.""")
wrong("mask without a query axis", {"~mask[:, None]": "~mask"}).says("""
    You used the mask (B, Tk) as it is beside scores (B, 1, Tk). Its rows then stand where queries belong, and every
    sentence gets the padding of sentence 0. Give it a query axis: mask[:, None].""")
wrong("mask the wrong way round", {"closed = ~mask": "closed = mask"}).says("""
    You closed the real words and attended to the padding. True means *may attend*.""")
wrong("old state returned", {"    state = cell(": "    cell("}).says("""
    You returned the state you were given. The step must return the new one, s_t, or the decoder never moves.""")
wrong("scores returned", {"return state, context, weights[:, 0]": "return state, context, scores[:, 0]"}).says("""
    You returned the scores, not the weights. After the softmax they sum to 1.""")
wrong("query axis left over", {"weights[:, 0]": "weights"}).says("""
    Your weights are (B, 1, Tk). One step has one query: take its axis away, weights[:, 0].""")
wrong("query axis left over in the context", {"return state, context,": "return state, context[:, None],"}).says("""
    The context that you return is (B, 1, D). One step has one query: take its axis away, context[:, 0].""")
wrong(
    "query axis left over twice", {"return state, context, weights[:, 0]": "return state, context[:, None], weights"}
).says("""
    The context and the weights that you return still have the query axis of 1. One step has one query: take it away
    from both, [:, 0].""")
wrong(
    "asked with the word",
    "query = embedded[:, :state.shape[1]]\n"
    "weights = score(query[:, None], annotations).masked_fill(~mask[:, None], "
    "float('-inf')).softmax(-1)\n"
    "context = (weights @ annotations)[:, 0]\n"
    "return cell(torch.cat([embedded, context], dim=-1), state), context, weights[:, 0]",
).says("""
    You asked with the vector of the last word. The query is the decoder's *state* s_{t−1}.""")
wrong(
    "the fixed vector again",
    {"(weights @ annotations)[:, 0]": "(annotations * mask[..., None]).sum(1) / mask.sum(1, True)"},
).says("""
    Your context is the mean of the annotations, whatever the weights say. Weight them.""")
wrong("the cell starts from the context", {"dim=-1), state)": "dim=-1), context)"}).says("""
    You gave the cell the context as its state. Its state is s_{t−1}; the context is part of its *input*.""")
