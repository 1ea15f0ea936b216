"""Questions on chapters 7 and 8: self-attention, masks, its cost, heads and positions."""

import math
from random import Random

import torch

from attnbook.attention import attend, causal_mask, window_mask
from attnbook.attention.multihead import MultiHeadAttention, split_heads
from attnbook.attention.positions import LinearBias, apply_rotary
from attnbook.attention.scores import dot
from attnbook.measure.path_lengths import chain, longest_path
from coursekit.exams.numbers import cells, distinct, floats, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind


@kind(7, LONG, "Self-attention with projections")
def directed_scores(draw: Random) -> Question:
    """Queries, keys, scores that are not symmetric, and weights with powers of two."""
    while True:
        x = [distinct(draw, 0, 2, 2) for _ in range(3)]
        w_q = draw.choice([[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 1], [1, 0]], [[1, 1], [0, 0]]])
        q, k = tensor(x) @ tensor(w_q), tensor(x)
        scores = dot(q[None], k[None])[0]
        if len({tuple(row) for row in x}) == 3 and not torch.equal(scores, scores.T):
            break
    values = distinct(draw, 1, 9, 3)
    context, weights = attend(
        q[None], k[None], tensor([[[v] for v in values]]), score=lambda a, b: dot(a, b) * math.log(2)
    )
    alpha, third = floats(weights[0]), floats(context[0, :, 0])[2]
    text = (
        "Three words have the vectors (rows) x<sub>1</sub> = {}, x<sub>2</sub> = {}, x<sub>3</sub> = {}.".format(
            *map(vector, x)),
        f"W<sub>q</sub> has the rows {vector(w_q[0])} and {vector(w_q[1])}, W<sub>k</sub> is the identity, and "
        "the values are "
        f"the numbers {vector(values)}. Vectors are rows: Q = X W<sub>q</sub>. So that you need no calculator, take "
        "2 to the power of the score in place of e to the power of the score, and no square root.",
        "(a) Compute the queries. (b) Compute the 3 × 3 matrix of scores. Is it symmetric? (c) Compute "
        "the weights of the "
        "third word and its context. (d) The words are put into another order. What happens to their contexts?",
    )  # fmt: skip
    table = "; ".join(vector(row) for row in floats(scores))
    steps = (
        Step(f"(a) {', '.join(map(vector, floats(q)))}.", 1),
        Step(f"(b) Rows: {table}. It is not symmetric.", 2),
        Step(f"(c) Weights {vector(alpha[2])}, context {show(third)}.", 2),
        Step("(d) Each word keeps its context: self-attention is permutation equivariant.", 1),
    )
    given = {"x": x, "w_q": w_q, "values": values}
    return Question(text, given, {"scores": floats(scores), "weights": alpha[2], "context": third}, steps)


@kind(7, SHORT, "Counting in masks")
def mask_counts(draw: Random) -> Question:
    """Allowed pairs with a causal mask, a window, and both."""
    n, r = draw.randint(8, 20), draw.choice([1, 2, 3])
    causal, window = causal_mask(n), window_mask(n, r)
    counts = [int(mask.sum()) for mask in (causal, window, causal & window)]
    text = (
        f"A sequence has {n} positions. How many of the {n * n} pairs (query, key) may attend to each other with",
        f"(a) a causal mask, (b) a window of radius {r} to both sides, (c) both masks together?",
    )
    steps = (
        Step(f"(a) {n} · {n + 1} / 2 = {counts[0]}.", 1),
        Step(f"(b) {n} · {2 * r + 1} less {r * (r + 1)} at the two ends: {counts[1]}.", 1),
        Step(f"(c) {n} · {r + 1} less {r * (r + 1) // 2} at the beginning: {counts[2]}.", 1),
    )
    return Question(text, {"n": n, "r": r}, {"counts": counts}, steps)


@kind(7, SHORT, "What a layer costs")
def multiplications(draw: Random) -> Question:
    """Multiplications of self-attention and of two recurrent layers, and where they are equal."""
    from attnruns.experiments.complexity import formula

    d = draw.choice([10, 20, 30, 40, 60])
    n = d * draw.choice([1, 2, 3, 4, 5])
    counts = {name: formula(name, n, d) for name in ("self_attention", "rnn", "lstm")}
    equal = 2.5 * d
    text = (
        f"A layer reads n = {n} words of d = {d} features. A plain recurrent layer needs 2nd² multiplications, an "
        f"LSTM 8nd².",
        "(a) How many does a layer of self-attention with three projections need (scores, weighted sum and "
        "projections)? "
        "(b) How many does the plain recurrent layer need? (c) For which n do self-attention and the LSTM need equally "
        "many?",
    )
    steps = (
        Step(f"(a) 2n²d + 3nd² = {counts['self_attention']:,}.", 1),
        Step(f"(b) {counts['rnn']:,}.", 1),
        Step(f"(c) 2n²d + 3nd² = 8nd² gives n = 2.5 d = {show(equal)}.", 1),
    )
    return Question(text, {"n": n, "d": d}, {**counts, "equal": equal}, steps)


