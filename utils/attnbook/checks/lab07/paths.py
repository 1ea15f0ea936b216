"""Lab 7, third part: how many layers a word needs to hear of another."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .masks import causal_mask, window_mask


def path_length(mask):
    looks = mask.to(torch.float32)  # (T, T)
    lengths = torch.full_like(looks, float("inf"))  # never, until a chain is found
    reached = mask
    for layers in range(1, len(mask) + 1):
        lengths = lengths.masked_fill(reached & lengths.isinf(), layers)
        reached = (reached.float() @ looks) > 0  # one look more: through any k that i has heard of
    return lengths


def _ring(draw, places, *chords):
    """Each place sees one other, and no place itself; chords open some more."""
    order = draw.order(places)
    mask = torch.zeros(places, places, dtype=torch.bool)
    mask[order, order.roll(-1)] = True
    for start, end in chords:
        mask[order[start], order[end]] = True
    return mask


def _who_sees_whom(draw):
    yield (torch.eye(2, dtype=torch.bool).flip(0),)  # two words that see each other, and not themselves
    yield (causal_mask(4) & window_mask(4, 1),)  # itself and the word before: a recurrent step
    yield (_ring(draw, 4),)
    yield (window_mask(draw.integer(6, 9), 1),)
    yield (window_mask(9, 2),)
    yield (draw.mask(4, 4),)  # the last word sees nothing
    chain = causal_mask(6) & window_mask(6, 1)
    order = draw.order(6)
    yield (chain[order][:, order],)  # the same chain through places in any order
    yield (_ring(draw, 6, (0, 3)),)
    yield (_ring(draw, 7, (2, 1), (5, 5)),)
    yield (torch.rand(8, 8, generator=draw.generator) < 0.2,)
    yield (torch.ones(1, 1, dtype=torch.bool),)
    yield (torch.zeros(1, 1, dtype=torch.bool),)
    if draw.number == 0:  # longer than a number of rounds fixed beforehand; in loops over tensors 40 words take 2 s
        yield (causal_mask(10) & window_mask(10, 1),)
        yield (causal_mask(13) & window_mask(13, 1),)
        yield (_ring(draw, draw.integer(34, 40)),)
        yield (torch.ones(40, 40, dtype=torch.bool).tril(1),)  # one chain to the end, and very many others
        layer = torch.arange(24) // 4
        yield (layer[:, None] + 1 == layer,)  # 256 chains from the first layer to the last


NEVER = 2.0**60  # stands in for inf in comparisons, so that a wrong inf is not taken for a slip of arithmetic


def _comparable(result, mask):
    """Whatever the dtype, and without infinities."""
    return result.double().masked_fill(result == float("inf"), NEVER)


def _one_look_more(lengths, mask):
    """The least number of layers over everyone that i sees: 1 for a direct look, else one more than theirs."""
    through = torch.where(mask[:, :, None], 1 + lengths[None], NEVER).amin(1)  # (T, T, T) -> (T, T)
    return torch.where(mask, torch.ones_like(lengths), through)


PATH_LENGTH = Exercise(
    path_length,
    cases=_who_sees_whom,
    tolerance=1e-9,
    gradients=False,
    canonical=_comparable,
    properties=[
        Property(
            "1 where the mask is open",
            "Where mask[i, j] is True one layer is enough, and nowhere else: the table must hold 1 exactly there, on "
            "the diagonal too.",
            lambda result, mask: torch.equal(result == 1, mask),
        ),
        Property(
            "long chains too",
            "There is a chain of looks from i to j where your table says inf. However long a chain is, its end gets "
            "a number: the rounds must follow from len(mask), or go on until nothing new is found.",
            lambda result, mask: not ((result == NEVER) & path_length(mask).isfinite()).any(),
        ),
        Property(
            "never is infinity",
            "Where no chain of looks leads from i to j, the answer is inf, however many layers there are; where one "
            "does, it is a number.",
            lambda result, mask: torch.equal(result == NEVER, path_length(mask).isinf()),
        ),
        Property(
            "one layer less for somebody you see",
            "If word i needs n layers to hear of j, and n is more than 1, then some k that i sees needs n − 1, and "
            "none that i sees needs less.",
            lambda result, mask: torch.equal(result, _one_look_more(result, mask)),
        ),
    ],
)

wrong = PATH_LENGTH.mistakes
wrong("0 on the diagonal", {"return lengths": "return lengths.fill_diagonal_(0)"}).says("""
    You put 0 on the diagonal. Without a layer there is no output that could know anything: it is 1 where a word sees
    itself, else as long as the way round.""")
wrong("both directions", {"looks = mask.to": "mask = mask | mask.mT\n    looks = mask.to"}).says("""
    You let every look work both ways. That i sees j does not mean that j sees i: with a causal mask nothing ever
    comes from the future.""")
wrong("never is 0", {"return lengths": "return lengths.masked_fill(lengths.isinf(), 0)"}).says("""
    You left 0 where no chain leads from i to j. That reads as *no layer needed*; never is inf.""")
wrong("never is −1", {"return lengths": "return lengths.masked_fill(lengths.isinf(), -1)"}).says("""
    You put −1 where no chain leads from i to j. A maximum or a comparison would take it for a very short path; never
    is inf.""")
wrong("never is the length of the sentence", {"return lengths": "return lengths.clamp(max=len(mask))"}).says("""
    You put the length of the sentence where no chain leads from i to j. More layers don't help there: never is inf.""")
wrong("the last time, not the first", {"reached & lengths.isinf()": "reached"}).says("""
    You overwrote the number each time a word was reached again. Wanted is the *first* layer after which i knows of j:
    fill only what is still inf.""")
wrong("jumps twice as far each time", {"reached.float() @ looks": "reached.float() @ reached.float()"}).says("""
    You multiplied what is reached with itself, so its reach doubles from round to round. One layer adds *one* look:
    multiply with the mask.""")
wrong("looked once more before you wrote", {"reached = mask\n": "reached = (mask.float() @ looks) > 0\n"}).says("""
    You let `reached` make one look more before you wrote the number down, so that in round 1 it holds chains of two
    looks. Write first, then look on.""")
wrong("two layers and no more", {"len(mask) + 1": "3"}).says("""
    You looked at one and at two layers only. Chains can be longer: go on until nothing new is reached.""")
wrong("nothing written", {"lengths = lengths.masked_fill": "lengths.masked_fill"}).says("""
    Your table is inf everywhere. masked_fill changes nothing by itself, it *returns* a new table: lengths =
    lengths.masked_fill(…).""")
wrong(
    "the word in between tried last",
    """lengths = torch.where(mask, 1.0, float("inf"))
for i in range(len(mask)):
    for j in range(len(mask)):
        lengths[i, j] = torch.minimum(lengths[i, j], (lengths[i] + lengths[:, j]).min())
return lengths""",
).says("""
    You tried the words in between, k, in the innermost loop. Some chains then need numbers that are not there yet. In
    this method (Floyd's and Warshall's) k is the outermost loop.""")
wrong("True and False", {"return lengths": "return lengths.isfinite()"}).says("""
    You returned whether i hears of j at all. Wanted is after how many layers, and inf for never.""")
