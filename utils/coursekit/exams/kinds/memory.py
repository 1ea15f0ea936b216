"""Questions on chapters 13 to 17: memories, pointers, convolutions in time, pictures, longer sequences."""

import math
from random import Random

import torch

from attnbook.attention import masked_softmax
from attnbook.data.worlds.bandits import best_value
from attnbook.measure.images import agreement_and_chance
from attnbook.models.ntm_addressing import circular_shift, erase_and_add, interpolate, read
from attnbook.models.pointer import mask_visited
from attnbook.models.snail import causal_convolution, receptive_field
from attnbook.models.spectral_norm import spectral_norm_step
from coursekit.exams.numbers import cells, distinct, floats, logs, parts, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind


@kind(13, LONG, "A head that moves")
def ntm_shift(draw: Random) -> Question:
    """Interpolation, a shift around the circle, sharpening, and what is read."""
    content = [n / 10 for n in parts(draw, 10, 4)]
    previous = [0.0] * 4
    previous[draw.randrange(4)] = 1.0
    gate, shift = draw.choice([0.0, 0.5, 1.0]), [0.0, 0.0, 0.0]
    shift[draw.choice([0, 2])] = 0.8
    shift[1] = 0.2
    memory = distinct(draw, 0, 9, 4)
    mixed = interpolate(tensor(content), tensor(previous), tensor([gate]))
    moved = circular_shift(mixed, tensor(shift))
    seen = round(read(tensor(memory)[None, :, None], moved[None]).item(), 9)
    between, after = floats(mixed), floats(moved)
    text = (
        "The memory of a neural Turing machine has four rows (0 to 3), which hold the numbers "
        f"{vector(memory)}. The weights by content are {vector(content)}, those of the step before "
        f"{vector(previous)}, the "
        f"gate is g = {show(gate)}, and the shift has the probabilities {vector(shift)} for one row back, no "
        f"move, and one "
        "row forward.",
        "(a) Compute the weights after the interpolation. (b) Compute the weights after the shift. (c) What is "
        "read with "
        "them, without sharpening? (d) What does sharpening with γ = 2 do to these weights, and why is it needed?",
    )
    steps = (
        Step(f"(a) g times content plus (1 − g) times previous: {vector(between)}.", 1),
        Step(f"(b) Around the circle: {vector(after)}.", 2),
        Step(f"(c) {show(seen)}.", 1),
        Step("(d) Each weight is squared and all are divided by their sum, so the large ones gain. Otherwise "
             "the weight "
             "that leaks at each shift would add up over many steps.", 2),
    )  # fmt: skip
    given = {"content": content, "previous": previous, "gate": gate, "shift": shift, "memory": memory}
    return Question(text, given, {"mixed": between, "moved": after, "read": seen}, steps)


@kind(13, SHORT, "Erase and add")
def erasing_and_adding(draw: Random) -> Question:
    """One row after a write head has erased and added with a part of its weight."""
    weight, row, add = (
        draw.choice([0.25, 0.5, 0.75]),
        distinct(draw, 1, 8, 3),
        [draw.randint(0, 4) * 2 for _ in range(3)],
    )
    erase = [draw.choice([0.0, 0.5, 1.0]) for _ in range(3)]
    memory, weights = tensor([[row, row]]), tensor([[weight, 1 - weight]])  # (B, N, M), (B, N)
    written = floats(erase_and_add(memory, weights, tensor([erase]), tensor([add]))[0, 0])
    text = (
        f"A row of the memory holds {vector(row)}. A write head has the weight {show(weight)} on it, the erase vector "
        f"{vector(erase)} and the add vector {vector(add)}.",
        "(a) What is left of the row after erasing? (b) What does it hold after adding? (c) When does a head "
        "replace a row "
        "completely?",
    )
    left = [r * (1 - weight * e) for r, e in zip(row, erase, strict=True)]
    steps = (
        Step(f"(a) Each feature times 1 − weight · erase: {vector(left)}.", 1),
        Step(f"(b) Plus weight · add: {vector(written)}.", 1),
        Step("(c) If all of its weight is on this row and the erase vector is 1 in every feature.", 1),
    )
    given = {"weight": weight, "row": row, "erase": erase, "add": add}
    return Question(text, given, {"written": written}, steps)


@kind(14, SHORT, "Pointing, each position once")
def pointer_order(draw: Random) -> Question:
    """Probabilities of a pointer network whose scores stay, and whose mask grows."""
    exponentials = draw.choice([[1, 2, 3, 6], [1, 2, 4, 5], [1, 3, 4, 8], [2, 3, 5, 10], [1, 2, 6, 7]])
    exponentials = draw.sample(exponentials, 4)
    mask, order, chances = torch.ones(1, 4, dtype=torch.bool), [], []
    for _ in range(3):
        weights = masked_softmax(tensor([exponentials]).log(), mask)
        order.append(int(weights.argmax()))
        chances.append(round(weights.max().item(), 9))
        mask = mask_visited(mask, torch.tensor([order[-1]]))
    product = math.prod(chances[:2])
    text = (
        f"A pointer network has the scores {logs(exponentials)} for the positions 0 to 3, the same at every step. "
        f"A position "
        "that has been chosen is masked, and the most probable one is chosen.",
        "(a) Which positions are chosen at the first three steps? (b) With which probabilities? (c) What is the "
        "probability "
        "of the first two choices together? Which position would be chosen at the second step without the mask?",
    )
    steps = (
        Step(f"(a) {', '.join(map(str, order))}.", 1),
        Step(f"(b) {vector(chances)}: the mask comes before the softmax.", 1),
        Step(f"(c) {show(product)}; without the mask position {order[0]} again.", 1),
    )
    answers = {"order": order, "chances": chances, "product": round(product, 9)}
    return Question(text, {"exponentials": exponentials}, answers, steps)