@kind(7, SHORT, "How far apart are two words?")
def longest_paths(draw: Random) -> Question:
    """Longest paths in a recurrent network, in windows and in self-attention."""
    n, r = draw.randint(9, 25), draw.choice([2, 3, 4])
    paths = [longest_path(graph) for graph in (chain(n), window_mask(n, r), torch.ones(n, n, dtype=torch.bool))]
    text = (
        f"A sequence has {n} words. How many hops lie between the two words that are furthest apart in",
        f"(a) a recurrent network, (b) a stack of self-attention with windows of radius {r}, (c) self-attention "
        f"over all "
        "words? How many layers does (b) need until every word can know of every other?",
    )
    steps = (
        Step(f"(a) {paths[0]}: one per step.", 1),
        Step(f"(b) {n - 1} positions, {r} per hop: {paths[1]}, and as many layers.", 1),
        Step(f"(c) {paths[2]}.", 1),
    )
    return Question(text, {"n": n, "r": r}, {"paths": paths}, steps)


@kind(8, SHORT, "Shapes of heads")
def head_shapes(draw: Random) -> Question:
    """Shapes of queries and scores, and what more heads cost."""
    batch, words, heads = draw.choice([2, 4, 8]), draw.choice([10, 20, 30]), draw.choice([2, 4, 8])
    dim = heads * draw.choice([5, 8, 10])
    split = split_heads(torch.zeros(batch, words, dim), heads)
    scores = tuple((split @ split.mT).shape)
    numbers = sum(p.numel() for p in MultiHeadAttention(dim, heads).parameters())
    text = (
        f"A batch has {batch} sentences of {words} words, D = {dim} features and H = {heads} heads.",
        "(a) Which shapes do the queries have after the split, and the scores? (b) How many scores are there? "
        "(c) How many "
        "parameters does the layer have with its four linear maps and their biases, and how many would it have "
        "with one "
        "head?",
    )
    steps = (
        Step(f"(a) Queries {tuple(split.shape)}, scores {scores}.", 1),
        Step(f"(b) {math.prod(scores):,}.", 1),
        Step(f"(c) 4 (D² + D) = {numbers:,}, with any number of heads.", 1),
    )
    given = {"batch": batch, "words": words, "heads": heads, "dim": dim}
    answers = {"queries": list(split.shape), "scores": list(scores), "count": math.prod(scores), "parameters": numbers}
    return Question(text, given, answers, steps)


@kind(8, LONG, "Rotary positions in right angles")
def rotary_scores(draw: Random) -> Question:
    """Scores of a rotated query and key, whose angle grows by 90° per position."""
    query, key, shift = distinct(draw, -3, 5, 2), distinct(draw, -3, 5, 2), draw.randint(2, 9)
    pairs = [(0, 0), (0, 1), (shift, shift + 1), (1, 0), (0, 2)]
    scores = []
    for t, j in pairs:
        turned = [apply_rotary(tensor([row]), tensor([at * math.pi / 2])) for row, at in ((query, t), (key, j))]
        scores.append(round((turned[0] @ turned[1].T).item(), 6) + 0.0)
    one = [round(number, 6) + 0.0 for number in apply_rotary(tensor([key]), tensor([math.pi / 2]))[0].tolist()]
    text = (
        f"A head has one pair of features. Its rotary positions turn a vector by 90° per position, counter-clockwise: "
        f"(a, b) becomes (−b, a). The query is {vector(query)} and the key {vector(key)}.",
        "(a) Which vector is the key at position 1? (b) Compute the score of a query at position 0 and a key at "
        "position 0, "
        f"and at positions 0 and 1. (c) Compute the scores at positions {shift} and {shift + 1} and, with the "
        f"query behind, "
        "at positions 1 and 0. (d) Which of these scores must be equal, and why? At which other key position does the "
        "query at position 0 have the same score as at key position 0?",
    )
    steps = (
        Step(f"(a) {vector(one)}.", 1),
        Step(f"(b) {show(scores[0])} and {show(scores[1])}.", 2),
        Step(f"(c) {show(scores[2])} and {show(scores[3])}.", 1),
        Step("(d) The second and the third: the score depends on the distance only. At position 4 (and 8, 12, …) "
             "the key "
             "has made a full turn, so a score at a distance that training never showed can equal a trained one.", 2),
    )  # fmt: skip
    given = {"query": query, "key": key, "pairs": pairs}
    return Question(text, given, {"scores": scores, "key_at_1": one}, steps)


@kind(8, SHORT, "A penalty on distance")
def linear_bias(draw: Random) -> Question:
    """Scores with a linear bias, and which key wins."""
    heads, at = draw.choice([2, 4]), draw.choice([2, 3, 4])
    slope = LinearBias(heads).slopes[0].item()
    while True:
        scores = [draw.randint(0, 12) / 4 for _ in range(5)]
        bias = floats(LinearBias(heads).bias(torch.tensor([at]), torch.arange(5))[0, 0])
        biased = [round(s + b, 9) for s, b in zip(scores, bias, strict=True)]
        if sorted(biased)[-1] > sorted(biased)[-2] and len(set(scores)) > 2:
            break
    text = (
        f"The first of {heads} heads has the slope {show(slope)} in its linear bias. A query at position {at} has "
        f"these "
        "scores with the keys at positions 0 to 4:",
        Table(tuple(f"position {j}" for j in range(5)), (cells(scores),)),
        "(a) Which number is added to each score? (b) Which position gets the largest weight after it? (c) Can "
        "this head "
        "tell the key one to the left from the key one to the right by the bias alone?",
    )
    steps = (
        Step(f"(a) Minus the slope times the distance: {vector(bias)}.", 1),
        Step(f"(b) The sums are {vector(biased)}, so position {biased.index(max(biased))}.", 1),
        Step("(c) No: both have distance 1 and receive the same penalty.", 1),
    )
    given = {"slope": slope, "at": at, "scores": scores}
    return Question(text, given, {"biased": biased, "best": biased.index(max(biased))}, steps)
