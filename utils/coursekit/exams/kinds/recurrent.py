"""Questions on chapters 1 and 5: recurrent networks, what a vector must hold, deep stacks, many machines."""

import math
from random import Random

import torch
from torch import nn

from attnbook.training.losses import sequence_loss
from coursekit.exams.numbers import distinct, floats, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind


@kind(1, SHORT, "Bits in a source")
def source_bits(draw: Random) -> Question:
    """A list of numbers and a string of letters: how many bits, and how many letters carry as much."""
    per_number, per_letter, letters = draw.choice([6, 8, 10]), draw.choice([2, 4]), draw.randint(5, 12)
    count = 2 * draw.randint(3, 8)
    bits, needed = count * math.log2(2**per_number), count * per_number / per_letter
    text = (
        f"A source is a list of {count} independent numbers, each of which is one of {2**per_number:,} equally likely "
        f"ones. Another source is a string of independent letters from an alphabet of {2**per_letter} equally likely "
        "letters.",
        f"(a) How many bits does the list carry? (b) How many letters carry as much information? (c) How many "
        f"different "
        f"strings of {letters} letters are there, as a power of two?",
    )
    steps = (
        Step(
            f"(a) Each number carries log<sub>2</sub> {2**per_number:,} = {per_number} bits, the list {show(bits)}.", 1
        ),
        Step(f"(b) A letter carries {per_letter} bits, so {show(bits)} / {per_letter} = {show(needed)} letters.", 1),
        Step(f"(c) 2 to the power of {letters} · {per_letter} = {letters * per_letter}.", 1),
    )
    given = {"count": count, "choices": 2**per_number, "alphabet": 2**per_letter, "letters": letters}
    return Question(text, given, {"bits": bits, "letters": needed, "power": letters * per_letter}, steps)


GATES = {"ln 3": 3.0, "0": 1.0, "−ln 3": 1 / 3, "ln 4": 4.0, "−ln 4": 1 / 4}  # σ(ln k) = k / (k + 1)


@kind(1, LONG, "One step of an LSTM's storage")
def lstm_step(draw: Random) -> Question:
    """Gates from their inputs, the new storage, and how much of it enters the output."""
    names = [draw.sample(sorted(GATES), 2) for _ in range(3)]  # forget, input and output gate, two features
    old, proposal = distinct(draw, -5, 5, 2), [draw.choice([-0.5, 0.5, -0.8, 0.8]) for _ in range(2)]
    cell = nn.LSTMCell(1, 2).double()
    for parameter in cell.parameters():
        parameter.data.zero_()
    forget, enter, leave = ([math.log(GATES[name]) for name in gate] for gate in names)
    cell.bias_ih.data = tensor([*enter, *forget, *map(math.atanh, proposal), *leave])  # PyTorch's order: i, f, g, o
    _, storage = cell(torch.zeros(1, 1).double(), (torch.zeros(1, 2).double(), tensor([old])))
    gates = [floats(tensor(gate).sigmoid()) for gate in (forget, enter, leave)]
    new = floats(storage[0].detach())
    text = (
        f"A step of an LSTM begins with the storage m = {vector(old)}. The proposal is g = {vector(proposal)}. "
        "The inputs "
        "of the three gates, before the sigmoid, stand in the table. (σ(ln k) = k / (k + 1).)",
        Table(("", "feature 1", "feature 2"), tuple(
            (f"{word} gate", *gate) for word, gate in zip(("forget", "input", "output"), names, strict=True))),
        "(a) Compute the values of the three gates. (b) Compute the new storage. (c) Which share of tanh(m) does the "
        "output h contain, for each feature? Which feature keeps more of its old storage?",
    )  # fmt: skip
    keeps = 1 if gates[0][0] > gates[0][1] else 2
    steps = (
        Step(f"(a) Forget gate {vector(gates[0])}, input gate {vector(gates[1])}, output gate {vector(gates[2])}.", 2),
        Step(f"(b) New storage = forget ⊙ old + input ⊙ proposal = {vector(new)}.", 2),
        Step(f"(c) The shares are the output gate, {vector(gates[2])}; feature {keeps} has the larger forget gate.", 2),
    )
    given = {"inputs": [[GATES[name] for name in gate] for gate in names], "old": old, "proposal": proposal}
    return Question(text, given, {"gates": gates, "storage": new, "keeps": keeps}, steps)


@kind(1, SHORT, "A loss with padding")
def padded_loss(draw: Random) -> Question:
    """The mean negative log-likelihood of real words, in multiples of ln 2, and what padding would do to it."""
    powers, padding = [draw.randint(1, 5) for _ in range(4)], draw.randint(1, 4)
    probabilities = tensor([2.0**-power for power in powers])
    logits = torch.zeros(1, 4 + padding, 2, dtype=torch.float64)
    logits[0, :4, 1] = (probabilities / (1 - probabilities)).log()  # word 1 has this probability, word 0 is padding
    target = torch.tensor([[1] * 4 + [0] * padding])
    loss = sequence_loss(logits, target).item() / math.log(2)
    wrong = 4 * loss / (4 + padding)
    shares = ", ".join(f"1/{2**power}" for power in powers)
    text = (
        f"A model gave the four real words of a target the probabilities {shares}. In the batch, {padding} "
        f"positions of "
        "padding follow, at which the model is certain (probability 1).",
        "(a) Compute the loss per real word as a multiple of ln 2. (b) What would the mean be if padding were counted? "
        "(c) What is the perplexity per real word, as a power of two?",
    )
    steps = (
        Step(f"(a) The negative logarithms are {vector(powers)} times ln 2; their mean is {show(loss)} ln 2.", 1),
        Step(f"(b) The same sum is divided by {4 + padding}: {show(wrong)} ln 2, which is too small.", 1),
        Step(f"(c) e to the power of the loss: 2 to the power of {show(loss)}.", 1),
    )
    given = {"powers": powers, "padding": padding}
    return Question(text, given, {"loss": round(loss, 9), "counted": round(wrong, 9)}, steps)