@kind(14, SHORT, "Write a word or copy it")
def copied_word(draw: Random) -> Question:
    """The probability of a word that the source contains twice."""
    gate, known = draw.choice([0.2, 0.5, 0.8]), draw.choice([0.1, 0.2, 0.4])
    tenths = parts(draw, 10, 4)
    twice = draw.sample(range(4), 2)
    copied = sum(tenths[j] for j in twice) / 10
    new, old = (1 - gate) * copied, gate * known + (1 - gate) * copied
    text = (
        f"A pointer-generator has p<sub>gen</sub> = {show(gate)}. Its attention weights on four source positions are "
        f"{vector(n / 10 for n in tenths)}. The same word stands at positions {min(twice) + 1} and {max(twice) + 1}.",
        "(a) Compute the probability of this word if it is not in the vocabulary. (b) Compute it if the "
        "vocabulary gives it "
        f"{show(known)}. (c) Which probability can a model without pointing give to the word of (a)?",
    )
    steps = (
        Step(f"(a) (1 − p<sub>gen</sub>) · {show(copied)} = {show(new)}.", 1),
        Step(f"(b) {show(gate)} · {show(known)} + {show(new)} = {show(old)}.", 1),
        Step("(c) None: it has no row in the output layer.", 1),
    )
    given = {"gate": gate, "known": known, "tenths": tenths, "twice": twice}
    return Question(text, given, {"new": round(new, 9), "old": round(old, 9)}, steps)


@kind(15, SHORT, "A dilated causal convolution")
def dilated_convolution(draw: Random) -> Question:
    """The output of one layer, and how far a stack of them reaches."""
    x, past, dilation = [draw.randint(0, 6) for _ in range(6)], draw.choice([-1.0, 0.5, 2.0]), draw.choice([1, 2, 3])
    out = floats(causal_convolution(tensor([x])[..., None], tensor([[[past, 1.0]]]), dilation=dilation)[0, :, 0])
    layers = draw.choice([3, 4, 5])
    field = receptive_field([2**i for i in range(layers)])
    text = (
        f"A causal convolution has the weight 1 for the present position and {show(past)} for the position "
        f"{dilation} earlier. "
        f"The input is {vector(x)}; positions before the beginning count as zero.",
        f"(a) Compute the six outputs. (b) How many positions does a stack of {layers} such layers with two taps "
        f"and the "
        "dilations 1, 2, 4, … reach, the present one included? (c) Which input positions can such a stack never "
        "see if its "
        "dilations are 2, 4, 8, …?",
    )
    steps = (
        Step(f"(a) {vector(out)}.", 1),
        Step(f"(b) 1 + (2 to the power of {layers}) − 1 = {field}.", 1),
        Step("(c) Those at an odd distance, also the one just before.", 1),
    )
    given = {"x": x, "past": past, "dilation": dilation, "layers": layers}
    return Question(text, given, {"out": out, "field": field}, steps)


@kind(15, SHORT, "The next pull")
def next_pull(draw: Random) -> Question:
    """Probabilities of two arms after some pulls, and the value of one more."""
    while True:
        pulls = [draw.randint(1, 4) for _ in range(2)]
        wins = [draw.randint(0, n) for n in pulls]
        chances = [(w + 1) / (n + 2) for w, n in zip(wins, pulls, strict=True)]
        if chances[0] != chances[1]:
            break
    value = round(best_value(tuple(zip(pulls, wins, strict=True)), 1), 9)
    arm = chances.index(max(chances))
    text = (
        "The probability of each arm of a bandit was drawn uniformly between 0 and 1. Arm A has been pulled "
        f"{pulls[0]} times and won {wins[0]} times; arm B has been pulled {pulls[1]} times and won {wins[1]} times.",
        "(a) With which probability does each arm pay at the next pull? (b) One pull is left. Which arm should "
        "be pulled, and "
        "how much does it win on average? (c) Five pulls are left. Why can the other arm be the better choice now?",
    )
    steps = (
        Step(f"(a) (w + 1) / (n + 2): {show(chances[0])} and {show(chances[1])}.", 1),
        Step(f"(b) Arm {'AB'[arm]}, which wins {show(value)} on average.", 1),
        Step(
            "(c) A pull also informs: an arm that has been tried less may turn out to be better, and can be "
            "used later.",
            1,
        ),
    )
    return Question(text, {"pulls": pulls, "wins": wins}, {"chances": chances, "value": value}, steps)


