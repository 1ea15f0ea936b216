"""Questions on chapters 1 and 5, answered without tensors."""

from fractions import Fraction
from itertools import product
from math import log2, prod

import pytest
from exam_answers import disagreements


def source_bits(count, choices, alphabet, letters):
    bits = log2(choices**count)
    return {"bits": bits, "letters": bits / log2(alphabet), "power": log2(alphabet**letters)}


def lstm_step(inputs, old, proposal):
    gates = [[k / (k + 1) for k in row] for row in inputs]
    forget, enter, _ = gates
    storage = [f * m + i * g for f, m, i, g in zip(forget, old, enter, proposal, strict=True)]
    return {"gates": gates, "storage": storage, "keeps": 1 if forget[0] > forget[1] else 2}


def padded_loss(powers, padding):
    return {"loss": Fraction(sum(powers), 4), "counted": Fraction(sum(powers), 4 + padding)}


def residual_chain(weights):
    paths = [prod(chosen) for chosen in product(*([1.0, w] for w in weights))]  # each layer is passed or gone through
    return {"plain": prod(weights), "residual": sum(paths), "terms": len(paths)}


def averaged_batches(words, losses):
    sums = [n * loss for n, loss in zip(words, losses, strict=True)]
    whole = Fraction(sum(sums), sum(words))
    weights = [Fraction(2 * n, sum(words)) for n in words]
    assert sum(w * loss for w, loss in zip(weights, losses, strict=True)) / 2 == whole
    return {"unweighted": Fraction(sum(losses), 2), "whole": whole, "weights": weights}


def pipeline_steps(layers, words):
    return {"one": 2 * words + layers - 2, "every": layers * words}


@pytest.mark.parametrize("compute", [
    source_bits, lstm_step, padded_loss, residual_chain, averaged_batches, pipeline_steps,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []


def test_the_chapters_two_schedules_take_as_many_steps_as_it_says():
    from coursekit.exams.kinds.recurrent import finished

    assert [finished(4, 6, 1), finished(4, 6, 4), finished(8, 30, 1), finished(8, 30, 8)] == [14, 24, 66, 240]
