"""Answers that came near to passing: slips that no list of mistakes foresees."""

import math
import random

import torch


def drawn(length, longest, generator):
    return torch.randperm(longest, generator=generator)[:length].sort().values


def with_python_random(length, longest, generator):
    return torch.tensor(sorted(random.sample(range(longest), length)))


def reseeds_the_generator(length, longest, generator):
    generator.manual_seed(generator.initial_seed())
    return drawn(length, longest, generator)


def shuffled_block(length, longest, generator):
    start = int(torch.randint(longest - length + 1, (1,), generator=generator))
    return start + torch.randperm(length, generator=generator).sort().values


def repeats_to_the_next_free(length, longest, generator):
    taken = []
    for row in torch.randint(longest, (length,), generator=generator).tolist():
        while row in taken:
            row = (row + 1) % longest
        taken.append(row)
    return torch.tensor(sorted(taken))


def moved_to_a_free_one_at_once(length, longest, generator):
    taken = []
    while len(taken) < length:
        row = int(torch.randint(longest, (1,), generator=generator))
        while row in taken:
            row = (row + 1) % longest
        taken.append(row)
    return torch.tensor(sorted(taken))


def gaps_by_chance(length, longest, generator):
    behind = torch.randint(length + 1, (longest - length,), generator=generator)  # each free one goes to some gap
    return behind.bincount(minlength=length + 1)[:length].cumsum(0) + torch.arange(length)


def draws_aside(length, longest, generator):
    torch.rand(1)
    return drawn(length, longest, generator)


def first_draw_for_ever(length, longest, generator, kept={}):  # noqa: B006 (the slip that is meant)
    if (length, longest) not in kept:
        kept[length, longest] = drawn(length, longest, generator)
    return kept[length, longest]


def among_the_first_ones(length, longest, generator):
    return torch.randperm(length, generator=generator)


def as_floats(length, longest, generator):
    return drawn(length, longest, generator).float()


WRONG = {
    "length_split": {
        "all inside dropped when none is beyond": lambda lengths, longest: (
            (lengths <= longest).nonzero()[:, 0] if (lengths > longest).any() else torch.arange(0),
            (lengths > longest).nonzero()[:, 0],
        ),
        "only the next lengths": lambda lengths, longest: (
            (lengths <= longest).nonzero()[:, 0],
            ((lengths > longest) & (lengths <= 2 * longest)).nonzero()[:, 0],
        ),
        "squeezed": lambda lengths, longest: (
            (lengths <= longest).nonzero().squeeze(),
            (lengths > longest).nonzero().squeeze(),
        ),
    },
    "extrapolation_score": {
        "rounded": lambda exact_match, trained: round(
            sum(s for n, s in exact_match.items() if n > trained) / sum(n > trained for n in exact_match), 2
        ),
        "behind the trained one": lambda exact_match, trained: (lambda beyond: sum(beyond) / max(len(beyond), 1))(
            list(exact_match.values())[list(exact_match).index(trained) + 1 :]
            if trained in exact_match
            else [s for n, s in exact_match.items() if n > trained]
        ),
    },
    "sharpening_factor": {
        "1 up to twice the length": lambda lengths, trained: torch.where(
            lengths > 2 * trained, lengths.log() / math.log(trained), 1.0
        ),
        "at most 2": lambda lengths, trained: (lengths.log() / math.log(trained)).clamp(1.0, 2.0),
    },
    "relative_bias": {
        "no farther than sixteen": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs().clamp(max=16)
        ),
        "no farther than 128": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs().clamp(max=128)
        ),
        "single precision": lambda Tq, Tk, slopes: (
            -slopes.float()[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs()
        ),
    },
    "randomised_positions": [
        with_python_random,
        reseeds_the_generator,
        shuffled_block,
        first_draw_for_ever,
        as_floats,
        repeats_to_the_next_free,
        moved_to_a_free_one_at_once,
        gaps_by_chance,
        draws_aside,
        among_the_first_ones,
    ],
}
NAMED = {
    with_python_random: "the generator isn't used",
    reseeds_the_generator: "the same in each call",
    first_draw_for_ever: "the same in each call",
    shuffled_block: "neighbours moved along",
    draws_aside: "torch's own generator is touched",
    among_the_first_ones: "0 to length − 1 in random order",
}