@kind(5, SHORT, "A gradient through a chain")
def residual_chain(draw: Random) -> Question:
    """Four layers that multiply: the derivative without and with residual connections."""
    weights = [draw.choice([0.5, -0.5, 0.2, 1.0, -1.0, 2.0]) for _ in range(3)]
    answers = []
    for bypass in (0.0, 1.0):
        x = torch.ones((), dtype=torch.float64, requires_grad=True)
        y = x
        for weight in weights:
            y = weight * y + bypass * y
        answers.append(round(torch.autograd.grad(y, x)[0].item(), 9))
    plain, residual = answers
    text = (
        f"In a chain of three layers, layer i multiplies its input by w<sub>i</sub>, with w = {vector(weights)}.",
        "(a) Compute ∂y/∂x of the plain chain. (b) Compute it if every layer has a residual connection. (c) Multiplied "
        "out, the derivative of (b) is a sum with one term for each path. How many terms are there, and how large is "
        "the term of the path that goes through no layer?",
    )
    steps = (
        Step(f"(a) The product of the weights, {show(plain)}.", 1),
        Step(f"(b) The product of 1 + w<sub>i</sub>, which is {show(residual)}.", 1),
        Step("(c) 2 · 2 · 2 = 8 terms, and the path around all layers gives 1.", 1),
    )
    return Question(text, {"weights": weights}, {"plain": plain, "residual": residual, "terms": 8}, steps)


@kind(5, SHORT, "One gradient from several processes")
def averaged_batches(draw: Random) -> Question:
    """The mean of means, the mean over all words, and the weights that make them equal."""
    words = draw.choice([[2, 6], [4, 12], [5, 15], [2, 8], [4, 16]])
    draw.shuffle(words)
    losses = distinct(draw, 1, 6, 2)
    rows = [torch.full((n,), float(loss), dtype=torch.float64) for n, loss in zip(words, losses, strict=True)]
    unweighted, whole = torch.stack([row.mean() for row in rows]).mean().item(), torch.cat(rows).mean().item()
    weights = [2 * n / sum(words) for n in words]
    text = (
        f"Two processes share a batch. The first has {words[0]} words with a mean loss of {losses[0]}, the second has "
        f"{words[1]} words with a mean loss of {losses[1]}.",
        "(a) Compute the mean of the two means. (b) Compute the loss of the whole batch. (c) By which factor must each "
        "process multiply its mean, so that the mean of the two products is the loss of the batch?",
    )
    steps = (
        Step(f"(a) {show(unweighted)}.", 1),
        Step(f"(b) ({words[0]} · {losses[0]} + {words[1]} · {losses[1]}) / {sum(words)} = {show(whole)}.", 1),
        Step(f"(c) R n<sub>r</sub> / n with R = 2: {show(weights[0])} and {show(weights[1])}.", 1),
    )
    answers = {"unweighted": unweighted, "whole": round(whole, 9), "weights": weights}
    return Question(text, {"words": words, "losses": losses}, answers, steps)


def finished(layers: int, words: int, bidirectional: int) -> int:
    """The step at which the last layer has finished, if the lowest ``bidirectional`` layers read in both directions."""
    ready = [0] * words
    for layer in range(layers):
        busy = max(ready) if layer < bidirectional else 0  # in both directions: it needs the last word, too
        done = []
        for at in ready:
            busy = max(busy, at) + 1
            done.append(busy)
        ready = [max(done)] * words if layer < bidirectional else done
    return max(ready)


@kind(5, SHORT, "Layers as an assembly line")
def pipeline_steps(draw: Random) -> Question:
    """Steps until a stack of layers on separate devices has read a sentence."""
    layers, words = draw.randint(3, 8), draw.choice([5, 10, 12, 20])
    one, every = finished(layers, words, 1), finished(layers, words, layers)
    text = (
        f"An encoder of {layers} layers reads a sentence of {words} words. Each layer has a device of its own, a "
        f"device "
        "takes one step per word, and the two directions of a bidirectional layer run at the same time.",
        "After how many steps is the encoder finished if (a) only the lowest layer reads in both directions, (b) all "
        "layers do? (c) Say in one sentence why the second number is larger.",
    )
    steps = (
        Step(f"(a) {words} steps for the lowest layer, {words} for the next, and one more for each of the other "
             f"{layers - 2}: {one}.", 1),
        Step(f"(b) Each layer waits for the whole layer below it: {layers} · {words} = {every}.", 1),
        Step("(c) A bidirectional layer needs the last word before it can finish the first, so the line stops.", 1),
    )  # fmt: skip
    return Question(text, {"layers": layers, "words": words}, {"one": one, "every": every}, steps)
