"""Lab 20: guesses of a draft, and random numbers for them, to try the rule of Exercise 7 on."""

import torch
from torch.nn.functional import one_hot

LARGEST = 1 - 2.0**-22  # a random number that is below 1 in float32, too


def _rows(draw, rows, words):
    return draw.normal(rows, words).softmax(dim=-1)


def _inside(draw, probabilities):
    """A chance well inside of the piece of a token that is possible, each as likely as another."""
    possible = (probabilities > 1e-3).nonzero()[:, 0]
    word = int(possible[draw.integer(0, len(possible))])
    share = float(draw.uniform(1, low=0.15, high=0.85))
    return probabilities[:word].sum() + share * probabilities[word]


def _guess(draw, count, words, stay, near=1.0):
    """Guesses of which the first `stay` are kept, and those behind the first that falls would be kept by themselves.

    Chances are far enough from where the answer would change. `near` 0 makes the draft as good as the model.
    """
    draft, model = _rows(draw, count, words), _rows(draw, count + 1, words)
    model[:count] = near * model[:count] + (1 - near) * draft
    ratios = model[:count] / draft
    guessed, chances = torch.zeros(count, dtype=torch.long), torch.zeros(count + 1, dtype=torch.float64)
    for place in range(count):
        falls = place == stay
        doubtful = (ratios[place] <= ratios[place].min().clamp(min=0.9)).nonzero()[:, 0]
        options = doubtful if falls or draw.integer(0, 2) else torch.arange(words)
        guessed[place] = options[draw.integer(0, len(options))]
        ratio = ratios[place, guessed[place]].clamp(max=1)
        share = draw.uniform(1, low=0.15, high=0.85)[0]
        chances[place] = ratio + share * (1 - ratio) if falls else share * ratio
    left = model[count] if stay >= count else (model[stay] - draft[stay]).clamp(min=0)
    chances[count] = _inside(draw, left / left.sum())
    return guessed, draft, model, chances


def guesses(draw):
    count, words = draw.sizes(2, low=3, never_one=(1,))
    yield _guess(draw, count, words, draw.integer(0, count))
    yield _guess(draw, count, words, count)
    yield _guess(draw, 3, 4, 0)
    yield _guess(draw, 4, 4, 2)
    yield _guess(draw, 4, 5, 1)
    yield _guess(draw, 5, 6, 3)
    yield _guess(draw, 5, 6, 4)
    yield _guess(draw, 2, 5, 2)
    yield _guess(draw, 1, 4, 0)
    yield _guess(draw, 1, 3, 1)
    yield _guess(draw, 0, 4, 0)  # nothing was guessed
    yield _guess(draw, 6, 3, 5, near=0.5)
    yield _sure(draw, 4, 5, 4)  # as prompt lookup and greedy search have it: probabilities are 0 and 1
    yield _sure(draw, 3, 6, 1)
    yield _looked_up(draw, 3, 5, 2)  # a sure draft, and a model that draws
    yield _one_word(draw)
    for chance in (0.0, 0.5):  # where a piece begins
        yield _at_a_beginning(draw.integer(0, 2), chance)
    yield _far_more(draw.integer(0, 2))
    yield _as_good(draw.integer(0, 2))
    yield _hardly_worse(draw.integer(0, 2))
    alike = _guess(draw, 3, 4, 3)
    yield alike[0], alike[1], torch.cat([alike[1], alike[2][3:]]), alike[3] ** 0.1  # the draft is as good as the model


def _sure(draw, count, words, stay):
    """Draft and model each sure of a token; of the chances none is 1."""
    guessed, own = draw.integers(0, words, count), draw.integers(0, words, count + 1)
    own[:stay] = guessed[:stay]
    if stay < count:
        own[stay] = (guessed[stay] + 1) % words
    chances = draw.uniform(count + 1, low=0.1, high=0.9)
    chances[0] = 0.0
    return guessed, one_hot(guessed, words).double(), one_hot(own, words).double(), chances


def _looked_up(draw, count, words, stay):
    guessed, draft, model, chances = _guess(draw, count, words, stay)
    draft = one_hot(guessed, words).double()
    own = model[torch.arange(count), guessed]
    chances[:count] = 0.5 * own
    left = model[count]
    if stay < count:
        chances[stay] = (1 + own[stay]) / 2
        left = (model[stay] - draft[stay]).clamp(min=0)
    chances[count] = _inside(draw, left / left.sum())
    return guessed, draft, model, chances


def _one_word(draw):
    """The model never writes the guess, and the random number is 0: even then it does not stay."""
    guessed, draft, model, chances = _guess(draw, 2, 4, 0)
    model[0, guessed[0]] = 0.0
    model[0] /= model[0].sum()
    chances[0] = 0.0
    left = (model[0] - draft[0]).clamp(min=0)
    chances[2] = _inside(draw, left / left.sum())
    return guessed, draft, model, chances


def _at_a_beginning(more, chance):
    """A guess that falls, and a remainder of 0, 0, 1/2, 1/2; numbers that have no rounding."""
    draft = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64)
    model = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]], dtype=torch.float64)
    order = [0, 1, 2, 3] if more else [1, 0, 3, 2]
    chances = torch.tensor([0.75, chance], dtype=torch.float64)
    return torch.tensor([order.index(0)]), draft[:, order], model[:, order], chances


def _far_more(more):
    """A guess that falls; what the model has more than the draft lies otherwise than what it has, where it has more."""
    draft = torch.tensor([[0.5, 0.375, 0.0625, 0.0625]], dtype=torch.float64)
    model = torch.tensor([[0.125, 0.5, 0.25, 0.125], [0.25, 0.25, 0.25, 0.25]], dtype=torch.float64)
    order = [0, 1, 2, 3] if more else [1, 0, 2, 3]
    return torch.tensor([order.index(0)]), draft[:, order], model[:, order], torch.tensor([0.75, 0.45]).double()


def _as_good(more):
    """The model finds a rare guess as likely as the draft does: it stays, however large its random number is."""
    rare = 2.0**-20
    row = torch.tensor([rare, 0.5, 0.5 - rare], dtype=torch.float64)[[0, 1, 2] if more else [1, 0, 2]]
    model = torch.stack([row, torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64)])
    chances = torch.tensor([LARGEST, 0.5 if more else 0.25], dtype=torch.float64)  # where a piece begins
    return row.argmin()[None], row[None], model, chances


def _hardly_worse(more):
    """A guess that falls, a remainder of very small numbers that sum to 2⁻²⁰, and no token left behind its last one."""
    less = 2.0**-20
    draft = torch.tensor([0.25, 0.125, 0.5, 0.125], dtype=torch.float64)
    model = torch.stack([draft + torch.tensor([less / 2, less / 2, -less, 0.0]), draft])
    order = [2, 0, 1, 3] if more else [0, 2, 1, 3]
    chances = torch.tensor([LARGEST, LARGEST], dtype=torch.float64)
    return torch.tensor([order.index(2)]), draft[order][None], model[:, order], chances
