"""Lab 17: positions drawn at random from a range that is longer than any input, in order and without repeats."""

from functools import partial

import torch

from misread.exercise import About

from ..fakes.generator import Generator
from ..families.draws import free_of
from .draws import ManyDraws, calls_of, coded


def randomised_positions(length, longest, generator):
    """Different positions out of 0 … longest − 1, ascending, each set equally likely: (length,)."""
    order = torch.randperm(longest, generator=generator, device=generator.device)  # (longest,): each position once
    return order[:length].sort().values  # (T,)


def _ranges(draw):
    sizes = [(2, 4), (3, 5), (1, 3), (5, 7), (4, 9), (3, 8), (6, 6), (12, 40)]
    if draw.compact:
        sizes = [(2, 3), (2, 4)]
    if draw.number > 1:
        sizes = [(2, 5), (3, 4), (1, 1), (7, 20)]
    # Those of which most is drawn come last, so that few known mistakes get as far as them.
    for number, (length, longest) in sorted(enumerate(sizes), key=lambda case: calls_of(*case[1])):
        yield length, longest, Generator(1000 * draw.variant + 20 * draw.number + number)


_without = partial(free_of, coded)

RANDOMISED_POSITIONS = ManyDraws(
    randomised_positions,
    cases=_ranges,
    returns=("call 1", "call 2", "call 3"),
    gradients=False,
    device=False,
    about=About(points=3, minutes=15, difficulty=3, read_again=("08_heads_positions", "Beyond the trained length")),
)

must = RANDOMISED_POSITIONS.properties
must("whole numbers from 0 to longest − 1", _without("not whole", "from 1 on", "outside")).says("""
    Positions are whole numbers from 0 to `longest` − 1.""")
must("all different", _without("repeated")).says("""
    No position may occur twice in one draw.""")
must("in ascending order", _without("descending", "ranks", "not ascending")).says("""
    Positions must ascend: the first word stands before the second.""")
must("another draw each time", _without("the first ones", "always the same")).says("""
    Each call must draw anew, from all `longest` positions.""")
must("drawn with the generator that is given", _without("generator unused", "torch's own, too")).says("""
    All chance must come from `generator`: two generators with one seed must give the same positions, and torch's own
    generator is left alone.""")
must(
    "each set equally likely", _without("a block", "always 0", "always the last", "never 0", "never the last", "uneven")
).says("""
    Each set of `length` positions must be equally likely. In many calls, yours are not: this happens if each position
    is drawn from a stretch of its own, or if repeated positions are moved apart afterwards.""")

_ORDER, _PERMUTED = (
    "order[:length].sort().values",
    "torch.randperm(longest, generator=generator, device=generator.device)",
)

wrong = RANDOMISED_POSITIONS.mistakes
wrong("positions may repeat", "return torch.randint(longest, (length,), generator=generator).sort().values").says("""
    You drew each position by itself, so two words can stand at the same position (`randint` and random numbers rounded
    down allow this). Draw without repeats: a random order of all positions, of which you keep the first `length`.""")
UNIQUE = "return torch.randint(longest, (length,), generator=generator).unique()"
wrong("sometimes too few", UNIQUE).says("""
    You drew with repeats and removed these afterwards (`unique`), so that sometimes fewer than `length` positions are
    left. Draw without repeats: a random order of all positions, of which you keep the first `length`.""")
wrong("in random order", {_ORDER: "order[:length]"}).says("""
    Your positions don't ascend, so the order of the words would be lost. Sort them after drawing.""")
SET = """
drawn = set()
while len(drawn) < length:
    drawn.add(torch.randint(longest, (1,), generator=generator).item())
return torch.tensor(list(drawn))"""
wrong("a set has no order", SET).says("""
    You collected the positions in a set, which often comes out in ascending order, but not always. Sort them at the
    end.""")
wrong("descending", {_ORDER: "order[:length].sort(descending=True).values"}).says("""
    Your positions descend, so the sentence would be read backwards. Sort them in ascending order.""")
