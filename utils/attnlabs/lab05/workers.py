"""Lab 5, fourth part: several workers that together take the step of one batch."""

import torch

from misread.exercise import About, Exercise


def average_gradients(gradients, words):
    """Σ_r n_r / n · g_r for each parameter: one list of tensors per worker -> one list of tensors."""
    shares = [count / sum(words) for count in words]  # they sum to 1
    averages = []
    for of_parameter in zip(*gradients, strict=True):  # one gradient per worker, for the same parameter
        parts = [share * gradient for share, gradient in zip(shares, of_parameter, strict=True) if share > 0]
        averages.append(sum(parts[1:], start=parts[0]))
    return averages


def _workers(draw):
    one, two = draw.sizes(2)
    for words, shapes in (
        ([2, 6], [(one,), (two, one)]),
        ([1, 3], [(2,)]),
        ([5, 2, 3], [(2, 2), (3,), (1,)]),
        ([draw.integer(1, 6), 7, 9, 2], [(two,), (4, 4)]),
        ([4, 4], [(2, 3)]),
        ([3], [(2,), (3,)]),
        ([2, 0, 5], [(3,), (2, 2)]),
        ([3, 0, 2, 1], [(2,)]),
        ([0, 1, 3], [(2,)]),
        ([0, 4, 0], [(1,), (2,)]),
        ([5, 1, 0], [(3,)]),
    ):
        gradients = [[draw.normal(*shape) for shape in shapes] for _ in words]
        for worker, count in zip(gradients, words, strict=True):
            if not count:
                worker[:] = [torch.full_like(part, torch.nan) for part in worker]
        yield gradients, words


def _within(result, gradients, words):
    """Whether each average lies between the workers' smallest and largest numbers."""
    held = [parts for parts, count in zip(gradients, words, strict=True) if count]
    return all(
        ((average >= torch.stack(parts).amin(0) - 1e-9) & (average <= torch.stack(parts).amax(0) + 1e-9)).all()
        for average, *parts in zip(result, *held, strict=True)
    )


AVERAGE_GRADIENTS = Exercise(
    average_gradients,
    cases=_workers,
    gradients=False,
    about=About(
        points=3, minutes=18, difficulty=3, read_again=("05_gnmt_evidence", "Two shares of a batch, one gradient")
    ),
)

must = AVERAGE_GRADIENTS.properties
must("finite", lambda result, *args: all(part.isfinite().all() for part in result)).says("""
    A worker without words has a gradient of 0 / 0 = NaN, and must be left out, because NaN times 0 is NaN.""")
must("between the workers' gradients", _within).says("""
    An average lies between the smallest and the largest of the numbers that it is made of.""")
must(
    "every word counts the same",
    lambda result, *args: all(
        torch.allclose(mine, right) for mine, right in zip(result, average_gradients(*args), strict=True)
    ),
).says("""
    The average must be the gradient of the mean over all words, so a worker with twice as many words has twice the
    influence.""")

wrong = AVERAGE_GRADIENTS.mistakes
SHARE, KEPT = "count / sum(words)", " if share > 0"
wrong("mean of the means", {SHARE: "(count > 0) / sum(n > 0 for n in words)"}).says("""
    You took the plain mean over the workers. Each gradient is already a mean over the worker's own words, so that a
    word of a worker with few words gets too much influence: weight each worker by its number of words.""")
wrong("mean of the means, workers without words too", {SHARE: "1 / len(words)"}).says("""
    You took the plain mean over the workers. Each gradient is already a mean over the worker's own words, so weight
    each worker by its number of words; a worker without words (its gradient is NaN) is then left out.""")
wrong("NaN of a worker without words", {KEPT: ""}).says("""
    A worker without words has the gradient 0 / 0 = NaN. Its weight is 0, but 0 · NaN is NaN again, so it must be
    left out of the sum.""")
wrong("summed", {SHARE: "float(count > 0)"}).says("""
    You added the workers' gradients without any weights. The step would then grow with the number of workers:
    weight each by its share of all words.""")
wrong("few words, much weight", {SHARE: "(1 / count if count else 0) / sum(1 / n for n in words if n)"}).says("""
    You divided by each worker's number of words. The gradients are already means over words, so a worker with
    *more* words must count more: multiply by its number of words.""")
wrong(
    "the shares of other workers",
    "kept = [one for one, n in zip(gradients, words) if n]\n"
    "return [sum(n / sum(words) * g for n, g in zip(words, of_one)) for of_one in zip(*kept)]",
).says("""
    You left out the gradients of workers without words, but not their entries in `words`, so the next workers receive
    the shares of others. Leave out both, or go through the pairs.""")
FROM_THE_FIRST = """
sums = [gradient * 0 for gradient in gradients[0]]
for worker, n in zip(gradients, words):
    sums = [total + n * gradient for total, gradient in zip(sums, worker)] if n else sums
return [total / sum(words) for total in sums]"""
wrong("the sum begins with NaN", FROM_THE_FIRST).says("""
    Your sum begins with the first worker's gradient, times 0 or times its share. If this worker has no words, that is
    0 · NaN = NaN. Begin with `torch.zeros_like`, or with the first worker that has words.""")
STOPS = """
averages = [torch.zeros_like(gradient) for gradient in gradients[0]]
for worker, n in zip(gradients, words):
    if not n:
        break
    averages = [average + n / sum(words) * gradient for average, gradient in zip(averages, worker)]
return averages"""
wrong("stops at a worker without words", STOPS).says("""
    Your loop ends at the first worker without words, so all workers behind it are missing. Pass over this worker alone:
    `continue` goes on with the next one, and `break` ends the loop.""")
SINGLE = "float(torch.tensor(count) / sum(words))"
wrong("shares in single precision", {SHARE: SINGLE}).says("""
    Your shares have about seven digits: `torch.tensor(words) / sum(words)` is float32, whatever the type of the
    gradients. Divide Python's own numbers, or make the tensor with the `dtype` of the gradients.""")
ALONG_THE_FEATURES = """
shares = torch.tensor(words).to(gradients[0][0]) / sum(words)
return [(torch.stack(of_one) * shares).sum(0) for of_one in zip(*gradients)]"""
wrong("shares laid along the last axis", ALONG_THE_FEATURES).says("""
    You multiplied the stacked gradients by the vector of shares, which lies along their *last* axis. The workers are
    the first axis of the stack: give each worker's whole gradient one share.""")
wrong(
    "shares of the kept, gradients of all",
    "kept = [n for n in words if n]\n"
    "return [sum(n / sum(words) * g for n, g in zip(kept, of_one)) for of_one in zip(*gradients)]",
).says("""
    You left out the zeros of `words`, but not the gradients of these workers, so the shares meet the gradients of
    others, and NaN. Leave out both, or go through the pairs.""")
REPLACED_AT_THE_END = (
    "return [sum(n / sum(words) * g for n, g in zip(words, of_one)).nan_to_num() for of_one in zip(*gradients)]"
)
wrong("NaN replaced after the sum", REPLACED_AT_THE_END).says("""
    You replaced NaN in the sum. There it is too late, because one NaN has made the whole sum NaN, and the gradients of
    the other workers are lost. Leave the worker without words out before you add.""")
COUNTED_AS_ONE = """
shares = [max(n, 1) / sum(max(n, 1) for n in words) for n in words]
return [sum(share * g.nan_to_num() for share, g in zip(shares, of_one)) for of_one in zip(*gradients)]"""
wrong("no words counted as one", COUNTED_AS_ONE).says("""
    You counted a worker without words as if it had one, so all other shares are too small. Its share is 0, and its
    gradient (NaN) must be left out of the sum.""")
