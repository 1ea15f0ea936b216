"""Lab 7, third part: how many layers a word needs to hear of another."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property
from .masks import causal_mask, window_mask
from .paths_mistakes import NEXT_TO_THE_LOOP


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


DEEP = """
looks, size = mask.tolist(), len(mask)
lengths = [[float("inf")] * size for _ in looks]
def walk(start, place, layers):
    for seen in range(size):
        if looks[place][seen] and lengths[start][seen] == float("inf"):
            lengths[start][seen] = layers
            walk(start, seen, layers + 1)
for start in range(size):
    walk(start, start, 1)
return torch.tensor(lengths)
"""

SHARED = """
looks, size = mask.tolist(), len(mask)
lengths, found = torch.full(mask.shape, float("inf")), set()
for start in range(size):
    waiting = [(start, 0)]
    while waiting:
        place, layers = waiting.pop(0)
        for seen in range(size):
            if looks[place][seen] and seen not in found:
                lengths[start, seen] = layers + 1
                found.add(seen)
                waiting.append((seen, layers + 1))
return lengths
"""

MIDDLE_LAST = """
lengths = torch.where(mask, 1.0, float("inf")).tolist()
for i in range(len(mask)):
    for j in range(len(mask)):
        for k in range(len(mask)):
            lengths[i][j] = min(lengths[i][j], lengths[i][k] + lengths[k][j])
return torch.tensor(lengths)
"""


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
    You put 0 on the diagonal. We ask how many *layers* it takes until a word's output knows a word's input, and
    without a layer there is no output: 1 where a word sees itself, else as long as the way round.""")
wrong("every word sees itself", {"return lengths": "return lengths.fill_diagonal_(1)"}).says("""
    You took for granted that each word sees itself in one layer. The mask decides: where the diagonal is closed, a
    word hears of itself only through others, if at all.""")
wrong("looks turned round", {"return lengths": "return lengths.mT"}).says("""
    Your table is transposed. mask[i, j] means that i sees j, so row i says how many layers word i needs until it has
    heard of j.""")
wrong("both directions", {"looks = mask.to": "mask = mask | mask.mT\n    looks = mask.to"}).says("""
    You let every look work both ways. That i sees j does not mean that j sees i: with a causal mask nothing ever
    comes from the future.""")
wrong(
    "distance in the sentence",
    "places = torch.arange(len(mask), device=mask.device)\nreturn (places[:, None] - places).abs().float()",
).says("""
    You counted how many places lie between the words, |i − j|. How many *layers* it takes depends on who sees whom: a
    wide window jumps over several places at once.""")
wrong("never is 0", {"return lengths": "return lengths.masked_fill(lengths.isinf(), 0)"}).says("""
    You left 0 where no chain leads from i to j. That reads as *no layer needed*. Never is inf: it is longer than
    everything.""")
wrong("never is −1", {"return lengths": "return lengths.masked_fill(lengths.isinf(), -1)"}).says("""
    You put −1 where no chain leads from i to j. A maximum or a comparison would take it for a very short path. Never
    is inf.""")
wrong(
    "never is the length of the sentence", {"return lengths": "return lengths.masked_fill(lengths.isinf(), len(mask))"}
).says("""
    You put the length of the sentence where no chain leads from i to j. More layers do not help there: never is inf.""")
wrong("the last time, not the first", {"reached & lengths.isinf()": "reached"}).says("""
    You overwrote the number each time a word was reached again. Wanted is the *first* layer after which i knows of j:
    fill only what is still inf.""")
wrong("jumps twice as far each time", {"reached.float() @ looks": "reached.float() @ reached.float()"}).says("""
    You multiplied what is reached with itself. Then reach doubles from round to round: after three rounds you look at
    chains of four. One layer adds *one* look: multiply with the mask.""")
wrong("direct looks only", {"@ looks": "* looks"}).says("""
    Your table knows direct looks and nothing else. A chain goes from i to k and then from k to j, for any k. One look
    more is a matrix product, @, which sums over that k; entry by entry, *, finds nothing new.""")
wrong("one too few", {"return lengths": "return lengths - 1"}).says("""
    You counted the words in between (or the layers from 0). A direct look takes one layer, a look through one word in
    between takes two.""")
wrong("one too many", {"return lengths": "return lengths + 1"}).says("""
    You counted the words on the chain, both ends included. Layers are the *looks* between them, one less.""")
wrong("stopped a layer early", {"len(mask) + 1": "len(mask)"}).says("""
    You stopped one layer too soon. In a sentence of T words a chain can have T looks: a word that hears of itself
    through all the others. range(1, T + 1) ends with T.""")
wrong("two layers and no more", {"len(mask) + 1": "3"}).says("""
    You looked at one and at two layers only. Chains can be longer: go on until nothing new is reached.""")
wrong("deep before wide", DEEP).says("""
    You followed one chain to its end before you tried the next, and kept the first length that you met. The first
    chain found is then not the shortest. Go layer by layer: all that is one look away, then two.""")
wrong("one memory for all starts", SHARED).says("""
    You kept one memory of the words already found, for all starts together. What word 0 has heard of says nothing
    about word 1: each row begins anew.""")
wrong("the word in between tried last", MIDDLE_LAST).says("""
    You tried the words in between, k, in the innermost loop. Some chains then need numbers that are not there yet. In
    this method (Floyd's and Warshall's) k is the outermost loop.""")
wrong("one number for all", {"return lengths": "return lengths.max()"}).says("""
    You returned one number, the longest path. Wanted is the whole table (T, T); its maximum is easily taken later.""")
wrong(
    "a count of the ways",
    "looks = mask.float()\ntotal = ways = looks\nfor _ in range(len(mask) - 1):\n"
    "    ways = ways @ looks\n    total = total + ways\nreturn total",
).says("""
    You returned *how many* chains there are. Wanted is how long the shortest one is.""")
wrong("True and False", {"return lengths": "return lengths.isfinite()"}).says("""
    You returned whether i hears of j at all. Wanted is after how many layers, and inf for never.""")
wrong += NEXT_TO_THE_LOOP
