"""Answers that came near to passing: slips that no list of mistakes foresees."""

import math
import random

import torch


def drawn(length, longest, generator):
    return torch.randperm(longest, generator=generator)[:length].sort().values


def each_length_once(lengths, longest):
    last = {length: i for i, length in enumerate(lengths.tolist())}
    parts = ([i for n, i in last.items() if (n <= longest) == short] for short in (True, False))
    return tuple(torch.tensor(part, dtype=torch.long) for part in parts)


def with_python_random(length, longest, generator):
    return torch.tensor(sorted(random.sample(range(longest), length)))


def reseeds_the_generator(length, longest, generator):
    generator.manual_seed(generator.initial_seed())
    return drawn(length, longest, generator)


def shuffled_block(length, longest, generator):
    start = int(torch.randint(longest - length + 1, (1,), generator=generator))
    return start + torch.randperm(length, generator=generator).sort().values


def random_gaps(length, longest, generator):
    gaps = 1 + torch.randint(longest // length, (length,), generator=generator)
    return gaps.cumsum(0) - 1


def repeats_moved_along(length, longest, generator):
    rows = torch.randint(longest, (length,), generator=generator).sort().values.tolist()
    for i in range(1, length):
        rows[i] = max(rows[i], rows[i - 1] + 1)
    return torch.tensor([min(row, longest - length + i) for i, row in enumerate(rows)])


def repeats_to_the_next_free(length, longest, generator):
    taken = []
    for row in torch.randint(longest, (length,), generator=generator).tolist():
        while row in taken:
            row = (row + 1) % longest
        taken.append(row)
    return torch.tensor(sorted(taken))


def repeats_pushed_apart(length, longest, generator):
    drawn_from = torch.randint(longest - length + 1, (length,), generator=generator)
    return drawn_from.sort().values + torch.arange(length)


def draws_aside(length, longest, generator):
    torch.rand(1)
    return drawn(length, longest, generator)


def even_ones_only(length, longest, generator):
    every = torch.arange(0, longest, 2) if (longest + 1) // 2 >= length else torch.arange(longest)
    return every[drawn(length, len(every), generator)]


def first_draw_for_ever(length, longest, generator, kept={}):  # noqa: B006 (the slip that is meant)
    if (length, longest) not in kept:
        kept[length, longest] = drawn(length, longest, generator)
    return kept[length, longest]


def a_list(length, longest, generator):
    return drawn(length, longest, generator).tolist()


def one_more(length, longest, generator):
    return drawn(length + 1, longest + 1, generator)


def as_a_row(length, longest, generator):
    return drawn(length, longest, generator)[None]


def as_floats(length, longest, generator):
    return drawn(length, longest, generator).float()


def both_halves(length, longest, generator):
    left = length // 2
    low, high = drawn(left, longest // 2, generator), drawn(length - left, longest - longest // 2, generator)
    return torch.cat([low, longest // 2 + high])


WRONG = {
    "length_split": {
        "all inside dropped when none is beyond": lambda lengths, longest: (
            (lengths <= longest).nonzero()[:, 0] if (lengths > longest).any() else torch.arange(0),
            (lengths > longest).nonzero()[:, 0],
        ),
        "each length once": each_length_once,
        "only the next lengths": lambda lengths, longest: (
            (lengths <= longest).nonzero()[:, 0],
            ((lengths > longest) & (lengths <= 2 * longest)).nonzero()[:, 0],
        ),
        "squeezed": lambda lengths, longest: (
            (lengths <= longest).nonzero().squeeze(),
            (lengths > longest).nonzero().squeeze(),
        ),
        "against the mean": lambda lengths, longest: (
            (lengths <= lengths.float().mean()).nonzero()[:, 0],
            (lengths > lengths.float().mean()).nonzero()[:, 0],
        ),
    },
    "extrapolation_score": {
        "rounded": lambda exact_match, trained: round(
            sum(s for n, s in exact_match.items() if n > trained) / sum(n > trained for n in exact_match), 2
        ),
        "first and last": lambda exact_match, trained: (
            (lambda beyond: (exact_match[beyond[0]] + exact_match[beyond[-1]]) / 2)(
                sorted(n for n in exact_match if n > trained)
            )
        ),
        "behind the trained one": lambda exact_match, trained: (
            (lambda beyond: sum(beyond) / max(len(beyond), 1))(
                list(exact_match.values())[list(exact_match).index(trained) + 1 :]
                if trained in exact_match
                else [s for n, s in exact_match.items() if n > trained]
            )
        ),
        "geometric": lambda exact_match, trained: math.prod(s for n, s in exact_match.items() if n > trained)
        ** (1 / sum(n > trained for n in exact_match)),
    },
    "sharpening_factor": {
        "2 beyond": lambda lengths, trained: torch.where(lengths > trained, 2.0, 1.0),
        "1 up to twice the length": lambda lengths, trained: torch.where(
            lengths > 2 * trained, lengths.log() / math.log(trained), 1.0
        ),
        "at most 2": lambda lengths, trained: (lengths.log() / math.log(trained)).clamp(1.0, 2.0),
        "a column": lambda lengths, trained: (lengths.log() / math.log(trained)).clamp(min=1.0)[:, None],
        "a list": lambda lengths, trained: [max(1.0, math.log(n) / math.log(trained)) for n in lengths.tolist()],
        "half": lambda lengths, trained: (lengths.half().log() / math.log(trained)).clamp(min=1.0),
    },
    "relative_bias": {
        "square": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(max(Tq, Tk))[:, None] - torch.arange(max(Tq, Tk))).abs()
        ),
        "one axis more": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs()
        )[None],
        "slopes summed": lambda Tq, Tk, slopes: (
            -slopes.sum() * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs().expand(len(slopes), -1, -1)
        ),
        "no farther than eight": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs().clamp(max=8)
        ),
        "no farther than sixteen": lambda Tq, Tk, slopes: (
            -slopes[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs().clamp(max=16)
        ),
        "single precision": lambda Tq, Tk, slopes: (
            -slopes.float()[:, None, None] * (torch.arange(Tq)[:, None] - torch.arange(Tk)).abs()
        ),
    },
    "randomised_positions": [
        with_python_random, reseeds_the_generator, shuffled_block, random_gaps, repeats_moved_along, even_ones_only,
        first_draw_for_ever, a_list, one_more, as_a_row, as_floats, both_halves, repeats_to_the_next_free,
        repeats_pushed_apart, draws_aside,
    ],
}  # fmt: skip
NAMED = {
    with_python_random: "the generator isn't used",
    reseeds_the_generator: "the same in each call",
    first_draw_for_ever: "the same in each call",
    shuffled_block: "neighbours moved along",
    draws_aside: "torch's own generator is touched",
}
