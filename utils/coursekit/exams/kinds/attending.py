"""Questions on chapters 2 and 3: weights, contexts, their gradients, alignments, scores."""

from random import Random

import torch

from attnbook.attention import attend, masked_softmax
from attnbook.attention.scores import Additive, Cosine, General, dot, scaled_dot
from attnbook.measure.metrics import alignment_error_rate
from coursekit.exams.numbers import distinct, floats, logs, parts, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, kind


@kind(2, LONG, "Attention by hand")
def soft_context(draw: Random) -> Question:
    """Weights and context from scores that are logarithms, and what a rise of one score does."""
    exponentials, values = parts(draw, 10, 4), [distinct(draw, -4, 6, 2) for _ in range(4)]
    scores, v = tensor([[exponentials]]).log(), tensor([values])  # (B, Tq, Tk), (B, Tk, Dv)
    context, weights = attend(
        torch.zeros(1, 1, 1).double(), torch.zeros(1, 4, 1).double(), v, score=lambda q, k: scores
    )
    alpha, c = floats(weights[0, 0]), floats(context[0, 0])
    least = exponentials.index(min(exponentials))
    text = (
        f"A query has the scores {logs(exponentials)} with four keys. The values are {', '.join(map(vector, values))}.",
        "(a) Compute the weights. (b) Compute the context. (c) Somebody adds ln 2 to all four scores. Which weights "
        f"change? (d) How large is the weight of position {least + 1} if position {least + 1} is masked, and what do "
        "the weights of the others sum to then?",
    )
    steps = (
        Step(f"(a) The exponentials sum to 10, so the weights are {vector(alpha)}.", 2),
        Step(f"(b) The weighted sum of the values is {vector(c)}.", 2),
        Step("(c) None: the factor 2 cancels in the softmax.", 1),
        Step("(d) Exactly 0, and the others sum to 1, because the mask is applied before the softmax.", 1),
    )
    answers = {"weights": alpha, "context": c}
    return Question(text, {"exponentials": exponentials, "values": values, "masked": least}, answers, steps)


@kind(2, SHORT, "Padding gets no weight")
def masked_weights(draw: Random) -> Question:
    """The same scores with and without padding, and with weights that are zeroed too late."""
    real = parts(draw, draw.choice([5, 8, 10]), 3)
    padding = draw.choice([n for n in (2, 5, 8, 10, 15) if n != sum(real)])
    mask = torch.tensor([True, True, True, False])
    right = floats(masked_softmax(tensor([*real, padding]).log(), mask))
    late = floats(tensor([*real, padding]).log().softmax(dim=-1) * mask)
    text = (
        f"A query has the scores {logs([*real, padding])} with four keys, of which the last one is padding.",
        "(a) Compute the weights with a mask before the softmax. (b) Somebody computes the softmax over all four "
        "and then "
        "sets the last weight to 0. What do the four weights sum to? (c) By which factor is each of the other weights "
        "too small then?",
    )
    factor = sum(late)
    steps = (
        Step(f"(a) Over the first three the exponentials sum to {sum(real)}: {vector(right)}.", 1),
        Step(
            f"(b) The exponentials of the real words, {sum(real)}, are divided by {sum(real) + padding}: "
            f"{show(factor)}.",
            1,
        ),
        Step(f"(c) By the same number, {show(factor)}.", 1),
    )
    return Question(text, {"real": real, "padding": padding}, {"weights": right, "sum": round(factor, 9)}, steps)


@kind(2, LONG, "Which scores are pushed up")
def softmax_gradient(draw: Random) -> Question:
    """The gradient of the loss with respect to weights and scores, and what gradient descent does with it."""
    exponentials, values = parts(draw, 10, 3), [distinct(draw, -3, 5, 2) for _ in range(3)]
    gradient = draw.choice([[1, 0], [0, 1], [-1, 0], [1, -1], [-1, 1], [2, 0], [0, -2]])
    scores = tensor(exponentials).log().requires_grad_()
    weights = masked_softmax(scores)
    loss = weights @ tensor(values) @ tensor(gradient)
    of_weights, of_scores = map(floats, torch.autograd.grad(loss, [weights, scores]))
    up = [j + 1 for j in range(3) if of_scores[j] < -1e-9]
    mean = sum(w * g for w, g in zip(floats(weights.detach()), of_weights, strict=True))
    text = (
        f"The scores of a query are {logs(exponentials)}, and the values {', '.join(map(vector, values))}. The "
        f"gradient of "
        f"the loss with respect to the context is g<sub>c</sub> = {vector(gradient)}.",
        "(a) Compute the gradient with respect to the three weights. (b) Compute their mean, weighted by the attention "
        "weights. (c) Compute the gradient with respect to the three scores, and check that it sums to zero. (d) Which "
        "scores does gradient descent push up?",
    )
    steps = (
        Step(f"(a) g<sub>c</sub> times each value: {vector(of_weights)}.", 1),
        Step(f"(b) With the weights {vector(e / 10 for e in exponentials)} the mean is {show(mean)}.", 2),
        Step(f"(c) Weight times (its own gradient minus the mean): {vector(of_scores)}, with the sum 0.", 2),
        Step(f"(d) Those with a negative gradient: {', '.join(map(str, up)) or 'none'}.", 1),
    )
    given = {"exponentials": exponentials, "values": values, "gradient": gradient}
    return Question(text, given, {"of_weights": of_weights, "of_scores": of_scores, "up": up}, steps)


