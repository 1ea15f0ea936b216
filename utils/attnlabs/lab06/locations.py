"""Lab 6, hard attention: a position per query, drawn from its weights."""

from functools import partial

import torch

from misread.exercise import About

from ..fakes.generator import Generator
from ..families.draws import free_of
from .chances import INSTEAD
from .draws import ManyLocations, coded


def sample_location(weights, generator):
    """Draw one position per query, each as often as its weight says: (B, Tq, Tk) -> (B, Tq), whole numbers."""
    rows = weights.detach().flatten(0, 1)  # (B, Tq, Tk) -> (B · Tq, Tk)
    drawn = rows.multinomial(1, generator=generator)  # (B · Tq, 1)
    return drawn.view(weights.shape[:2])  # (B, Tq)


# One chance is clearly the largest, in another position for each row, and one is small or 0.
CHANCES = {
    2: [[0.8, 0.2], [0.3, 0.7]],
    3: [[0.6, 0.3, 0.1], [0.0, 0.25, 0.75], [0.1, 0.7, 0.2], [0.55, 0.0, 0.45]],
    4: [[0.6, 0.2, 0.15, 0.05], [0.0, 0.1, 0.3, 0.6], [0.15, 0.65, 0.0, 0.2], [0.05, 0.25, 0.6, 0.1]],
}


def _weights(draw):
    sizes = [(2, 3, 4), (3, 2, 3), (2, 2, 2)]
    if draw.number == 0:
        sizes.append((1, 1, 3))  # one query of one caption
    for number, (batch, queries, positions) in enumerate(sizes):
        rows = torch.tensor(CHANCES[positions], dtype=torch.float64)
        which = torch.cat([draw.order(len(rows)) for _ in range(batch * queries)])[: batch * queries]
        generator = Generator(1000 * draw.variant + 20 * draw.number + number)
        weights = rows[which].view(batch, queries, positions)
        yield weights if number else weights[:, :1].repeat(1, queries, 1), generator  # once the queries are alike


_without = partial(free_of, coded)

SAMPLE_LOCATION = ManyLocations(
    sample_location,
    cases=_weights,
    returns=("call 1", "call 2", "call 3"),
    gradients=False,
    device=False,
    about=About(points=2, minutes=18, difficulty=2, read_again="Hard attention: a draw has no gradient"),
)

must = SAMPLE_LOCATION.properties
must("positions from 0 to Tk − 1", _without("a weight", "not whole", "from 1 on", "outside")).says("""
    A position is a whole number from 0 to Tk − 1. Is yours an average, a truth value, or the largest number itself
    (`amax`) instead of its position (`argmax`)?""")
must("each position comes", _without("never")).says("""
    A position comes as often as its weight says. In your draws, a position with a weight clearly above 0 never comes.
    Is your index one too far, cut off at an end, or a mean that is rounded?""")
must("as often as its weight says", _without(*INSTEAD, "too sharp", "too even", "closed", "uneven")).says("""
    In many draws, a position must come as often as its weight says: with the weight 0.6 in 60 % of them, and with the
    weight 0 never. In yours, some positions come clearly too often, and others too rarely. Were the weights changed
    before the draw, or noise of some kind added to them? Draw with the weights as they are.""")
must(
    "each query by itself",
    _without("one throw for all", "one throw per query", "one throw per caption", "never alike", "tied"),
).says("""
    Each query of each caption has a draw of its own: queries with the same weights often draw different positions, and
    what one of them draws says nothing about what another one draws.""")
must("another draw each time", _without("the largest", "always 0", "nothing drawn", "the same in each call")).says("""
    Each call must draw anew, with `generator`. Your calls give the same positions again and again, so nothing is drawn:
    the weights are probabilities, and even the most likely position must not always come.""")
must("all chance from the generator", _without("generator unused", "torch's own, too")).says("""
    The only source of chance is `generator`: two generators with the same seed give the same positions, and torch's own
    generator is left alone.""")

DRAW = "rows.multinomial(1, generator=generator)"
RESULT = "drawn.view(weights.shape[:2])"
UNIFORM = "torch.rand({}, generator=generator, dtype=weights.dtype)"
THROW = "weights.cumsum(-1) <= chance"


