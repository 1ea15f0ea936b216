"""Questions on chapters 4 and 6: windows, comparisons of seeds, pictures, and gradients through a draw."""

import math
from fractions import Fraction
from random import Random

import torch

from attnbook.attention import masked_softmax
from attnbook.attention.centred import local_window_mask, log_gaussian_window, predicted_centre, walking_centre
from attnbook.attention.hard import location_log_probs
from attnbook.training.reinforce import reinforce_loss
from coursekit.exams.numbers import floats, logs, parts, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind

SIGMOIDS = {"−ln 2": Fraction(1, 3), "0": Fraction(1, 2), "ln 2": Fraction(2, 3)}


def before_sigmoid(share: Fraction) -> torch.Tensor:
    """The number whose sigmoid is ``share``, ``(1,)``."""
    return tensor([math.log(share / (1 - share))])


@kind(4, LONG, "A window around a predicted centre")
def local_window(draw: Random) -> Question:
    """Centre, window, softmax in the window, and the exponents of the Gaussian."""
    name, length, half = draw.choice(sorted(SIGMOIDS)), draw.choice([6, 12]), 2
    one = tensor([[100.0]])  # tanh(100) is 1, so that the vector alone decides
    centre = predicted_centre(one, torch.tensor([length]), one, before_sigmoid(SIGMOIDS[name]))
    mask = local_window_mask(centre, torch.tensor([length]), half)[0]
    inside = [j for j in range(length) if mask[j]]
    exponentials = dict(zip(inside, parts(draw, draw.choice([10, 20]), len(inside)), strict=True))
    scores = tensor([exponentials.get(j, 1) for j in range(length)]).log()
    weights = {j: floats(masked_softmax(scores, mask))[j] for j in inside}
    gaussian = {j: -floats(log_gaussian_window(centre, half, length))[0][j] for j in inside}
    text = (
        f"A sentence has {length} words at the positions 0 to {length - 1}. The sum inside the sigmoid of local-p is "
        f"{name}, and the half-width is D = {half}, so that σ = D/2 = 1. (σ(ln k) = k / (k + 1).)",
        f"(a) Where is the centre, and which positions are in the window? (b) Inside the window the scores are "
        f"{logs(exponentials.values())}. Compute the softmax over the window. (c) By which power of e does the "
        f"Gaussian "
        "multiply each of these weights? (d) Do the products sum to 1?",
    )
    steps = (
        Step(f"(a) {length} · {SIGMOIDS[name]} = {show(centre.item())}, positions {', '.join(map(str, inside))}.", 2),
        Step(f"(b) {vector(weights.values())}.", 2),
        Step(f"(c) e to the power of minus {vector(gaussian.values())}, which is (j − p)² / 2.", 1),
        Step("(d) No. The paper multiplies after the softmax and does not normalise again.", 1),
    )
    given = {"share": SIGMOIDS[name], "length": length, "half": half, "exponentials": list(exponentials.values())}
    answers = {"centre": centre.item(), "inside": inside, "weights": list(weights.values()),
               "gaussian": list(gaussian.values())}  # fmt: skip
    return Question(text, given, answers, steps)


@kind(4, SHORT, "A centre that walks")
def walking_centres(draw: Random) -> Question:
    """Centres that move by at most three words per step, up to the last word (after Tjandra et al. 2017)."""
    names, length = [draw.choice(sorted(SIGMOIDS)) for _ in range(4)], draw.choice([5, 6, 7])
    centre, one, found = tensor([-1.0]), tensor([[100.0]]), []
    for name in names:
        centre = walking_centre(one, centre, torch.tensor([length]), one, before_sigmoid(SIGMOIDS[name]))
        found.append(round(centre.item(), 9))
    text = (
        f"The walking centre of chapter 4 starts in front of a sentence of {length} words, at p<sub>0</sub> = −1, "
        f"and moves "
        f"by 3 times the sigmoid of a number. This number is {', '.join(names)} at the four steps.",
        "(a) How far does the centre want to move at each step? (b) Where is it after each step? (c) Which "
        "target could "
        "this window not follow: the same words in the same order, or the same words in reverse order?",
    )
    wants = [show(3 * SIGMOIDS[name]) for name in names]
    steps = (
        Step(f"(a) {', '.join(wants)}.", 1),
        Step(f"(b) {vector(found)}; the centre stops at the last word, position {length - 1}.", 1),
        Step("(c) The reverse order: the centre cannot jump to the end, and it never goes back.", 1),
    )
    given = {"shares": [SIGMOIDS[name] for name in names], "length": length}
    return Question(text, given, {"centres": found}, steps)