@kind(2, SHORT, "An alignment error rate")
def alignment_error(draw: Random) -> Question:
    """Sure links, possible links, and the links of a model."""
    words = draw.choice([4, 5, 8])
    sure = [(j, j) for j in range(words)]
    possible = [(0, 1), (words - 1, words - 2)][: draw.randint(1, 2)]
    missed = draw.sample(range(1, words - 1), draw.randint(1, 2))
    wrong = [(j, (j + 2) % words) for j in missed]
    predicted = [link for link in sure if link[0] not in missed] + wrong + possible[:1]
    error = round(alignment_error_rate(sure, [*sure, *possible], predicted), 9)

    def links(pairs: list[tuple[int, int]]) -> str:
        return ", ".join(f"{source + 1}–{target + 1}" for source, target in pairs)

    text = (
        f"Sure links (source–target): {links(sure)}. Further possible links: {links(possible)}. A model draws the "
        f"links "
        f"{links(sorted(predicted))}.",
        "(a) How many of the model's links are sure, and how many are possible? (b) Compute the alignment error rate. "
        "(c) What would it be if the model left out its link that is possible but not sure?",
    )
    hits, allowed = words - len(missed), words - len(missed) + 1
    without = round(alignment_error_rate(sure, [*sure, *possible], set(predicted) - set(possible)), 9)
    steps = (
        Step(f"(a) {hits} are sure and {allowed} possible (a sure link is a possible one, too).", 1),
        Step(f"(b) 1 − ({hits} + {allowed}) / ({len(predicted)} + {words}) = {show(error)}.", 1),
        Step(f"(c) 1 − ({hits} + {hits}) / ({len(predicted) - 1} + {words}) = {show(without)}.", 1),
    )
    given = {"sure": sure, "possible": possible, "predicted": predicted}
    return Question(text, given, {"error": error, "without": without}, steps)


# Four features and a length that is a whole number.
WHOLE = ([1, 1, 1, 1], [2, 0, 0, 0], [2, 2, 2, 2], [1, 2, 2, 0], [2, 4, 4, 0], [2, 1, 2, 4], [0, 3, 4, 0], [4, 2, 2, 1])


@kind(3, LONG, "Three scores, three answers")
def three_scores(draw: Random) -> Question:
    """Dot product, scaled dot product and cosine of one query with three keys."""
    while True:
        query, *keys = ([*draw.sample(row, 4)] for row in draw.sample(WHOLE, 4))
        q, k = tensor([[query]]), tensor([keys])
        found = {"dot": floats(dot(q, k)[0, 0]), "scaled": floats(scaled_dot(q, k)[0, 0])}
        found["cosine"] = floats(Cosine().double()(q, k)[0, 0])
        if all(sorted(row)[-1] - sorted(row)[-2] > 0.01 for row in found.values()):
            break
    best = {name: row.index(max(row)) + 1 for name, row in found.items()}
    text = (
        f"A query is q = {vector(query)}; three keys are {', '.join(map(vector, keys))}.",
        "(a) Compute the dot products. (b) Compute the scaled dot products. (c) Compute the cosines. (d) Which "
        "key gets "
        "the largest weight with each score? Why can the dot product and the cosine disagree?",
    )
    steps = (
        Step(f"(a) {vector(found['dot'])}.", 1),
        Step(f"(b) Divided by √4 = 2: {vector(found['scaled'])}.", 1),
        Step(f"(c) Divided by the lengths of query and key: {vector(found['cosine'])}.", 2),
        Step(f"(d) Key {best['dot']} with the dot product and with the scaled one, key {best['cosine']} with "
             "the cosine. "
             "The dot product favours long keys, and the cosine sees the direction only.", 2),
    )  # fmt: skip
    return Question(text, {"query": query, "keys": keys}, {**found, "best": best}, steps)


@kind(3, SHORT, "What a score has to learn")
def score_parameters(draw: Random) -> Question:
    """Parameters of the general and of the additive score, without biases."""
    query, key, hidden = draw.choice([20, 30, 50]), draw.choice([40, 60, 100]), draw.choice([10, 20, 30])
    counted = {}
    for name, score in (("general", General(query, key)), ("additive", Additive(query, key, hidden))):
        counted[name] = sum(p.numel() for label, p in score.named_parameters() if "bias" not in label)
    text = (
        f"Queries have {query} features, keys have {key}. Count the parameters without biases.",
        f"(a) How many does the general score have? (b) How many does the additive score have, with {hidden} hidden "
        "features? (c) Can the dot product be used here? Give the reason.",
    )
    steps = (
        Step(f"(a) A matrix of {query} × {key}: {counted['general']:,}.", 1),
        Step(f"(b) {hidden} · ({query} + {key} + 1) = {counted['additive']:,}.", 1),
        Step("(c) No: it needs as many features in the query as in the keys.", 1),
    )
    return Question(text, {"query": query, "key": key, "hidden": hidden}, counted, steps)