def _thrown(shape: str, result: str = f"({THROW}).sum(-1).clamp(max=weights.shape[-1] - 1)") -> str:
    """An answer that throws one number per `shape`, and looks where it falls."""
    return f"chance = {UNIFORM.format(shape)}\nreturn {result}"


wrong = SAMPLE_LOCATION.mistakes
wrong("the largest weight", "return weights.argmax(-1)").says("""
    You always take the position with the largest weight. This is what hard attention does when training is over; here
    the position is drawn, so that less likely positions are tried as well and their rewards become known.""")
wrong("an axis too many", {RESULT: "drawn.view(*weights.shape[:2], 1)"}).says("""
    Your positions have a third axis of size 1, which `multinomial(1)` leaves. Wanted is (B, Tq), one number per query:
    remove it by `[..., 0]` or `.squeeze(-1)`.""")
wrong("all queries in one row", {RESULT: "drawn[:, 0]"}).says("""
    You laid the queries of all captions in one row for the draw, and left them there. Give the result the shape (B, Tq)
    again, for example with `.view(weights.shape[:2])`.""")
wrong("all queries in one column", {RESULT: "drawn"}).says("""
    You laid the queries of all captions in one row for the draw, and returned what `multinomial` gives, (B · Tq, 1).
    Give the result the shape (B, Tq), for example with `.view(weights.shape[:2])`.""")
wrong("one-hot vectors", {RESULT: "nn.functional.one_hot(drawn.view(weights.shape[:2]), weights.shape[-1])"}).says("""
    You returned a one-hot vector per query. Wanted is the number of the position, (B, Tq).""")
wrong("the weight that was drawn", {RESULT: "weights.gather(-1, drawn.view(*weights.shape[:2], 1))[..., 0]"}).says("""
    You returned one of the weights, such as that of the position that was drawn. Wanted is the number of the position,
    from 0 to Tk − 1.""")
wrong("truth values", _thrown("(*weights.shape[:2], 1)", "weights.cumsum(-1) > chance")).says("""
    You returned True or False for each position. Wanted is the number of one position per query, (B, Tq): if you
    compare a random number with the cumulative sum, count the sums that are *not* above it.""")
wrong("nothing drawn, always position 0", "return torch.zeros(weights.shape[:2], dtype=torch.long)").says("""
    Every query gets position 0 in each call, so nothing is drawn. If you compare a random number with the cumulative
    sum, the position is that of the first sum *above* the number: `(sums > number).int().argmax(-1)`.""")
ALL_QUERIES = "return weights.flatten(1).multinomial(weights.shape[1], replacement=True, generator=generator)"
wrong("over all queries of a caption", ALL_QUERIES).says("""
    Some of your positions are Tk or more. This happens if the queries of a caption are flattened into one row before
    the draw; each query has Tk positions of its own, counted from 0.""")
wrong("counted from 1", {RESULT: f"{RESULT} + 1"}).says("""
    Your positions run from 1 to Tk. They are counted from 0, so that they can be used as an index. If you compare a
    random number with the cumulative sum, the position is the number of sums *below* it.""")
wrong("a seed inside", {DRAW: "rows.multinomial(1, generator=torch.Generator().manual_seed(0))"}).says("""
    Each of your calls gives the same positions, as they do when a seed is set inside the function. Draw with the
    generator that is given, and set no seed.""")
wrong("the generator isn't used", {DRAW: "rows.multinomial(1)"}).says("""
    Your positions don't come from `generator`: two generators with the same seed gave different positions, so no
    training could be repeated. Pass it on: `multinomial(1, generator=generator)`.""")
wrong("one throw for all", _thrown("()")).says("""
    You threw a single random number for all captions and queries. Queries with the same weights then always draw the
    same position, so that the rewards say little. Throw one number per query, of shape (B, Tq, 1).""")
wrong("one throw per query number", _thrown("weights.shape[1:2] + (1,)")).says("""
    All captions of your batch share their random numbers, so that captions with the same weights always draw the same
    positions. Throw one number per caption *and* query, of shape (B, Tq, 1).""")