wrong("0 to length − 1 in random order", {_ORDER: "order[:length].argsort()"}).says("""
    Your positions are the numbers from 0 to `length` − 1 in random order. Either you drew among the first `length`
    only, as torch.randperm(length) does, or you returned the indices that would sort the draw (`argsort`, or the second
    result of `sort`). Draw among all `longest` positions, keep `length` of them, and sort these: .sort().values.""")
wrong("sorted before it was cut", {_ORDER: "order.sort().values[:length]"}).says("""
    You always return 0, 1, 2, …: either all positions were sorted before the first `length` were taken, which undoes
    the draw, or you drew only among the first `length`. Draw among all `longest` positions, cut, and then sort.""")
wrong("both results of sort", {_ORDER: "order[:length].sort()"}).says("""
    `sort` returns two tensors, the sorted values and their indices. Wanted are the values: .sort().values.""")
wrong(
    "the same in each call",
    "return torch.randperm(longest, generator=torch.Generator().manual_seed(0))[:length].sort().values",
).says("""
    Each of your calls gives the same positions, as they do when a seed is set inside the function or nothing is random.
    Then training sees one set of positions only. Draw with the generator that is given, and set no seed.""")
wrong("the generator isn't used", {_PERMUTED: "torch.randperm(longest)"}).says("""
    Your positions don't come from `generator`: two generators with the same seed gave different positions, so no
    training could be repeated. Pass it on: torch.randperm(…, generator=generator).""")
wrong("from 1 to longest", {_ORDER: f"{_ORDER} + 1"}).says("""
    Your positions run from 1 to `longest`. They count from 0, so the last one is `longest` − 1.""")
wrong("one position too many", {"randperm(longest,": "randperm(longest + 1,"}).says("""
    Your positions sometimes reach `longest`. There are `longest` of them, counted from 0, so the last one is
    `longest` − 1.""")
FROM_ONE = {"randperm(longest,": "randperm(longest - 1,", _ORDER: f"{_ORDER} + 1"}
wrong("0 is never drawn", FROM_ONE).says("""
    The position 0 never comes. Positions run from 0 to `longest` − 1, and each of them may be drawn.""")
wrong("the last one is never drawn", {"randperm(longest,": "randperm(longest - 1,"}).says("""
    The position `longest` − 1 never comes. In torch the upper end is left out already: randperm(longest) gives 0 to
    `longest` − 1.""")
BLOCK = """
start = torch.randint(longest - length + 1, (1,), generator=generator)
return start + torch.arange(length)"""
wrong("neighbours moved along", BLOCK).says("""
    Your positions are always neighbours, moved along by chance. Then the model still knows small distances only. There
    must be gaps: each set of `length` positions is equally likely.""")
FIRST = """
rest = 1 + torch.randperm(longest - 1, generator=generator)[: length - 1].sort().values
return torch.cat([torch.zeros(1, dtype=torch.long), rest])"""
wrong("always begins at 0", FIRST).says("""
    Your first position is always 0. It is drawn as well: each set of `length` positions is equally likely.""")
LAST = """
rest = torch.randperm(longest - 1, generator=generator)[: length - 1].sort().values
return torch.cat([rest, torch.tensor([longest - 1])])"""
wrong("always ends at the last", LAST).says("""
    Your last position is always `longest` − 1. It is drawn as well: each set of `length` positions is equally
    likely.""")
STRETCHES = """
edges = torch.linspace(0, longest, length + 1).round().long()
share = torch.rand(length, generator=generator)
return edges[:-1] + (share * edges.diff()).long()"""
wrong("one from each stretch", STRETCHES).says("""
    Some sets of positions come far more often than others, or never: for example because one position is drawn from
    each of `length` stretches. Each set must be equally likely.""")
_SEEDED = f"torch.default_generator.manual_seed(0)\nreturn {_PERMUTED}[:length].sort().values"
wrong("torch's own generator is touched", _SEEDED).says("""
    Your positions come from `generator`, but your function also changes torch's own generator, by `torch.manual_seed`
    or by a draw without `generator=`. Other parts of a training depend on that one: use `generator` only.""")
wrong("not whole", "return (longest * torch.rand(length, generator=generator)).sort().values").says("""
    Your positions have decimals. They number the rows of a table: whole numbers from 0 to `longest` − 1, all
    different.""")