LEGS = ((5, 12, 13), (10, 24, 26), (15, 8, 17), (15, 20, 25), (15, 36, 39), (20, 15, 25), (20, 21, 29))


@kind(16, LONG, "One step of power iteration")
def power_iteration(draw: Random) -> Question:
    """u, v and the estimate of the spectral norm, in lengths that are whole numbers."""
    five, leg, length = draw.choice(LEGS)
    d = draw.choice([n for n in range(-20, 21) if (5 * leg - 4 * n) % 3 == 0])  # 3 b + 4 d = 5 leg
    b, times = (5 * leg - 4 * d) // 3, five // 5
    matrix = tensor([[3 * times, b], [4 * times, d]])
    u, v = spectral_norm_step(matrix, tensor([1.0, 0.0]))
    sigma = round((u @ matrix @ v).item(), 9)
    text = (
        f"The matrix W has the rows {vector(matrix[0].tolist())} and {vector(matrix[1].tolist())}. Power "
        f"iteration starts with "
        "v = (1, 0).",
        "(a) Compute W v, its length, and u. (b) Compute Wᵀ u, its length, and the new v. (c) Compute the estimate "
        "σ = u · W v with the new v. (d) Is the spectral norm of W smaller or larger than this estimate, or "
        "could it be equal "
        "to it? What does a layer do to the difference of two inputs if its weight is divided by the spectral norm?",
    )
    left, right = floats(u), floats(v)
    steps = (
        Step(f"(a) W v = {vector((3 * times, 4 * times))} of length {five}, so u = {vector(left)}.", 1),
        Step(f"(b) Wᵀ u = {vector((five, leg))} of length {length}, so v = {vector(right)}.", 2),
        Step(f"(c) {show(sigma)}, the length of Wᵀ u.", 1),
        Step("(d) It is at least as large: the estimate approaches it from below. Its matrix then stretches no "
             "difference.", 2),
    )  # fmt: skip
    return Question(text, {"matrix": floats(matrix)}, {"u": left, "v": right, "sigma": sigma}, steps)


@kind(16, SHORT, "Agreement beside chance")
def agreement(draw: Random) -> Question:
    """How often two halves agree, and how often they would by chance."""
    zeros = draw.randint(4, 8)
    left = [0] * zeros + [1] * (10 - zeros)
    flipped = draw.sample(range(10), draw.randint(1, 3))
    right = [1 - c if j in flipped else c for j, c in enumerate(left)]
    agree, chance = (round(x, 6) for x in agreement_and_chance(torch.tensor(left), torch.tensor(right), 2))
    text = (
        "A generator made ten canvases with a digit, 0 or 1, at each end:",
        Table(("end", *(str(n) for n in range(1, 11))), (("left", *cells(left)), ("right", *cells(right)))),
        "(a) Compute the agreement. (b) Compute the agreement that would be expected by chance. (c) Another "
        "generator has an "
        "agreement of 1 and writes zeros only. What is its chance, and what has it learned about agreement?",
    )
    shares = left.count(0) / 10, right.count(0) / 10
    steps = (
        Step(f"(a) {show(agree)}.", 1),
        Step(
            f"(b) {show(shares[0])} · {show(shares[1])} + {show(1 - shares[0])} · {show(1 - shares[1])} = "
            f"{show(chance)}.",
            1,
        ),
        Step("(c) Its chance is 1 as well, so it has learned nothing about agreement.", 1),
    )
    return Question(text, {"left": left, "right": right}, {"agreement": agree, "chance": chance}, steps)


@kind(17, SHORT, "A lead among many keys")
def thin_softmax(draw: Random) -> Question:
    """The weight of a position with a fixed lead, on a short and on a long input, and a factor on the scores."""
    lead, short = draw.choice([4, 8, 9, 16]), draw.choice([3, 5, 9])
    long = draw.choice([17, 33, 65])
    weights = [masked_softmax(tensor([lead, *[1] * (n - 1)]).log())[0].item() for n in (short, long)]
    sharp = masked_softmax(2 * tensor([lead, *[1] * (long - 1)]).log())[0].item()
    found = [round(weight, 9) for weight in (*weights, sharp)]
    text = (
        f"The right position has the score ln {lead}, and all other positions have the score 0.",
        f"(a) Which weight does it get among {short} positions, and which among {long}? (b) All scores are "
        f"multiplied by 2. "
        f"Which weight does it get among {long} positions now? (c) Does a factor on the scores help a model whose "
        f"largest "
        "score belongs to a wrong position?",
    )
    steps = (
        Step(f"(a) {show(found[0])} and {show(found[1])}.", 1),
        Step(f"(b) {lead}² / ({lead}² + {long - 1}) = {show(found[2])}.", 1),
        Step("(c) No: it makes the weights sharper, and so the model surer of the wrong position.", 1),
    )
    given = {"lead": lead, "short": short, "long": long}
    return Question(text, given, {"weights": found}, steps)