wrong("one throw per caption", _thrown("(len(weights), 1, 1)")).says("""
    The queries of a caption share one random number, so that queries with the same weights always draw the same
    position. Throw one number per caption *and* query, of shape (B, Tq, 1).""")
wrong(
    "evenly", {DRAW: f"torch.randint(weights.shape[-1], ({DRAW.split('.')[0]}.shape[0], 1), generator=generator)"}
).says("""
    All positions come equally often, whatever their weights are. Draw each with the probability that its weight
    says.""")
wrong("evenly among the open ones", {DRAW: "(rows > 0).double().multinomial(1, generator=generator)"}).says("""
    All positions whose weight is not 0 come equally often. Draw each with the probability that its weight says.""")
wrong("softmax of the weights", {DRAW: "rows.softmax(-1).multinomial(1, generator=generator)"}).says("""
    Your draws follow the softmax of the weights, which is much more even than the weights (a sum `weights + Gumbel
    noise` without a logarithm does the same, and normal noise nearly so). The weights already are probabilities; use
    them as they are.""")
wrong("squared weights", {DRAW: "(rows**2).multinomial(1, generator=generator)"}).says("""
    Your draws follow the squares of the weights, so that likely positions come too often. Draw with the weights
    themselves, once.""")
wrong("largest of weight times noise", f"return (weights * {UNIFORM.format('weights.shape')}).argmax(-1)").says("""
    You multiplied the weights by uniform noise (or added the logarithms of both) and took the largest. Likely positions
    then come too often: 0.75 against 0.25 gives not 75 %, but 83 %. Use multinomial, or compare one random number with
    the cumulative sum.""")
wrong("largest of weight plus noise", f"return (weights + {UNIFORM.format('weights.shape')}).argmax(-1)").says("""
    You added uniform noise to the weights and took the largest sum. Positions then don't come as often as their weights
    say: 0.75 against 0.25 gives not 75 %, but 87.5 %. Use multinomial, or compare one random number with the cumulative
    sum.""")
wrong(
    "a throw per position, against its weight", f"return ({UNIFORM.format('weights.shape')} < weights).int().argmax(-1)"
).says("""
    You threw a random number for each *position*, compared it with this position's weight, and took the first success.
    The first positions then come too often. One number per query decides: it is compared with the cumulative sum.""")
GUMBEL = f"return (weights.log() + (-{UNIFORM.format('weights.shape')}.log()).log()).argmax(-1)"
wrong("Gumbel noise with the wrong sign", GUMBEL).says("""
    You added log(−log(u)) to the logarithms of the weights. Gumbel noise is *minus* this, −log(−log(u)), and only then
    does each position come as often as its weight says.""")
wrong("one minus the weights", {DRAW: "(1 - rows).multinomial(1, generator=generator)"}).says("""
    You drew with 1 minus the weights, so that likely positions come rarely. The weights already are the probabilities
    of their positions; use them as they are.""")
wrong("queries before captions", {RESULT: f"{RESULT}.T"}).says("""
    You transposed the result, so that the queries are its first axis. The batch comes first: (B, Tq).""")
MEAN_ROW = "weights.mean(1).multinomial(weights.shape[1], replacement=True, generator=generator)"
wrong("mean of the queries' weights", f"return {MEAN_ROW}").says("""
    You averaged the weights over the queries of a caption, and drew for all of them with this mean. Each query has
    weights of its own.""")
SPREAD = (
    "(torch.rand(len(weights), 1, 1, generator=generator) + torch.arange(weights.shape[1])[:, None] / weights.shape[1])"
)
wrong(
    "random numbers that keep a distance",
    f"chance = {SPREAD} % 1\nreturn ({THROW}).sum(-1).clamp(max=weights.shape[-1] - 1)",
).says("""
    Each position comes as often as it should, but the draws depend on each other: if one is known, another one can be
    guessed (as with one random number for a caption, which is moved on for each query). Throw a number of its own for
    each query, of shape (B, Tq, 1).""")
MIRRORED = _thrown("(*weights.shape[:2], 1)", "((weights.cumsum(-1) > chance).sum(-1) - 1).clamp(min=0)")
wrong("counted from the end", MIRRORED).says("""
    Your positions are mirrored: the first comes as often as the weight of the last says. If you compare a random number
    with the cumulative sum, count how many sums lie *below* it.""")