@kind(4, SHORT, "What do three seeds show?")
def judged_seeds(draw: Random) -> Question:
    """Two models with three seeds each: means, ranges, and a sentence that they support or do not."""
    overlap, start = draw.random() < 0.5, draw.choice([60, 66, 72])
    one = [start, start + 3 * draw.randint(1, 2), start + 9]
    step = draw.choice([6, 3]) if overlap else draw.choice([12, 15])
    other = [number + step for number in one]
    draw.shuffle(one)
    draw.shuffle(other)
    means = [sum(row) / 3 for row in (one, other)]
    text = (
        "Two models were trained with three seeds each, at one learning rate, on one task. Their exact match is:",
        Table(("model", "seed 0", "seed 1", "seed 2"), (
            ("A", *(f"{number} %" for number in one)), ("B", *(f"{number} %" for number in other)))),
        "(a) Compute both means. (b) Do the ranges of the seeds overlap? (c) A report says: “Model B is better than "
        "model A.” What do these numbers allow you to say, and what would you do next?",
    )  # fmt: skip
    allowed = (
        "B has the higher mean, but the ranges overlap: three seeds do not show which is better. Train more seeds."
        if overlap
        else "On this task and at this learning rate, each seed of B is better than each of A. Try other rates "
        "and tasks."
    )
    steps = (
        Step(f"(a) {show(means[0])} % and {show(means[1])} %.", 1),
        Step(f"(b) {'Yes' if overlap else 'No'}: {min(one)} to {max(one)} % and {min(other)} to {max(other)} %.", 1),
        Step(f"(c) {allowed}", 1),
    )
    return Question(text, {"one": one, "other": other}, {"means": means, "overlap": overlap}, steps)


def gradient_of(loss: torch.Tensor, scores: torch.Tensor) -> list[float]:
    """Minus the gradient: the direction in which training moves the scores."""
    return floats(-torch.autograd.grad(loss, scores)[0])


@kind(6, LONG, "A gradient through a draw")
def policy_gradient(draw: Random) -> Question:
    """The exact gradient of an expected reward, and one REINFORCE estimate without and with a baseline."""
    tenths, rewards, drawn = parts(draw, 10, 3), draw.sample(range(-4, 0), 3), draw.randrange(3)
    scores = tensor(tenths).log().requires_grad_()
    expected = (scores.softmax(0) * tensor(rewards)).sum()
    exact = gradient_of(-expected, scores)
    estimates = []
    for baseline in (0.0, expected.item()):
        log_prob = location_log_probs(scores.softmax(0)[None, None], torch.tensor([[drawn]]))
        estimates.append(gradient_of(reinforce_loss(log_prob, tensor([[rewards[drawn]]]), baseline), scores))
    text = (
        f"Hard attention chooses among three positions with the probabilities {vector(n / 10 for n in tenths)}, "
        f"the softmax "
        f"of three scores. The rewards of the positions are {vector(rewards)}.",
        "(a) Compute the expected reward J. (b) Compute the exact gradient of J with respect to the three scores, "
        f"α<sub>k</sub> (R<sub>k</sub> − J). (c) Position {drawn + 1} is drawn. Compute the REINFORCE estimate. "
        f"(d) Compute "
        "it with J as the baseline. What does a baseline change, and what does it not change?",
    )
    steps = (
        Step(f"(a) J = {show(round(expected.item(), 9))}.", 1),
        Step(f"(b) {vector(exact)}.", 2),
        Step(f"(c) The reward times (1 − α at the drawn position, −α elsewhere): {vector(estimates[0])}.", 1),
        Step(f"(d) {vector(estimates[1])}. The baseline changes the variance of the estimate, and not its mean.", 2),
    )
    given = {"tenths": tenths, "rewards": rewards, "drawn": drawn}
    answers = {"expected": round(expected.item(), 9), "exact": exact, "estimates": estimates}
    return Question(text, given, answers, steps)


@kind(6, SHORT, "How far a cell sees")
def receptive_pixels(draw: Random) -> Question:
    """The receptive field of convolutions and poolings along one axis."""
    layers = [(draw.choice([3, 5]), 1), (2, 2), (draw.choice([3, 5]), 1), (2, 2), (draw.choice([3, 5]), 1)][
        : draw.randint(3, 5)
    ]
    fields, field, distance = [], 1, 1
    for size, stride in layers:
        field, distance = field + (size - 1) * distance, distance * stride
        fields.append(field)
    words = {1: "convolution of size {}", 2: "max pooling of size {} with stride 2"}
    named = [words[stride].format(size) for size, stride in layers]
    text = (
        f"A network reads a picture with these layers, the lowest first: {'; '.join(named)}.",
        "(a) On how many pixels along one axis does a position depend after each layer? (b) How many pixels "
        "apart are the "
        "centres of two neighbouring positions at the end? (c) A map of attention weights over these positions "
        "is drawn "
        "over the picture. Why does it not show exactly which pixels were used?",
    )
    steps = (
        Step(f"(a) {vector(fields)}: each layer adds (size − 1) times the present distance.", 1),
        Step(f"(b) {distance}: each stride multiplies the distance.", 1),
        Step(f"(c) A weight belongs to a position, and a position depends on {field} × {field} pixels.", 1),
    )
    return Question(text, {"layers": layers}, {"fields": fields, "distance": distance}, steps)
