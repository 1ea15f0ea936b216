"""Questions on chapters 2 and 3, answered with fractions."""

from fractions import Fraction
from math import sqrt

import pytest
from exam_answers import disagreements


def soft_context(exponentials, values, masked):
    weights = [Fraction(e, sum(exponentials)) for e in exponentials]
    return {
        "weights": weights,
        "context": [sum(w * v[d] for w, v in zip(weights, values, strict=True)) for d in (0, 1)],
    }


def masked_weights(real, padding):
    weights = [*(Fraction(n, sum(real)) for n in real), 0]
    return {"weights": weights, "sum": Fraction(sum(real), sum(real) + padding)}


def softmax_gradient(exponentials, values, gradient):
    alpha = [Fraction(e, 10) for e in exponentials]
    g = [gradient[0] * v[0] + gradient[1] * v[1] for v in values]
    jacobian = [[alpha[j] * ((i == j) - alpha[i]) for j in range(3)] for i in range(3)]
    scores = [sum(g[j] * row[j] for j in range(3)) for row in jacobian]
    assert sum(scores) == 0
    return {"of_weights": g, "of_scores": scores, "up": [i + 1 for i in range(3) if scores[i] < 0]}


def alignment_error(sure, possible, predicted):
    def error(links):
        hits = sum(link in sure for link in links), sum(link in [*sure, *possible] for link in links)
        return 1 - Fraction(sum(hits), len(links) + len(sure))

    return {"error": error(predicted), "without": error([link for link in predicted if link not in possible])}


def three_scores(query, keys):
    products = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    lengths = [sqrt(sum(a * a for a in row)) for row in (query, *keys)]
    rows = {"dot": products, "scaled": [p / 2 for p in products]}
    rows["cosine"] = [p / lengths[0] / n for p, n in zip(products, lengths[1:], strict=True)]
    return {**rows, "best": {name: max(range(3), key=lambda j: row[j]) + 1 for name, row in rows.items()}}


def score_parameters(query, key, hidden):
    return {"general": query * key, "additive": hidden * query + hidden * key + hidden}


@pytest.mark.parametrize("compute", [
    soft_context, masked_weights, softmax_gradient, alignment_error, three_scores, score_parameters,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