NEXT = _thrown("(*weights.shape[:2], 1)", f"(({THROW}).sum(-1) + 1) % weights.shape[-1]")
wrong("one position too far", NEXT).says("""
    Each position comes as often as the weight of the position before it says, so you are one too far. The number of
    cumulative sums below the random number is the position itself.""")
wrong("only the first query's weights", {DRAW: f"weights[:, :1].expand_as(weights).flatten(0, 1){DRAW[4:]}"}).says("""
    You drew for all queries of a caption with the weights of its first query. Each query has weights of its own.""")
wrong("only the first caption's weights", {DRAW: f"weights[:1].expand_as(weights).flatten(0, 1){DRAW[4:]}"}).says("""
    You drew for all captions with the weights of the first one. Each caption has weights of its own.""")
wrong("torch's own generator is touched", {DRAW: f"{DRAW}\n    torch.rand(1)"}).says("""
    Your positions come from `generator`, but your function also uses torch's own generator, by `torch.manual_seed` or a
    draw without `generator=`. Other parts of a training depend on that one: use `generator` only.""")
wrong("decimal type", {RESULT: f"{RESULT}.to(weights.dtype)"}).says("""
    Your positions are decimal numbers (float). A position is used as an index, so it is a whole number: keep the type
    that the draw has, int64.""")
CROSSED = "weights.transpose(0, 1).flatten(0, 1).multinomial(1, generator=generator).view(weights.shape[:2])"
wrong("captions and queries exchanged before the draw", f"return {CROSSED}").says("""
    Your queries draw with each other's weights: captions and queries were exchanged before the draw, and not exchanged
    back. The row that belongs to caption b and query t must come back to the entry [b, t].""")
wrong("captions and queries exchanged after the draw", {RESULT: "drawn.view(weights.shape[1], -1).T"}).says("""
    Your queries get each other's positions, because the result was brought to (Tq, B) and then transposed. The rows of
    the draw are ordered by captions, so give them the shape (B, Tq) at once.""")
wrong("one throw per position", _thrown("weights.shape")).says("""
    You threw a random number for each *position* and compared each cumulative sum with another one. One number per
    query decides, so that it falls into exactly one piece: its shape is (B, Tq, 1).""")
EACH = f"return ({UNIFORM.format('weights.shape')} < weights.cumsum(-1)).int().argmax(-1)"
wrong("one throw per position, and the first success", EACH).says("""
    You threw a random number for each *position*, compared it with the cumulative sum there, and took the first
    success. The first positions then come too often. One number per query decides, and it is compared with all its
    sums: its shape is (B, Tq, 1).""")
ABOVE = _thrown("(*weights.shape[:2], 1)", "(chance < weights).int().argmax(-1)")
wrong("weights instead of their cumulative sum", ABOVE).says("""
    You compared the random number with the weights themselves. Compare it with their cumulative sum (`cumsum`), which
    says where the piece of each position ends.""")
BELOW = _thrown("(*weights.shape[:2], 1)", "(weights < chance).sum(-1).clamp(max=weights.shape[-1] - 1)")
wrong("weights below the random number counted", BELOW).says("""
    You counted the weights that are smaller than the random number. Count how many entries of their cumulative sum
    (`cumsum`) it has passed: there the piece of each position ends.""")
wrong("too sharp", {DRAW: "(rows**1.5).multinomial(1, generator=generator)"}).says("""
    The largest weight of each row comes too often, so your draws are sharper than the weights. A power of the weights
    does this, and so does noise that is too weak: Gumbel noise is −log(−log(u)), and it is added to log(weights).""")
wrong("too even", {DRAW: "(rows**0.5).multinomial(1, generator=generator)"}).says("""
    The largest weight of each row comes too rarely, so your draws are more even than the weights. Draw with the weights
    as they are: noise that is too strong, or another softmax, makes them more even.""")
wrong("sorted weights", {DRAW: "rows.sort(-1, descending=True).values.multinomial(1, generator=generator)"}).says("""
    You drew from sorted weights, so your numbers are ranks: 0 stands for the largest weight, wherever it is. Draw from
    the weights in their own order, or translate the rank back with the indices that `sort` returns.""")
