"""Lab 2: one step of the decoder."""

import torch

from misread.exercise import About, Exercise

from ..fakes.attention import FakeCell, FakeScore
from ..families.attention_properties import weights_of_a_step
from .additive import weight_sum
from .softmax import masked_softmax


def decoder_step(embedded, state, annotations, mask, score, cell):
    """One step in Bahdanau's order: -> new state (B, D), context (B, D), weights (B, Tk)."""
    scores = score(state[:, None], annotations)  # (B, 1, Tk): the old state is the query
    weights = masked_softmax(scores, mask[:, None])  # (B, 1, Tk)
    context = weight_sum(weights, annotations)[:, 0]  # (B, D)
    state = cell(torch.cat([embedded, context], dim=-1), state)  # (B, D)
    return state, context, weights[:, 0]


def _steps(draw):
    batch, keys, dim = draw.sizes(3)
    shapes = [(batch, dim + 1), (3, dim)]  # the second batch is square: mix-ups give values
    if draw.number == 1:
        shapes += [(1, dim + 9), (2, 1)]  # one sentence; one feature of a word
    if draw.compact:
        shapes.append((1, 2))
    for batch, embedding in shapes:
        mask = torch.arange(keys) < draw.lengths(batch, keys)[:, None]
        if embedding == dim:
            mask = mask.flip(1)  # padding in front, of each sentence
            mask[:, 0] = False
            mask[0] = False  # and a sentence that is closed altogether
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
    about=About(points=3, minutes=20, difficulty=3, read_again="The complete translator"),
)

must = DECODER_STEP.properties
must += weights_of_a_step(mask=3)
must(
    "context is the weighted sum",
    lambda result, embedded, state, annotations, *rest: torch.allclose(
        result[1], (result[2][:, None] @ annotations)[:, 0]
    ),
).says("""
    The context must be the sum of the annotations, each multiplied by its weight.""")

wrong = DECODER_STEP.mistakes
MOVE = "    state = cell(torch.cat([embedded, context], dim=-1), state)  # (B, D)\n"
FIRST = MOVE.replace("context", "0 * annotations[:, 0]")
wrong("asked with the new state", {"    scores = ": f"{FIRST}    scores = ", MOVE: ""}).says("""
    You called the cell first and used the *new* state s_t as the query. Luong's decoder does this. In Bahdanau's
    decoder the query is s_{t−1}, because the cell needs the context c_t to compute s_t.""")
wrong(
    "question and annotations swapped", {"(state[:, None], annotations)": "(annotations, state[:, None]).mT"}
).says("""
    You gave the annotations to `score` as its first argument. Its first argument is the query, which is the state,
    and its second is the keys: `score(query, key)`.""")
wrong("context squeezed", {"annotations)[:, 0]": "annotations).squeeze()"}).says("""
    You squeezed the context, which also removes the batch axis when the batch holds one sentence, and then `cat`
    fails. Remove only the axis of the query, with `context[:, 0]`.""")
_MASK = "masked_softmax(scores, mask[:, None])"
_ZEROED = ".masked_fill(~mask[:, None], 0.0)"
_FILLED = f"scores.masked_fill(~mask[:, None], {{}}).softmax(-1){_ZEROED}"
wrong("a number not small enough", {_MASK: _FILLED.format("-100.0")}).says("""
    You filled the padding with a number such as −100. Other scores may be lower than this number, and then the
    padding receives the weight. Fill with −∞, as your `masked_softmax` does.""")
wrong("mask without an axis for the query", {", mask[:, None]": ", mask"}).says("""
    You used the mask (B, Tk) beside scores (B, 1, Tk). Broadcasting then combines the scores of each sentence with
    the masks of all sentences. Give the mask an axis for the query, with `mask[:, None]`.""")
wrong("mask with its axis behind the keys", {", mask[:, None]": ", mask[..., None]"}).says("""
    You put the new axis of the mask behind the keys, (B, Tk, 1), so that the query of each sentence asks the mask about
    its first word only, and padding stays open. The query's axis stands in front of the keys: `mask[:, None]`.""")
wrong("NaN for a sentence of padding", {_MASK: _FILLED.format("-torch.inf").replace(_ZEROED, "")}).says("""
    The weights of a sentence in which everything is padding became NaN, because the softmax of nothing but −∞ is 0 / 0.
    They must be 0. Your `masked_softmax` sees to that: use it here.""")
wrong("padding zeroed after the softmax", {_MASK: "scores.softmax(-1) * mask[:, None]"}).says("""
    You took the softmax over all positions and set the padding to zero afterwards. It had received a part of the weight
    by then, so the rest sums to less than 1. Use your `masked_softmax`, which masks the scores before.""")
wrong(
    "softmax over the axis of the query", {_MASK: _FILLED.format("-torch.inf").replace("softmax(-1)", "softmax(1)")}
).says("""
    You took the softmax over axis 1 of the scores (B, 1, Tk). It holds one query, so every weight became 1. The weights
    sum to 1 over the words: `dim=-1`, as in your `masked_softmax`.""")
_DOT = {"score(state[:, None], annotations)": "state[:, None] @ annotations.mT"}
wrong("dot products, not the score", _DOT).says("""
    You took dot products of the state and the annotations, and did not call `score`. How well an annotation fits is
    what `score(query, key)` computes.""")
wrong("the query's axis in front", {"state[:, None]": "state[None]"}).says("""
    You made (1, B, D) out of the state with `state[None]` or `unsqueeze(0)`, so that the sentences of the batch
    became the queries. Each sentence has one query: `state[:, None]` is (B, 1, D).""")
wrong("state in place of the context", {"[embedded, context]": "[embedded, state]"}).says("""
    You put the word vector and the *state* side by side. The cell is given the state already, as its second
    argument. Its input is `[embedded, context]`: only so does the context reach the decoder.""")
_AGAIN = f"""state)
    weights = {_MASK.replace("scores", "score(state[:, None], annotations)")}
    context = weight_sum(weights, annotations)[:, 0]"""
wrong("attended again with the new state", {"dim=-1), state)": f"dim=-1), {_AGAIN}"}).says("""
    Your state is right, but you attended once more with it, and returned the context and weights of the next step.
    Return those that the cell has read, c_t, which come from s_{t−1}.""")
wrong("the cell starts from the context", {"dim=-1), state)": "dim=-1), context)"}).says("""
    You gave the context to the cell as its state. Its state is s_{t−1}, and the context is a part of its *input*.""")
